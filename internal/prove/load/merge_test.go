package load

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kubeseams/seams/internal/scrape"
)

// However delays are divided over recorders, merging gives what one recorder of
// all of them has, also after a way through JSON.
func TestMergedHistogramsAreOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nanos := rapid.SliceOfN(rapid.Int64Range(0, int64(90*time.Second)), 1, 60).Draw(t, "delays")
		parts := rapid.IntRange(1, 5).Draw(t, "parts")
		whole, cut := newDelays(), make([]*delays, parts)
		for i := range cut {
			cut[i] = newDelays()
		}
		for _, n := range nanos {
			whole.observe(time.Duration(n))
			cut[rapid.IntRange(0, parts-1).Draw(t, "part")].observe(time.Duration(n))
		}
		var sum Histogram
		for _, c := range cut {
			data, err := json.Marshal(c.read())
			if err != nil {
				t.Fatal(err)
			}
			var h Histogram
			if err := json.Unmarshal(data, &h); err != nil {
				t.Fatal(err)
			}
			if sum, err = sum.Merged(h); err != nil {
				t.Fatal(err)
			}
		}
		want := whole.read()
		if sum.Count() != uint64(len(nanos)) || sum.Largest != want.Largest {
			t.Fatalf("%d delays up to %g, want %d up to %g", sum.Count(), sum.Largest, len(nanos), want.Largest)
		}
		for _, q := range []float64{0, 0.1, 0.5, 0.9, 0.99, 1} {
			if got, want := sum.Quantile(q), want.Quantile(q); got != want {
				t.Fatalf("the %g quantile is %g, want %g", q, got, want)
			}
		}
	})
}

func TestHistogramsOfOtherBoundsDoNotMerge(t *testing.T) {
	t.Parallel()
	a := Histogram{Schema: 6, Buckets: []Bucket{{1, 1}}}
	if _, err := a.Merged(Histogram{Schema: 5, Buckets: []Bucket{{1, 1}}}); err == nil {
		t.Error("histograms of two schemas merged")
	}
}

// part of a load: n writes were due, of which done were made, each in d.
func partResult(n, done int64, d time.Duration) *Result {
	r := &Result{Load: "churn", Seconds: 10}
	l := newDelays()
	for range done {
		l.observe(d)
	}
	r.count("writes-due", n)
	r.count("writes", done)
	r.put("writes-per-second", scrape.PerSecond, float64(done)/10)
	r.put("achieved-ratio", "", float64(done)/float64(n))
	r.put("object-bytes", scrape.Bytes, 3000)
	r.put("driver-lag-p99-seconds", scrape.Seconds, d.Seconds()/100)
	r.delay("write", l)
	return r
}

func TestMergeAddsWeighsAndTakesTheWorst(t *testing.T) {
	t.Parallel()
	slow := partResult(100, 50, time.Second)
	slow.Failures, slow.DriverLimits = map[string]int{"Conflict": 2}, []string{"it was late"}
	r, err := Merge(partResult(900, 900, 10*time.Millisecond), slow)
	if err != nil {
		t.Fatal(err)
	}
	want(t, r, map[string]float64{
		"writes-due": 1000, "writes": 950, "writes-per-second": 95, "achieved-ratio": 0.95, "object-bytes": 3000,
		"driver-lag-p99-seconds": 0.01, "write-max-seconds": 1, "write-p99-seconds": 1,
	})
	if v, _ := r.Value("write-p50-seconds"); math.Abs(v-0.01) > 0.0002 {
		t.Errorf("half of the writes took %g s", v)
	}
	if r.Failures["Conflict"] != 2 || len(r.DriverLimits) != 1 || r.DriverLimits[0] != "part 1: it was late" {
		t.Errorf("failures %v, limits %q", r.Failures, r.DriverLimits)
	}
}

func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	odd := func() *Result { r := &Result{Load: "churn"}; r.put("odd-ratio", "", 1); return r }
	for name, parts := range map[string][]*Result{
		"nothing":             nil,
		"two loads":           {{Load: "churn"}, {Load: "pods"}},
		"an unknown ratio":    {odd(), odd()},
		"quantiles of no one": {{Load: "x", Figures: []scrape.Figure{{Name: "y-p99-seconds", Unit: scrape.Seconds}}}, {Load: "x", Figures: []scrape.Figure{{Name: "y-p99-seconds", Unit: scrape.Seconds}}}},
	} {
		if _, err := Merge(parts...); err == nil {
			t.Errorf("%s merged", name)
		}
	}
}

// Every figure of every load says how its parts merge.
func TestEveryLoadMerges(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	d := f.driver(Options{})
	for _, l := range []Load{
		&Nodes{Driver: d, Count: 3, LeaseDuration: time.Second}, &Churn{Driver: d, PerSecond: 20, Bytes: 900, Cycles: 1, StatusWrites: 1, Pause: 50 * time.Millisecond},
		&Pods{Driver: d, PerSecond: 20, StatusWrites: 1, Pause: 50 * time.Millisecond}, &Events{Driver: d, PerSecond: 20}, &Probe{Driver: d, PerSecond: 50},
		&Objects{Driver: d, Custom: Set{Count: 3, Bytes: 900}, ListEvery: 200 * time.Millisecond, UpdatesPerSecond: 10},
	} {
		r := ran(t, l, 700*time.Millisecond)
		sum, err := Merge(r, r)
		if err != nil {
			t.Errorf("%s: %v", l.Name(), err)
			continue
		}
		if len(sum.Figures) != len(r.Figures) {
			t.Errorf("%s: %d figures of %d", l.Name(), len(sum.Figures), len(r.Figures))
		}
	}
}
