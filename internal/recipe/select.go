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
// before it chose, and unifies the moves. Where nothing is near a ceiling it is
// the lowest rung there is. The findings are what the choice should be read
// with: a requirement that stands in the way, a pinned rung that does not
// reach, an axis that stays over its wall. One of the code recipe-conflict and
// of severity error says that the rungs wanted contradict each other: then the
// recipe is none to use. Errors: a rung that is not
// there, or two for one axis.
func (l *Ladder) Select(p *profile.Profile, t target.Target, o SelectOptions) (*Recipe, []finding.Finding, error) {
	s := &selection{ladder: l, profile: p, target: t}
	r := &Recipe{Present: s.estimate(estimate.Stock(p))}
	s.calm = r.Present.Class == "comfortable"
	if err := s.pin(o.Rungs); err != nil {
		return nil, nil, err
	}
	for _, axis := range estimate.Axes {
		choice, err := s.choose(axis)
		if err != nil {
			return nil, nil, err
		}
		r.Choices = append(r.Choices, choice)
	}
	u, err := l.unify(s.ids())
	if err != nil {
		return nil, nil, err
	}
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
	// calm is true when no axis of the present layout is near a ceiling.
	calm bool
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
	beyond []excess
	// conflict holds the findings when the rung contradicts those chosen.
	conflict []finding.Finding
}

func (v verdict) holds() bool { return len(v.unmet)+len(v.beyond)+len(v.conflict) == 0 }

func (v verdict) reasons() []string {
	reasons := slices.Concat(v.unmet, texts(v.beyond))
	for _, f := range v.conflict {
		reasons = append(reasons, f.Message)
	}
	return reasons
}

// judge tries a rung on top of what is chosen.
func (s *selection) judge(e *entry) (verdict, error) {
	v := verdict{unmet: e.rung.Requires.Unmet(s.target)}
	u, err := s.ladder.unify(s.ids(e))
	if err != nil {
		return v, err
	}
	if len(u.findings) > 0 {
		v.conflict = u.findings
		return v, nil
	}
	est := s.estimate(LayoutOf(&u.settings, s.profile, s.target.Kubernetes))
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
