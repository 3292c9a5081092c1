// Package scrape is what proofs and profiles see of a running process: it reads
// the Prometheus text that kube-apiserver, etcd and their like expose, keeps two
// looks at it apart by a baseline, and turns the difference into figures. It
// stands beside the flow, to the left of prove and measure.
package scrape

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// MaxBytes bounds the text of one scrape, in bytes after decompression. A
// kube-apiserver of a large cluster exposes some ten megabytes.
const MaxBytes = 64 << 20

// Snapshot is one look at the metrics of one process.
type Snapshot struct {
	// At is when the text was read.
	At time.Time
	// Bytes is the size of the text.
	Bytes int64

	families map[string]*dto.MetricFamily
	// digest is of the text, whichever way its lines end.
	digest uint64
}

// Names are the families of the snapshot, sorted.
func (s *Snapshot) Names() []string { return slices.Sorted(maps.Keys(s.families)) }

// Has reports whether the process exposes the family at all.
func (s *Snapshot) Has(name string) bool { return s.families[name] != nil }

// Matcher picks series by their labels.
type Matcher struct {
	label  string
	values []string
	not    bool
}

// Where picks series whose label has one of the values; an absent label is "".
func Where(label string, values ...string) Matcher { return Matcher{label: label, values: values} }

// WhereNot picks series whose label has none of the values.
func WhereNot(label string, values ...string) Matcher {
	return Matcher{label: label, values: values, not: true}
}

func matches(m *dto.Metric, ms []Matcher) bool {
	for _, x := range ms {
		if slices.Contains(x.values, label(m, x.label)) == x.not {
			return false
		}
	}
	return true
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// seriesKey names a series by its sorted labels.
func seriesKey(m *dto.Metric) string {
	labels := slices.Clone(m.GetLabel())
	slices.SortFunc(labels, func(a, b *dto.LabelPair) int { return cmp.Compare(a.GetName(), b.GetName()) })
	var b strings.Builder
	for _, l := range labels {
		fmt.Fprintf(&b, "%s=%q,", l.GetName(), l.GetValue())
	}
	return b.String()
}

// value is the number of a counter, gauge or untyped series, and false where it
// has none or one that counts nothing. etcd declares some of its totals as
// gauges (etcd_server_proposals_committed_total), so the type is no guide to what
// a figure counts.
func value(m *dto.Metric) (float64, bool) {
	v, ok := raw(m)
	return v, ok && counts(v)
}

func raw(m *dto.Metric) (float64, bool) {
	switch {
	case m.Counter != nil:
		return m.Counter.GetValue(), true
	case m.Gauge != nil:
		return m.Gauge.GetValue(), true
	case m.Untyped != nil:
		return m.Untyped.GetValue(), true
	}
	return 0, false
}

// mostCounted is the largest number up to which floats tell one from the next:
// no process has counted further, in objects, bytes or nanoseconds.
const mostCounted = 1 << 53

// counts reports whether v can be what a process counted. The text form lets
// anything stand there that Go parses as a float, infinities and 1e300 too.
func counts(v float64) bool { return !math.IsNaN(v) && math.Abs(v) <= mostCounted }

// Uncounted names the series of some families whose value is no count, each with
// the value: they are taken as not seen.
func (s *Snapshot) Uncounted(families ...string) []string {
	var all []string
	for _, name := range families {
		for _, m := range s.families[name].GetMetric() {
			if v, ok := raw(m); ok && !counts(v) {
				series := name
				if labels := strings.TrimSuffix(seriesKey(m), ","); labels != "" {
					series += "{" + labels + "}"
				}
				all = append(all, fmt.Sprintf("%s %g", series, v))
			}
		}
	}
	return all
}

// Sum adds the matching series of a counter, gauge or untyped family; false
// when there is none. A value that is no count is left out.
func (s *Snapshot) Sum(name string, ms ...Matcher) (float64, bool) {
	sum, found := 0.0, false
	for _, m := range s.families[name].GetMetric() {
		if v, ok := value(m); ok && matches(m, ms) {
			sum, found = sum+v, true
		}
	}
	return sum, found
}

// Max is the largest of the matching series; false when there is none.
func (s *Snapshot) Max(name string, ms ...Matcher) (float64, bool) {
	largest, found := 0.0, false
	for _, m := range s.families[name].GetMetric() {
		if v, ok := value(m); ok && matches(m, ms) && (!found || v > largest) {
			largest, found = v, true
		}
	}
	return largest, found
}

// SumBy adds the matching series by the value of one label.
func (s *Snapshot) SumBy(name, by string, ms ...Matcher) map[string]float64 {
	sums := map[string]float64{}
	for _, m := range s.families[name].GetMetric() {
		if v, ok := value(m); ok && matches(m, ms) {
			sums[label(m, by)] += v
		}
	}
	return sums
}

// HasLabel reports whether any series of a family has a label with a value.
func (s *Snapshot) HasLabel(name, l string) bool {
	for _, m := range s.families[name].GetMetric() {
		if label(m, l) != "" {
			return true
		}
	}
	return false
}
