// Package load is the part of prove that gives a control plane something to
// do: hollow nodes, churning sessions and pods, resident objects, watchers, and
// a trickle of core calls that feels what the rest does to the API. Calls are
// made on a timetable that does not wait for answers, and every delay is
// counted from when the call was due, so that a control plane that stalls shows
// as slow and not as little used. A load says when it was itself, and not the
// control plane, that could do no more.
package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kubeseams/seams/internal/scrape"
)

// Load is one demand on a control plane. The order is Prepare, Run any number
// of times, Cleanup; none is called while another is running. All give up when
// the context ends, and Cleanup removes what Prepare and Run left, also after
// they failed.
type Load interface {
	// Name is one word: "nodes".
	Name() string
	// Prepare creates what must be there before the clock starts.
	Prepare(ctx context.Context) error
	// Run drives the load for d. A result is given even with an error, as far as
	// it got.
	Run(ctx context.Context, d time.Duration) (*Result, error)
	// Cleanup deletes what the load created.
	Cleanup(ctx context.Context) error
}

// Result is what a load measured.
type Result struct {
	Load string `json:"load"`
	// Seconds is the time that the load was asked to run and did.
	Seconds float64 `json:"seconds"`
	// Figures are sorted by name.
	Figures []scrape.Figure `json:"figures"`
	// DriverLimits say, a sentence each, why the driver rather than the control
	// plane bounded the load. With any, rates are what the driver could do, and
	// delays may be the driver's own.
	DriverLimits []string `json:"driverLimits,omitempty"`
	// Failures counts failed calls by reason: "TooManyRequests".
	Failures map[string]int `json:"failures,omitempty"`
	// Delays are what the figures about delays were read from, by the name that
	// these begin with: what parts of a load are merged by.
	Delays map[string]Histogram `json:"delays,omitempty"`
}

// Value is the figure of that name; false when there is none.
func (r *Result) Value(name string) (float64, bool) {
	f, ok := scrape.Find(r.Figures, name)
	return f.Value, ok
}

func (r *Result) put(name, unit string, value float64) {
	r.Figures = append(r.Figures, scrape.Figure{Name: name, Value: value, Unit: unit})
}

func (r *Result) count(name string, n int64) { r.put(name, "", float64(n)) }

// delay puts the usual figures of a recorder: nothing when it recorded nothing.
func (r *Result) delay(name string, l *delays) {
	if l.count() == 0 {
		return
	}
	r.histogram(name, l.read())
}

func (r *Result) histogram(name string, h Histogram) {
	if r.Delays == nil {
		r.Delays = map[string]Histogram{}
	}
	r.Delays[name] = h
	r.put(name+"-p50-seconds", scrape.Seconds, h.Quantile(0.5))
	r.put(name+"-p90-seconds", scrape.Seconds, h.Quantile(0.9))
	r.put(name+"-p99-seconds", scrape.Seconds, h.Quantile(0.99))
	r.put(name+"-max-seconds", scrape.Seconds, h.Largest)
}

func (r *Result) finish(d *Driver, f *failures) *Result {
	scrape.SortFigures(r.Figures)
	slices.Sort(r.DriverLimits)
	r.Failures = f.counts()
	d.progress(Progress{Load: r.Load, Step: "done"})
	return r
}

// Progress is where a load stands.
type Progress struct {
	Load string
	// Step is "prepare", "run", "cleanup" or "done".
	Step string
	// Done of Total are objects, or whole seconds of a run.
	Done, Total int
}

// Together runs loads at the same time: a storm and the probe that feels it.
// Results are in the order of the loads. The first that fails ends the others.
func Together(ctx context.Context, d time.Duration, loads ...Load) ([]*Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results, errs := make([]*Result, len(loads)), make([]error, len(loads))
	var wg sync.WaitGroup
	for i, l := range loads {
		wg.Go(func() {
			results[i], errs[i] = l.Run(ctx, d)
			if errs[i] != nil {
				errs[i] = fmt.Errorf("%s: %w", l.Name(), errs[i])
				cancel()
			}
		})
	}
	wg.Wait()
	return results, errors.Join(errs...)
}

// Prepare prepares loads one after another, and Cleanup cleans them up in the
// opposite order, all of them even when one fails.
func Prepare(ctx context.Context, loads ...Load) error {
	for _, l := range loads {
		if err := l.Prepare(ctx); err != nil {
			return fmt.Errorf("prepare %s: %w", l.Name(), err)
		}
	}
	return nil
}

// Cleanup is the counterpart of Prepare.
func Cleanup(ctx context.Context, loads ...Load) error {
	var errs []error
	for _, l := range slices.Backward(loads) {
		if err := l.Cleanup(ctx); err != nil {
			errs = append(errs, fmt.Errorf("clean up %s: %w", l.Name(), err))
		}
	}
	return errors.Join(errs...)
}
