package load

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kubeseams/seams/internal/scrape"
)

type figure = scrape.Figure

// A recorder's quantile is at or just above the one of the sorted sample.
func TestDelaysAgainstSortedSample(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sample := rapid.SliceOfN(rapid.Int64Range(0, int64(5*time.Minute)), 1, 200).Draw(t, "sample")
		l := newDelays()
		for _, v := range sample {
			l.observe(time.Duration(v))
		}
		slices.Sort(sample)
		q := rapid.Float64Range(0.001, 1).Draw(t, "q")
		want := time.Duration(sample[max(int(math.Ceil(q*float64(len(sample))))-1, 0)]).Seconds()
		if got := l.quantile(q); got < want*(1-1e-9) || got > want*bucketFactor*(1+1e-9) {
			t.Fatalf("quantile %v of %v is %v, want %v", q, sample, got, want)
		}
		if got := l.largest(); got != time.Duration(sample[len(sample)-1]).Seconds() || l.count() != int64(len(sample)) {
			t.Fatalf("largest %v of %d", got, l.count())
		}
	})
}

func TestDelaysBelowZero(t *testing.T) {
	l := newDelays()
	l.observe(-time.Second)
	if got := l.quantile(0.99); got != 0 || l.largest() != 0 {
		t.Errorf("%v, want 0", got)
	}
}

// While the server answers nothing, calls go on being made at the rate, and each
// is as slow as the server was from when it was due.
func TestRateIsKeptWhileServerStalls(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	events := &Events{Driver: f.driver(Options{}), PerSecond: 100}
	if err := events.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	stalled, over := 200*time.Millisecond, 900*time.Millisecond
	f.on(func(_ http.ResponseWriter, _ *http.Request, _ string) bool {
		if at := time.Since(began); at > stalled && at < over {
			time.Sleep(over - at)
		}
		return false
	})
	r, err := events.Run(t.Context(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	want(t, r, map[string]float64{"events-due": 100, "events": 100, "events-failed": 0, "events-missed": 0})
	// The first call of the stall waited nearly all of it, and calls were due
	// over all of it: 7 in 10 calls waited, half of those more than half of it.
	within(t, r, "event-write-max-seconds", 0.6, 3)
	within(t, r, "event-write-p90-seconds", 0.4, 3)
	within(t, r, "event-write-p50-seconds", 0.1, 3)
	if len(r.DriverLimits) > 0 && strings.Contains(strings.Join(r.DriverLimits, " "), "not made") {
		t.Errorf("the driver is blamed: %v", r.DriverLimits)
	}
	if n := f.left("events"); n != 100 {
		t.Errorf("%d events, want 100", n)
	}
	if err := events.Cleanup(t.Context()); err != nil || f.left("events") != 0 {
		t.Errorf("%v, %d events left", err, f.left("events"))
	}
}

// What comes after the end was not kept up with.
func TestAchievedRatioEndsWithTheRun(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	events := &Events{Driver: f.driver(Options{}), PerSecond: 50}
	if err := events.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.on(func(http.ResponseWriter, *http.Request, string) bool {
		time.Sleep(500 * time.Millisecond)
		return false
	})
	r, err := events.Run(t.Context(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	want(t, r, map[string]float64{"events-due": 50, "events": 50})
	within(t, r, "achieved-ratio", 0, 0.55)
}

// Calls beyond the bound are not made but counted, and the driver says so.
func TestDriverLimitIsSaid(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	events := &Events{Driver: f.driver(Options{MaxInFlight: 5}), PerSecond: 100}
	if err := events.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.took()
	f.on(func(http.ResponseWriter, *http.Request, string) bool {
		time.Sleep(300 * time.Millisecond)
		return false
	})
	r, err := events.Run(t.Context(), 600*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	made := float64(f.took()["POST events"])
	want(t, r, map[string]float64{"events-due": 60, "events": made, "events-missed": 60 - made})
	if made > 15 {
		t.Errorf("%v calls made, at most 5 at once of 0.3 s in 0.6 s", made)
	}
	if !strings.Contains(strings.Join(r.DriverLimits, "\n"), "because 5 were waiting for an answer") {
		t.Errorf("limits %q", r.DriverLimits)
	}
}

func TestLateDriverIsSaid(t *testing.T) {
	d := newFake(t).driver(Options{})
	for late, said := range map[time.Duration]bool{20 * time.Millisecond: false, 200 * time.Millisecond: true} {
		table, r := d.timetable(), &Result{}
		table.lag.observe(late)
		d.watchSaturation().judge(r, table)
		if got := strings.Contains(strings.Join(r.DriverLimits, "\n"), "the driver started calls late"); got != said {
			t.Errorf("late by %v: %q", late, r.DriverLimits)
		}
	}
	// Whoever holds the timekeeper makes the next entries late, and that is seen.
	table := d.timetable()
	table.every(0, 20*time.Millisecond, func(int, time.Duration) { time.Sleep(60 * time.Millisecond) })
	if err := table.run(t.Context(), 200*time.Millisecond, func(time.Duration) {}); err != nil {
		t.Fatal(err)
	}
	if lag := table.lag.quantile(0.99); lag < 0.3 {
		t.Errorf("lag %v s after ten entries of 60 ms each in 200 ms", lag)
	}
}

// Throttled calls are tried again by client-go: only below it are they seen.
func TestThrottlingIsCounted(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	events := &Events{Driver: f.driver(Options{}), PerSecond: 20}
	if err := events.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	refused := 0
	f.on(func(w http.ResponseWriter, _ *http.Request, what string) bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		if what != "POST events" || refused >= 3 {
			return false
		}
		refused++
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusTooManyRequests, "TooManyRequests")
		return true
	})
	r, err := events.Run(t.Context(), 500*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	want(t, r, map[string]float64{"events": 10, "events-failed": 0, "throttled": 3})
	within(t, r, "event-write-max-seconds", 1, 5)
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	events := &Events{Driver: f.driver(Options{}), PerSecond: 50}
	if err := events.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.on(func(_ http.ResponseWriter, r *http.Request, _ string) bool { <-r.Context().Done(); return true })
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	r, err := events.Run(ctx, time.Minute)
	if !errors.Is(err, context.DeadlineExceeded) || r == nil || time.Since(began) > 3*time.Second {
		t.Fatalf("%v after %v, result %v", err, time.Since(began), r)
	}
	want(t, r, map[string]float64{"events": 0})
	if r.Failures["ClientTimeout"] == 0 {
		t.Errorf("failures %v", r.Failures)
	}
}

// Each call has its own deadline, from when it was due.
func TestHungServer(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	events := &Events{Driver: f.driver(Options{Timeout: 150 * time.Millisecond}), PerSecond: 20}
	if err := events.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.on(func(_ http.ResponseWriter, r *http.Request, _ string) bool { <-r.Context().Done(); return true })
	r, err := events.Run(t.Context(), 500*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	want(t, r, map[string]float64{"events-due": 10, "events": 0, "events-failed": 10})
	if r.Seconds > 5 {
		t.Errorf("took %v s", r.Seconds)
	}
}
