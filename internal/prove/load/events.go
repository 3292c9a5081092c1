package load

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	core "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeseams/seams/internal/scrape"
)

// Events is a load of Events, as kubelets and schedulers record of Pods.
type Events struct {
	Driver *Driver
	// PerSecond is how many are created in a second.
	PerSecond float64
	// Namespace of the Events; empty is "prove-events".
	Namespace string

	ready bool
	runs  int
}

// Name of the load.
func (e *Events) Name() string { return "events" }

func (e *Events) namespace() string {
	if e.Namespace == "" {
		return "prove-events"
	}
	return e.Namespace
}

// Prepare makes the namespace.
func (e *Events) Prepare(ctx context.Context) error {
	if e.PerSecond <= 0 {
		return errors.New("events need a rate")
	}
	if err := e.Driver.ensureNamespace(ctx, e.namespace()); err != nil {
		return err
	}
	e.ready = true
	return nil
}

// object is an Event such as 34 in 100 are: a kubelet kills a container.
func (e *Events) object(i int) *core.Event {
	now := metav1.Now()
	pod := fmt.Sprintf("session-%07d", i/3)
	return &core.Event{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s.%d-%d", pod, e.runs, i), Namespace: e.namespace(), Labels: map[string]string{loadLabel: e.Name()},
		},
		InvolvedObject: core.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: e.namespace(), Name: pod, FieldPath: "spec.containers{session}"},
		Reason:         "Killing",
		Message:        "Stopping container session",
		Source:         core.EventSource{Component: "kubelet", Host: fmt.Sprintf("hollow-%05d", i%1000)},
		FirstTimestamp: now, LastTimestamp: now, Count: 1, Type: core.EventTypeNormal,
		ReportingController: "kubelet", ReportingInstance: fmt.Sprintf("hollow-%05d", i%1000),
	}
}

// Run creates Events for d.
func (e *Events) Run(ctx context.Context, d time.Duration) (*Result, error) {
	if !e.ready {
		return nil, errors.New("events are not prepared")
	}
	e.runs++
	table, writing := e.Driver.timetable(), newDelays()
	var fails failures
	var due, inTime, missed atomic.Int64
	table.every(0, time.Duration(float64(time.Second)/e.PerSecond), func(i int, at time.Duration) {
		due.Add(1)
		started := table.start(at, func(ctx context.Context) {
			_, err := e.Driver.client(i).core.events(e.namespace()).Create(ctx, e.object(i), metav1.CreateOptions{})
			if err != nil {
				fails.add(err)
				return
			}
			delay := table.since(at)
			writing.observe(delay)
			if at+delay <= d {
				inTime.Add(1)
			}
		})
		if !started {
			missed.Add(1)
		}
	})
	saturation := e.Driver.watchSaturation()
	began := time.Now()
	err := table.run(ctx, d, func(at time.Duration) {
		e.Driver.progress(Progress{e.Name(), "run", int(at.Seconds()), int(d.Seconds())})
	})
	r := &Result{Load: e.Name(), Seconds: time.Since(began).Seconds()}
	r.count("events-due", due.Load())
	r.count("events", writing.count())
	r.count("events-failed", fails.total())
	r.count("events-missed", missed.Load())
	r.put("events-asked-per-second", scrape.PerSecond, e.PerSecond)
	r.put("events-per-second", scrape.PerSecond, float64(inTime.Load())/d.Seconds())
	if n := due.Load(); n > 0 {
		r.put("achieved-ratio", "", float64(inTime.Load())/float64(n))
	}
	r.delay("event-write", writing)
	saturation.judge(r, table)
	return r.finish(e.Driver, &fails), err
}

// Cleanup deletes the Events, all with one call: there may be very many, and
// they would expire anyway.
func (e *Events) Cleanup(ctx context.Context) error {
	err := e.Driver.client(0).core.events(e.namespace()).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	if ignoreNotFound(err) != nil {
		return fmt.Errorf("delete events: %w", err)
	}
	return e.Driver.dropNamespace(ctx, e.namespace())
}
