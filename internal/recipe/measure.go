package recipe

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/quantity"
)

// form is how a measure's numbers are written.
type form int

const (
	rate form = iota
	amount
	ratio
	bytesOf
	bytesRate
)

// measures say how a measure is called and written in a reason.
var measures = map[string]struct {
	label string
	form  form
}{
	"nodes":                         {"nodes", amount},
	"livenessWritesPerSecond":       {"liveness", rate},
	"eventWritesPerSecond":          {"Events", rate},
	"eventDatabaseRatio":            {"Events over etcd's quota", ratio},
	"leaderElectionWritesPerSecond": {"leader election", rate},
	"builtinWritesPerSecond":        {"writes of built-in resources", rate},
	"customWritesPerSecond":         {"writes of custom resources", rate},
	"customServerWritesPerSecond":   {"custom writes on one server", rate},
	"customBytesPerSecond":          {"custom bytes into the main etcd", bytesRate},
	"seatsRatio":                    {"seats needed over seats there are", ratio},
	"memoryRatio":                   {"largest apiserver over its host's memory", ratio},
	"tierMemoryRatio":               {"largest aggregated server over a host's memory", ratio},
	"databaseRatio":                 {"main etcd over its quota", ratio},
	"typeBytes":                     {"bytes of the largest resource", bytesOf},
	"typeObjects":                   {"objects of the most numerous resource", amount},
}

// byAxis are the labels that say of whom a measure of that name counts.
var byAxis = map[estimate.Axis]map[string]string{
	estimate.Node: {"databaseRatio": "what nodes write and keep over etcd's quota"},
	estimate.Churn: {"databaseRatio": "revisions in the main etcd over its quota",
		"tierMemoryRatio": "watch history of the largest aggregated server over a host's memory"},
	estimate.State: {"databaseRatio": "what is kept in the main etcd over its quota"},
}

// excess is one limit that the demand's high end is beyond.
type excess struct{ measure, text string }

// exceeded says which limits of an axis the demand's high band is beyond, in
// figures, the one that is compared first: "liveness up to 2,625/s (estimate
// 2,583/s) > 600/s".
func exceeded(r Rung, e *estimate.Estimate, axis estimate.Axis) ([]excess, error) {
	var beyond []excess
	limits := r.Envelope[axis]
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		figure, ok := e.Measures[axis][name]
		if !ok {
			return nil, fmt.Errorf("%s limits %s %s, which the estimate does not measure", r.ID, axis, name)
		}
		if figure.High <= limits[name] {
			continue
		}
		m := measures[name]
		if label := byAxis[axis][name]; label != "" {
			m.label = label
		}
		text := m.label + " "
		high, value := m.form.estimate(figure.High), m.form.estimate(figure.Value)
		if high == value {
			text += value
		} else {
			text += "up to " + high + " (estimate " + value + ")"
		}
		beyond = append(beyond, excess{name, text + " > " + m.form.limit(limits[name])})
	}
	return beyond, nil
}

// texts are the excesses in words.
func texts(es []excess) (out []string) {
	for _, e := range es {
		out = append(out, e.text)
	}
	return out
}

// estimate writes a number that is rounded, limit one that was decided.
func (f form) estimate(v float64) string {
	switch f {
	case rate:
		return quantity.Count(v) + "/s"
	case ratio:
		return quantity.Ratio(v)
	}
	return f.limit(v)
}

func (f form) limit(v float64) string {
	switch f {
	case rate:
		return quantity.Exact(v) + "/s"
	case bytesOf:
		return quantity.Decimal(v)
	case bytesRate:
		return quantity.Decimal(v) + "/s"
	}
	return quantity.Exact(v)
}

// Limits writes what a rung's envelope allows on an axis, in words and in the
// order of the measures' names: "liveness 600/s".
func (r Rung) Limits(axis estimate.Axis) (all []string) {
	limits := r.Envelope[axis]
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		m, ok := measures[name]
		if !ok {
			m.label = name
		}
		if label := byAxis[axis][name]; label != "" {
			m.label = label
		}
		all = append(all, m.label+" "+m.form.limit(limits[name]))
	}
	return all
}
