package report

import (
	"math"
	"slices"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/profile"
)

// grown is a profile with one axis' demand multiplied. The axes stay apart:
// more nodes bring their own pods and leases, and nothing else; more churn is
// higher rates of the same objects; more state is more objects of every kind,
// those that churn keeps alive among them.
func grown(p *profile.Profile, axis estimate.Axis, k float64) *profile.Profile {
	q := *p
	q.Churn.Resources = slices.Clone(p.Churn.Resources)
	q.State.Resources = slices.Clone(p.State.Resources)
	switch axis {
	case estimate.Node:
		q.Nodes.Count, q.Nodes.TargetCount = whole(p.Nodes.Count, k), whole(p.Nodes.TargetCount, k)
	case estimate.Churn:
		q.Nodes.PodChurnPerSecond *= k
		q.Churn.Events.PerSecond *= k
		q.Churn.LeaderElections = whole(p.Churn.LeaderElections, k)
		for i := range q.Churn.Resources {
			r := &q.Churn.Resources[i]
			r.CreatesPerSecond *= k
			r.UpdatesPerSecond *= k
			r.DeletesPerSecond *= k
			if r.Sessions != nil {
				s := *r.Sessions
				s.PerMinute *= k
				r.Sessions = &s
			}
		}
	case estimate.State:
		q.State.CRDs, q.State.RBACObjects = whole(p.State.CRDs, k), whole(p.State.RBACObjects, k)
		for i := range q.State.Resources {
			q.State.Resources[i].Count = whole(p.State.Resources[i].Count, k)
		}
		for i := range q.Churn.Resources {
			q.Churn.Resources[i].Live = whole(p.Churn.Resources[i].Live, k)
		}
	}
	return &q
}

func whole(n int, k float64) int { return int(math.Ceil(float64(n)*k - 1e-9)) }

// The factors that are looked at, as powers of two: a wall beyond them is far
// enough not to matter, or so long past that the cluster does not run.
const (
	lowestPower, highestPower = -6, 10
	// firstPower is where curves begin, a quarter of today's demand.
	firstPower = -2
	// samplesPerPower is how finely curves are drawn.
	samplesPerPower = 4
)

// sample is one axis' pressure at a multiple of today's demand.
type sample struct {
	factor   float64
	pressure estimate.Pressure
	estimate *estimate.Estimate
}

// track is how one layout fares as an axis grows.
type track struct {
	profile *profile.Profile
	layout  estimate.Layout
	axis    estimate.Axis
	seen    map[float64]sample
}

func newTrack(p *profile.Profile, l estimate.Layout, axis estimate.Axis) *track {
	return &track{profile: p, layout: l, axis: axis, seen: map[float64]sample{}}
}

// at estimates the layout at a multiple of the demand.
func (t *track) at(factor float64) sample {
	if s, ok := t.seen[factor]; ok {
		return s
	}
	e := estimate.Compute(grown(t.profile, t.axis, factor), t.layout)
	s := sample{factor: factor, estimate: e}
	for _, p := range e.Pressures {
		if p.Axis == t.axis {
			s.pressure = p
		}
	}
	t.seen[factor] = s
	return s
}

// crossing is the multiple at which a number that grows with the axis passes a
// limit; 0 when it is past it at the least that is looked at, and +Inf when it
// is not at the most.
func (t *track) crossing(past func(sample) bool) float64 {
	if past(t.at(math.Exp2(lowestPower))) {
		return 0
	}
	if !past(t.at(math.Exp2(highestPower))) {
		return math.Inf(1)
	}
	low, high := float64(lowestPower), float64(highestPower)
	for range 14 { // to a thousandth of a power
		if middle := (low + high) / 2; past(t.at(math.Exp2(middle))) {
			high = middle
		} else {
			low = middle
		}
	}
	return math.Exp2(high)
}

// wall is where a layout's pressure on the axis reaches 1: by the estimate, and
// by both ends of its band.
type wall struct {
	at, earliest, latest float64
	// limit is the ceiling that is met there.
	limit string
}

func (t *track) wall() wall {
	w := wall{
		at:       t.crossing(func(s sample) bool { return s.pressure.Value >= 1 }),
		earliest: t.crossing(func(s sample) bool { return s.pressure.High >= 1 }),
		latest:   t.crossing(func(s sample) bool { return s.pressure.Low >= 1 }),
	}
	if w.at > 0 && !math.IsInf(w.at, 1) {
		w.limit = t.at(w.at).pressure.Limit
	} else {
		w.limit = t.at(1).pressure.Limit
	}
	return w
}

// evidenceEnds is the multiple at which the demand leaves a rung's envelope on
// its own axis.
func (t *track) evidenceEnds(envelope map[string]float64) float64 {
	return t.crossing(func(s sample) bool {
		for name, limit := range envelope {
			if m, ok := s.estimate.Measures[t.axis][name]; ok && m.High > limit {
				return true
			}
		}
		return false
	})
}

// curve is the samples from a quarter of today's demand to 2^last of it.
func (t *track) curve(last int) []sample {
	var all []sample
	for i := firstPower * samplesPerPower; i <= last*samplesPerPower; i++ {
		all = append(all, t.at(math.Exp2(float64(i)/samplesPerPower)))
	}
	return all
}
