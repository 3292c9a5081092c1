package recipe

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
)

// tried is what trying the rungs of one axis came to.
type tried struct {
	// chosen holds, or is pinned; lowest and highest can be had; wanted would
	// hold but for a contradiction, and its conflicts then are the first.
	chosen, lowest, highest, open, wanted *entry

	contrary  bool
	blocked   map[string][]string
	conflicts []finding.Finding
	rejected  []Rejection
}

// try goes up the rungs of an axis to the first that holds, or to the pinned one.
func (s *selection) try(axis estimate.Axis) (t tried, err error) {
	t.blocked, t.rejected = map[string][]string{}, []Rejection{}
	for _, e := range s.ladder.of(axis) {
		if e.rung.Status == Open {
			t.open = e
			continue
		}
		v, err := s.judge(e)
		if err != nil {
			return t, err
		}
		if len(v.unmet)+len(v.conflict) == 0 {
			t.lowest, t.highest = cmp.Or(t.lowest, e), e
		}
		if pin := s.pinned[axis]; pin == e || pin == nil && v.holds() {
			t.chosen, t.contrary = e, len(v.conflict) > 0
			s.remark(e, v)
			return t, nil
		}
		if len(v.beyond) == 0 && len(v.unmet) > 0 {
			t.blocked[e.rung.ID] = v.unmet
		}
		if err := s.contradicts(&t, e, v); err != nil {
			return t, err
		}
		t.rejected = append(t.rejected, Rejection{ID: e.rung.ID, Reasons: nonEmpty(v.reasons())})
	}
	return t, nil
}

// choose selects the rung of one axis.
func (s *selection) choose(axis estimate.Axis) (Choice, error) {
	c := Choice{Axis: axis}
	t, err := s.try(axis)
	if err != nil {
		return c, err
	}
	c.Rejected = t.rejected
	quiet, err := s.quiet(axis, t.lowest)
	if err != nil {
		return c, err
	}
	chosen := t.chosen
	switch {
	case quiet:
		s.chosen = append(s.chosen, t.lowest)
		c.Quiet, c.Rejected, chosen = true, []Rejection{}, t.lowest
		if t.chosen != nil && t.chosen != t.lowest {
			c.Covering = t.chosen.rung.ID
		}
	case chosen != nil && !t.contrary:
		s.chosen = append(s.chosen, chosen)
		s.passedOver(t.conflicts, finding.Warning)
	case chosen != nil:
		// A pinned rung that contradicts another one: remark has said so.
	case t.wanted != nil:
		chosen = t.wanted
		s.passedOver(t.conflicts[:1], finding.Error)
	case t.open == nil:
		return c, fmt.Errorf("the %s axis has no open rung, and no other covers the demand", axis)
	default:
		// The settings then are those of the highest rung that can be built, so
		// that there is something to render for whoever asks.
		c.PastLadder, chosen = true, t.open
		if t.highest != nil {
			s.chosen = append(s.chosen, t.highest)
		}
		s.passedOver(t.conflicts, finding.Warning)
	}
	if s.pinned[axis] == nil && !quiet {
		s.blockedBy(t.blocked, c.PastLadder)
	}
	c.Rung, _ = s.ladder.Rung(chosen.rung.ID)
	return c, nil
}

// quiet reports whether an axis needs nothing, whatever the envelopes say: no
// axis is near a ceiling, or this one is not on the layout that the others have
// come to. Of the node axis the second is not enough: its rungs are sizes that
// somebody ran, and once something has to be done it is done by them.
func (s *selection) quiet(axis estimate.Axis, lowest *entry) (bool, error) {
	if s.pinned[axis] != nil || lowest == nil {
		return false, nil
	}
	if s.calm || axis == estimate.Node {
		return s.calm, nil
	}
	u, err := s.ladder.unify(s.ids(lowest))
	if err != nil || len(u.findings) > 0 {
		return false, err
	}
	for _, p := range s.estimate(LayoutOf(&u.settings, s.profile, s.target.Kubernetes)).Pressures {
		if p.Axis == axis {
			return p.High < estimate.Comfortable, nil
		}
	}
	return false, nil
}

// contradicts notes a rung that cannot join those chosen, the first that by
// itself would carry the load before all others.
func (s *selection) contradicts(t *tried, e *entry, v verdict) error {
	if len(v.conflict) == 0 {
		return nil
	}
	if t.wanted == nil && len(v.unmet) == 0 {
		u, err := s.ladder.unify([]string{e.rung.ID})
		if err != nil {
			return err
		}
		beyond, err := exceeded(e.rung, s.estimate(LayoutOf(&u.settings, s.profile, s.target.Kubernetes)), e.rung.Axis)
		if err != nil {
			return err
		}
		if len(u.findings)+len(beyond) == 0 {
			t.wanted = e
			t.conflicts = slices.Concat(v.conflict, t.conflicts)
			return nil
		}
	}
	t.conflicts = append(t.conflicts, v.conflict...)
	return nil
}

// nonEmpty keeps a rejection from having no reason: a pinned rung above it.
func nonEmpty(reasons []string) []string {
	if len(reasons) == 0 {
		return []string{"another rung was asked for"}
	}
	return reasons
}
