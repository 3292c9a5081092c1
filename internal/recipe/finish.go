package recipe

import (
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

// remark says what is wrong with a rung that was pinned.
func (s *selection) remark(e *entry, v verdict) {
	s.findings = append(s.findings, v.conflict...)
	if len(v.unmet) > 0 {
		s.findings = append(s.findings, requirementFinding(e.rung.ID, v.unmet, finding.Error,
			e.rung.ID+" was asked for, but "))
	}
	if len(v.beyond) > 0 {
		s.findings = append(s.findings, finding.Finding{
			Code: "rung-pinned-beyond", Severity: finding.Warning, Path: string(e.rung.Axis),
			Message: e.rung.ID + " was asked for, but the demand is beyond it: " + strings.Join(texts(v.beyond), "; "),
			Fix:     "leave the axis unpinned and see which rung covers it",
		})
	}
}

// blockedBy says which rung, the lowest, would carry the load but for a version
// or a platform: that is no wall, and it can be changed.
func (s *selection) blockedBy(blocked map[string][]string, past bool) {
	severity := finding.Warning
	if past {
		severity = finding.Error
	}
	for _, e := range s.ladder.entries {
		if unmet := blocked[e.rung.ID]; unmet != nil {
			s.findings = append(s.findings, requirementFinding(e.rung.ID, unmet, severity,
				e.rung.ID+" would carry this load, but "))
			return
		}
	}
}

// passedOver tells of rungs that contradict the ones already chosen.
func (s *selection) passedOver(conflicts []finding.Finding, severity finding.Severity) {
	for _, f := range conflicts {
		f.Severity = severity
		s.findings = append(s.findings, f)
	}
}

func requirementFinding(id string, unmet []string, severity finding.Severity, lead string) finding.Finding {
	return finding.Finding{
		Code: "rung-requirement", Severity: severity, Path: id,
		Message: lead + "it " + strings.Join(unmet, "; it "),
		Fix:     "change the version or the platform in the profile, or pin another rung",
	}
}

// finish completes a recipe once all axes are chosen.
func (s *selection) finish(r *Recipe) error {
	for _, e := range s.with {
		rung, _ := s.ladder.Rung(e.rung.ID)
		r.With = append(r.With, rung)
		if unmet := rung.Requires.Unmet(s.target); len(unmet) > 0 {
			s.findings = append(s.findings, requirementFinding(rung.ID, unmet, finding.Error, rung.ID+" was asked for, but "))
		}
	}
	r.Estimate = s.estimate(r.Layout)
	for i := range r.Choices {
		c := &r.Choices[i]
		if c.PastLadder {
			continue
		}
		for j, axis := range estimate.Axes {
			beyond, err := exceeded(c.Rung, r.Estimate, axis)
			if err != nil {
				return err
			}
			for _, x := range beyond {
				if axis == c.Axis || !vouches(r.Choices[j], x.measure, r.Estimate) {
					c.Beyond = append(c.Beyond, x.text)
				}
			}
		}
	}
	if !s.conflicting() {
		s.findings = append(s.findings, walls(r, r.Estimate)...)
	}
	for _, c := range r.Choices {
		if v := c.Rung.Requires.EtcdMin; v != "" && s.target.Platform == target.Kops {
			s.findings = append(s.findings, finding.Finding{
				Code: "rung-etcd-version", Severity: finding.Info, Path: c.Rung.ID,
				Message: c.Rung.ID + " needs etcd " + v + " or later, which a profile does not tell",
				Fix:     "look at etcd's version before rolling out",
			})
		}
	}
	var err error
	r.Digest, err = digest(s.ids(), &r.Settings)
	return err
}

// conflicting reports whether the rungs that were wanted contradict each other.
func (s *selection) conflicting() bool {
	return slices.ContainsFunc(s.findings, func(f finding.Finding) bool {
		return f.Code == "recipe-conflict" && f.Severity == finding.Error
	})
}

// vouches reports whether the rung chosen for an axis limits one of the axis'
// measures itself and carries it.
func vouches(c Choice, measure string, e *estimate.Estimate) bool {
	limit, limits := c.Rung.Envelope[c.Axis][measure]
	return limits && e.Measures[c.Axis][measure].High <= limit
}
