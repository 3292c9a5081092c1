package scrape

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"pgregory.net/rapid"
)

func between(t testing.TB, before, after string) *Delta {
	t.Helper()
	d, err := Between(read(t, before, noon), read(t, after, noon.Add(10*time.Second)))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestIncrease(t *testing.T) {
	const started = "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds %v\n# TYPE x counter\n"
	at := func(start float64) string { return fmt.Sprintf(started, start) }
	for _, tt := range []struct {
		name, before, after string
		want                float64
		restarted           string
	}{
		{"grows", at(1) + "x 3\n", at(1) + "x 10\n", 7, ""},
		{"new series", at(1) + "x{a=\"1\"} 3\n", at(1) + "x{a=\"1\"} 4\nx{a=\"2\"} 5\n", 6, ""},
		{"labels in another order", at(1) + "x{a=\"1\",b=\"2\"} 3\n", at(1) + "x{b=\"2\",a=\"1\"} 4\n", 1, ""},
		{"restart with a larger count", at(1) + "x 3\n", at(8.5) + "x 10\n", 10, "its start moved by 7.5 s"},
		{"clock tick", at(1) + "x 3\n", at(1.01) + "x 10\n", 7, ""},
		{"no start time, count went back", "# TYPE x counter\nx 9\n", "# TYPE x counter\nx 4\n", 4, "counters went back: x"},
		{"a gauge may fall", "# TYPE x gauge\nx 9\n", "# TYPE x gauge\nx 4\n", 4, ""},
	} {
		d := between(t, tt.before, tt.after)
		got, ok := d.Increase("x")
		if !ok || got != tt.want || d.Restarted != tt.restarted {
			t.Errorf("%s: %v, %q; want %v, %q", tt.name, got, d.Restarted, tt.want, tt.restarted)
		}
		if rate, _ := d.Rate("x"); rate != tt.want/10 {
			t.Errorf("%s: rate %v, want %v", tt.name, rate, tt.want/10)
		}
	}
}

func TestBetweenNeedsOrder(t *testing.T) {
	s := read(t, "x 1\n", noon)
	for _, other := range []*Snapshot{nil, s, read(t, "x 1\n", noon.Add(-time.Second))} {
		if _, err := Between(s, other); err == nil {
			t.Errorf("no error with %+v", other)
		}
	}
}

const observed = `# TYPE h histogram
h_bucket{verb="GET",le="0.1"} %d
h_bucket{verb="GET",le="1"} %d
h_bucket{verb="GET",le="+Inf"} %d
h_sum{verb="GET"} %v
h_count{verb="GET"} %d
`

func TestQuantiles(t *testing.T) {
	before := fmt.Sprintf(observed, 100, 100, 100, 1.0, 100)
	// 80 fast, 20 slow ones between the looks.
	d := between(t, before, fmt.Sprintf(observed, 180, 200, 200, 20.0, 200))
	for q, want := range map[float64]float64{0: 0, 0.4: 0.05, 0.8: 0.1, 0.9: 0.55, 1: 1} {
		if got, ok := d.Quantile(q, "h"); !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("quantile %v: %v, want %v", q, got, want)
		}
	}
	h := d.HistogramsBy("h", []string{"verb"})["GET"]
	if mean, ok := h.Mean(); !ok || math.Abs(mean-0.19) > 1e-9 {
		t.Errorf("mean %v, want 0.19", mean)
	}
	// One in ten beyond the last bound: p99 must not look like 1 s.
	d = between(t, before, fmt.Sprintf(observed, 190, 190, 200, 900.0, 200))
	if got, _ := d.Quantile(0.99, "h"); !math.IsInf(got, 1) {
		t.Errorf("quantile beyond the buckets: %v, want +Inf", got)
	}
	if got, _ := d.Quantile(0.9, "h"); got != 0.1 {
		t.Errorf("quantile below it: %v, want 0.1", got)
	}
	if _, ok := between(t, before, before).Quantile(0.5, "h"); ok {
		t.Error("a quantile of no observations")
	}
	// A series that began anew counts from zero.
	d = between(t, before, fmt.Sprintf(observed, 10, 10, 10, 0.5, 10))
	if h := d.HistogramsBy("h", nil)[""]; h.Count() != 10 {
		t.Errorf("%v observations after a reset, want 10", h.Count())
	}
}

// What Prometheus' own library writes reads back as what was observed: the
// quantile lies in the bucket that holds it, and only observations between the
// looks count.
func TestHistogramAgainstUpstream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bounds := []float64{0.005, 0.05, 0.5, 5}
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "h", Buckets: bounds})
		draw := rapid.SliceOfN(rapid.Float64Range(0, 5), 1, 40)
		for _, v := range draw.Draw(t, "before") {
			h.Observe(v)
		}
		before := exposed(t, h)
		observed := draw.Draw(t, "between")
		for _, v := range observed {
			h.Observe(v)
		}
		a, err := Read(strings.NewReader(before), noon)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Read(strings.NewReader(exposed(t, h)), noon.Add(time.Second))
		if err != nil {
			t.Fatal(err)
		}
		d, err := Between(a, b)
		if err != nil {
			t.Fatal(err)
		}
		got := d.HistogramsBy("h", nil)[""]
		if got == nil || got.Count() != float64(len(observed)) {
			t.Fatalf("%+v, want %d observations", got, len(observed))
		}
		q := rapid.Float64Range(0.01, 1).Draw(t, "q")
		v, _ := got.Quantile(q)
		// At least q of the observations are at or below the bucket of v.
		upper := bounds[0]
		for _, u := range bounds {
			if upper = u; v <= u {
				break
			}
		}
		below := 0
		for _, x := range observed {
			if x <= upper {
				below++
			}
		}
		if float64(below) < q*float64(len(observed))-1e-9 {
			t.Fatalf("quantile %v is %v, but only %d of %d are at most %v", q, v, below, len(observed), upper)
		}
	})
}

func exposed(t *rapid.T, c prometheus.Metric) string {
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		t.Fatal(err)
	}
	name, kind := "h", dto.MetricType_HISTOGRAM
	var b strings.Builder
	if _, err := expfmt.MetricFamilyToText(&b, &dto.MetricFamily{Name: &name, Type: &kind, Metric: []*dto.Metric{&m}}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
