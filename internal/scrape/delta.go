package scrape

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// startTime is set by every Go process that uses Prometheus' own collectors,
// kube-apiserver and etcd among them.
const startTime = "process_start_time_seconds"

// Delta is what happened between two looks at one process.
type Delta struct {
	Before, After *Snapshot
	// Restarted says why the process is not the one of the first look, and is
	// empty when it is. Counts of a restarted process are since its start: a
	// lower bound of what happened between the looks.
	Restarted string
}

// Between compares two snapshots of one process. The second must be later.
func Between(before, after *Snapshot) (*Delta, error) {
	if before == nil || after == nil {
		return nil, errors.New("two snapshots are needed")
	}
	if !after.At.After(before.At) {
		return nil, fmt.Errorf("the second snapshot, of %s, is not later than the first, of %s",
			after.At.UTC().Format("15:04:05.000"), before.At.UTC().Format("15:04:05.000"))
	}
	return &Delta{Before: before, After: after, Restarted: restarted(before, after)}, nil
}

// Seconds is the time between the looks.
func (d *Delta) Seconds() float64 { return d.After.At.Sub(d.Before.At).Seconds() }

// restarted finds the trace of a new process: another start time, or counters
// that went back, which a living process never does.
func restarted(before, after *Snapshot) string {
	a, okA := before.Sum(startTime)
	b, okB := after.Sum(startTime)
	if okA && okB {
		// The start time is exact to a clock tick of 10 ms.
		if math.Abs(a-b) > sameStart {
			return fmt.Sprintf("its start moved by %.1f s", b-a)
		}
		return ""
	}
	var back []string
	for _, name := range before.Names() {
		if wentBack(before.families[name], after.families[name]) {
			back = append(back, name)
		}
	}
	if len(back) == 0 {
		return ""
	}
	rest := ""
	if len(back) > 3 {
		back, rest = back[:3], fmt.Sprintf(" and %d more", len(back)-3)
	}
	return "counters went back: " + strings.Join(back, ", ") + rest
}

func wentBack(before, after *dto.MetricFamily) bool {
	if before.GetType() != dto.MetricType_COUNTER || after.GetType() != dto.MetricType_COUNTER {
		return false
	}
	base := bySeries(before)
	for _, m := range after.GetMetric() {
		if b := base[seriesKey(m)]; b != nil && m.GetCounter().GetValue() < b.GetCounter().GetValue() {
			return true
		}
	}
	return false
}

func bySeries(f *dto.MetricFamily) map[string]*dto.Metric {
	series := make(map[string]*dto.Metric, len(f.GetMetric()))
	for _, m := range f.GetMetric() {
		series[seriesKey(m)] = m
	}
	return series
}

// Increase is by how much the matching series of a counter grew, together;
// false when the process exposes none. A series that was not there at the first
// look counts from zero, and so does one that went back.
func (d *Delta) Increase(name string, ms ...Matcher) (float64, bool) {
	by := d.IncreaseBy(name, nil, ms...)
	if by == nil {
		return 0, false
	}
	return by[""], true
}

// Rate is Increase per second.
func (d *Delta) Rate(name string, ms ...Matcher) (float64, bool) {
	v, ok := d.Increase(name, ms...)
	return v / d.Seconds(), ok
}

// IncreaseBy is Increase by the values of labels, joined by "/"; nil when the
// process exposes no matching series.
func (d *Delta) IncreaseBy(name string, by []string, ms ...Matcher) map[string]float64 {
	base := d.baseline(name)
	var sums map[string]float64
	for _, m := range d.After.families[name].GetMetric() {
		v, ok := value(m)
		if !ok || !matches(m, ms) {
			continue
		}
		if b := base[seriesKey(m)]; b != nil {
			if was, ok := value(b); ok && was <= v {
				v -= was
			}
		}
		if sums == nil {
			sums = map[string]float64{}
		}
		sums[group(m, by)] += v
	}
	return sums
}

// baseline is the series of the first look, none when the process restarted.
func (d *Delta) baseline(name string) map[string]*dto.Metric {
	if d.Restarted != "" {
		return nil
	}
	return bySeries(d.Before.families[name])
}

func group(m *dto.Metric, by []string) string {
	values := make([]string, len(by))
	for i, l := range by {
		values[i] = label(m, l)
	}
	return strings.Join(values, "/")
}

// Quantile is the q-quantile of the observations between the looks in the
// matching series of a histogram together; false when there were none.
func (d *Delta) Quantile(q float64, name string, ms ...Matcher) (float64, bool) {
	h := d.HistogramsBy(name, nil, ms...)[""]
	if h == nil {
		return 0, false
	}
	return h.Quantile(q)
}

// HistogramsBy is what was observed between the looks, by the values of labels
// joined by "/". Groups without an observation are left out.
func (d *Delta) HistogramsBy(name string, by []string, ms ...Matcher) map[string]*Histogram {
	base := d.baseline(name)
	out := map[string]*Histogram{}
	for _, m := range d.After.families[name].GetMetric() {
		if m.Histogram == nil || !matches(m, ms) {
			continue
		}
		var was *dto.Histogram
		if b := base[seriesKey(m)]; b != nil {
			was = b.Histogram
		}
		key := group(m, by)
		if out[key] == nil {
			out[key] = &Histogram{}
		}
		out[key].add(m.Histogram, was)
	}
	maps.DeleteFunc(out, func(_ string, h *Histogram) bool { return h.Count() == 0 })
	return out
}

// Keys of a map made by a …By method, sorted.
func Keys[V any](by map[string]V) []string { return slices.Sorted(maps.Keys(by)) }

// Since is everything that a process counted since its start: a look without
// one before it. Gauges are as they are.
func Since(s *Snapshot) *Delta { return &Delta{Before: &Snapshot{}, After: s} }
