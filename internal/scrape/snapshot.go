// Package scrape is what proofs and profiles see of a running process: it reads
// the Prometheus text that kube-apiserver, etcd and their like expose, keeps two
// looks at it apart by a baseline, and turns the difference into figures. It
// stands beside the flow, to the left of prove and measure.
package scrape

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
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
}

// Read parses Prometheus text, from a process or from a saved file. at is when
// the text was taken. Text beyond MaxBytes is refused, not cut: half a scrape
// would read as counters that went away.
func Read(r io.Reader, at time.Time) (*Snapshot, error) {
	return readBounded(r, at, MaxBytes)
}

func readBounded(r io.Reader, at time.Time, limit int64) (*Snapshot, error) {
	counted := &countingReader{r: io.LimitReader(r, limit+1)}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(counted)
	switch {
	case counted.n > limit:
		return nil, fmt.Errorf("metrics text is over the limit of %d bytes", limit)
	case counted.err != nil:
		return nil, fmt.Errorf("read metrics text: %w", counted.err)
	case err != nil:
		// The parser quotes what it stumbles over, which may be the whole file.
		text := err.Error()
		if len(text) > 200 {
			text = strings.ToValidUTF8(text[:200], "") + "…"
		}
		return nil, fmt.Errorf("parse metrics text: %s", text)
	}
	return &Snapshot{At: at, Bytes: counted.n, families: families}, nil
}

// countingReader remembers how much was read and the error that ended it: the
// parser reports a broken connection as a syntax error.
type countingReader struct {
	r   io.Reader
	n   int64
	err error
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
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
		fmt.Fprintf(&b, "%q=%q,", l.GetName(), l.GetValue())
	}
	return b.String()
}

// value is the number of a counter, gauge or untyped series. etcd declares some
// of its totals as gauges (etcd_server_proposals_committed_total), so the type
// is no guide to what a figure counts.
func value(m *dto.Metric) (float64, bool) {
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

// Sum adds the matching series of a counter, gauge or untyped family; false
// when there is none. A value that is not a number is left out.
func (s *Snapshot) Sum(name string, ms ...Matcher) (float64, bool) {
	sum, found := 0.0, false
	for _, m := range s.families[name].GetMetric() {
		if v, ok := value(m); ok && !math.IsNaN(v) && matches(m, ms) {
			sum, found = sum+v, true
		}
	}
	return sum, found
}

// Max is the largest of the matching series; false when there is none.
func (s *Snapshot) Max(name string, ms ...Matcher) (float64, bool) {
	largest, found := 0.0, false
	for _, m := range s.families[name].GetMetric() {
		if v, ok := value(m); ok && !math.IsNaN(v) && matches(m, ms) && (!found || v > largest) {
			largest, found = v, true
		}
	}
	return largest, found
}

// SumBy adds the matching series by the value of one label.
func (s *Snapshot) SumBy(name, by string, ms ...Matcher) map[string]float64 {
	sums := map[string]float64{}
	for _, m := range s.families[name].GetMetric() {
		if v, ok := value(m); ok && !math.IsNaN(v) && matches(m, ms) {
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
