package recipe

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/target"
)

// SelectOptions narrow the selection.
type SelectOptions struct {
	// Rungs are IDs to use whatever the envelopes say: at most one for an axis,
	// and any number of optional ones, which join what is chosen.
	Rungs []string
}

// Select chooses, axis by axis, the lowest rung whose envelope covers the high
// band of the demand on the layout that it gives, together with what the axes
// before it chose, and unifies the moves. The findings are what the choice
// should be read with: a requirement that stands in the way, a pinned rung that
// does not reach, rungs that contradict each other. Errors: a rung that is not
// there, or two for one axis.
func (l *Ladder) Select(p *profile.Profile, t target.Target, o SelectOptions) (*Recipe, []finding.Finding, error) {
	s := &selection{ladder: l, profile: p, target: t}
	if err := s.pin(o.Rungs); err != nil {
		return nil, nil, err
	}
	r := &Recipe{}
	for _, axis := range estimate.Axes {
		choice, err := s.choose(axis)
		if err != nil {
			return nil, nil, err
		}
		r.Choices = append(r.Choices, choice)
	}
	u := l.unify(s.ids())
	s.findings = append(s.findings, u.findings...)
	r.Settings = u.settings
	r.Layout = LayoutOf(&r.Settings, p, t.Kubernetes)
	if err := s.finish(r); err != nil {
		return nil, nil, err
	}
	finding.Sort(s.findings)
	return r, slices.CompactFunc(s.findings, func(a, b finding.Finding) bool { return a == b }), nil
}

// selection is one call of Select.
type selection struct {
	ladder  *Ladder
	profile *profile.Profile
	target  target.Target

	pinned map[estimate.Axis]*entry
	with   []*entry
	// chosen are the rungs whose moves count so far.
	chosen    []*entry
	estimates []*estimate.Estimate
	findings  []finding.Finding
}

// pin sorts the rungs that were asked for into pinned and optional ones.
func (s *selection) pin(ids []string) error {
	s.pinned = map[estimate.Axis]*entry{}
	for _, id := range s.ladder.in(ids) {
		e := s.ladder.byID[id]
		if e.rung.Optional {
			s.with = append(s.with, e)
			continue
		}
		if other := s.pinned[e.rung.Axis]; other != nil {
			return fmt.Errorf("%s and %s are both of the %s axis: pin one of them", other.rung.ID, id, e.rung.Axis)
		}
		s.pinned[e.rung.Axis] = e
	}
	for _, id := range ids {
		if s.ladder.byID[id] == nil {
			var known []string
			for _, e := range s.ladder.entries {
				known = append(known, e.rung.ID)
			}
			return fmt.Errorf("no rung %q: want one of %s", id, strings.Join(known, ", "))
		}
	}
	return nil
}

// ids are the rungs whose moves count, with extra, in the order of the ladder.
func (s *selection) ids(extra ...*entry) []string {
	var ids []string
	for _, e := range slices.Concat(s.chosen, s.with, extra) {
		ids = append(ids, e.rung.ID)
	}
	return s.ladder.in(ids)
}

// verdict is what selection found out about one rung.
type verdict struct {
	unmet  []string
	beyond []string
	// conflict holds the findings when the rung contradicts those chosen.
	conflict []finding.Finding
}

func (v verdict) holds() bool { return len(v.unmet)+len(v.beyond)+len(v.conflict) == 0 }

func (v verdict) reasons() []string {
	reasons := slices.Concat(v.unmet, v.beyond)
	for _, f := range v.conflict {
		reasons = append(reasons, f.Message)
	}
	return reasons
}

// judge tries a rung on top of what is chosen.
func (s *selection) judge(e *entry) (verdict, error) {
	v := verdict{unmet: e.rung.Requires.Unmet(s.target)}
	u := s.ladder.unify(s.ids(e))
	if len(u.findings) > 0 {
		v.conflict = u.findings
		return v, nil
	}
	est := s.estimate(LayoutOf(&u.settings, s.profile, s.target.Kubernetes))
	var err error
	v.beyond, err = exceeded(e.rung, est, e.rung.Axis)
	return v, err
}

// estimate estimates the profile on a layout. The rungs of an axis that change
// nothing, and the recipe at the end, have the layout of what is chosen, so few
// of the layouts are different.
func (s *selection) estimate(l estimate.Layout) *estimate.Estimate {
	for _, e := range s.estimates {
		if reflect.DeepEqual(e.Layout, l) {
			return e
		}
	}
	e := estimate.Compute(s.profile, l)
	s.estimates = append(s.estimates, e)
	return e
}

// choose selects the rung of one axis.
func (s *selection) choose(axis estimate.Axis) (Choice, error) {
	c := Choice{Axis: axis, Rejected: []Rejection{}}
	var chosen, highest, open *entry
	var contrary bool
	blocked := map[string][]string{}
	var conflicts []finding.Finding
	for _, e := range s.ladder.of(axis) {
		if e.rung.Status == Open {
			open = e
			continue
		}
		v, err := s.judge(e)
		if err != nil {
			return c, err
		}
		if len(v.unmet)+len(v.conflict) == 0 {
			highest = e
		}
		if pin := s.pinned[axis]; pin == e || pin == nil && v.holds() {
			chosen, contrary = e, len(v.conflict) > 0
			s.remark(e, v)
			break
		}
		if len(v.beyond) == 0 && len(v.unmet) > 0 {
			blocked[e.rung.ID] = v.unmet
		}
		conflicts = append(conflicts, v.conflict...)
		c.Rejected = append(c.Rejected, Rejection{ID: e.rung.ID, Reasons: nonEmpty(v.reasons())})
	}
	switch {
	case chosen != nil && !contrary:
		s.chosen = append(s.chosen, chosen)
	case chosen == nil && open == nil:
		return c, fmt.Errorf("the %s axis has no open rung, and no other covers the demand", axis)
	case chosen == nil:
		// The settings then are those of the highest rung that can be built, so
		// that there is something to render for whoever asks.
		c.PastLadder, chosen = true, open
		if highest != nil {
			s.chosen = append(s.chosen, highest)
		}
	}
	if s.pinned[axis] == nil {
		s.blockedBy(blocked, c.PastLadder)
		s.passedOver(conflicts, c.PastLadder)
	}
	c.Rung, _ = s.ladder.Rung(chosen.rung.ID)
	return c, nil
}

// nonEmpty keeps a rejection from having no reason: a pinned rung above it.
func nonEmpty(reasons []string) []string {
	if len(reasons) == 0 {
		return []string{"another rung was asked for"}
	}
	return reasons
}

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
			Message: e.rung.ID + " was asked for, but the demand is beyond it: " + strings.Join(v.beyond, "; "),
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

// passedOver tells of rungs that contradict the ones already chosen. Where
// another one was found that is a warning.
func (s *selection) passedOver(conflicts []finding.Finding, past bool) {
	for _, f := range conflicts {
		if !past {
			f.Severity = finding.Warning
		}
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
	est := s.estimate(r.Layout)
	for i := range r.Choices {
		c := &r.Choices[i]
		if c.PastLadder {
			continue
		}
		for _, axis := range estimate.Axes {
			beyond, err := exceeded(c.Rung, est, axis)
			if err != nil {
				return err
			}
			c.Beyond = append(c.Beyond, beyond...)
		}
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
