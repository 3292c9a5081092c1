package load

import (
	"container/heap"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// timetable starts calls when they are due, whether or not earlier ones were
// answered. One goroutine keeps the time and one is made per call in flight, so
// that thousands of hollow nodes cost no more than their calls.
type timetable struct {
	limit   int64
	timeout time.Duration

	started  time.Time
	agenda   agenda
	order    int
	inFlight atomic.Int64
	calls    sync.WaitGroup
	lag      *delays // how late the timekeeper itself was
	refused  atomic.Int64
	ctx      context.Context
	// stopped ends run early, with the calls that are under way; nil never does.
	stopped <-chan struct{}
}

func (d *Driver) timetable() *timetable {
	return &timetable{limit: int64(d.opts.MaxInFlight), timeout: d.opts.Timeout, lag: newDelays()}
}

// entry is something due. do runs on the timekeeper and must not block; it may
// plan more and start calls.
type entry struct {
	due   time.Duration
	order int
	do    func(due time.Duration)
}

// at plans do for a time after the start. Only before run, or from inside an
// entry.
func (t *timetable) at(due time.Duration, do func(due time.Duration)) {
	t.order++
	heap.Push(&t.agenda, entry{due, t.order, do})
}

// every plans do for a fixed interval from first on.
func (t *timetable) every(first, interval time.Duration, do func(i int, due time.Duration)) {
	i := 0
	var tick func(time.Duration)
	tick = func(due time.Duration) {
		do(i, due)
		i++
		// From the first and not from the last due time: no rounding adds up.
		t.at(first+time.Duration(i)*interval, tick)
	}
	t.at(first, tick)
}

// start makes a call that was due then, unless too many are in flight. The
// call's delay is since(due), its context ends Timeout after due.
func (t *timetable) start(due time.Duration, call func(ctx context.Context)) bool {
	if t.inFlight.Add(1) > t.limit {
		t.inFlight.Add(-1)
		t.refused.Add(1)
		return false
	}
	t.calls.Go(func() {
		defer t.inFlight.Add(-1)
		ctx, cancel := t.context(due)
		defer cancel()
		call(ctx)
	})
	return true
}

// context of a call that was due then.
func (t *timetable) context(due time.Duration) (context.Context, context.CancelFunc) {
	return context.WithDeadline(t.ctx, t.started.Add(due+t.timeout))
}

// since is the time from when something was due until now.
func (t *timetable) since(due time.Duration) time.Duration { return time.Since(t.started) - due }

// run keeps the time for d, then waits for the calls in flight: each ends by its
// own deadline at the latest.
func (t *timetable) run(ctx context.Context, d time.Duration, tick func(time.Duration)) error {
	t.ctx, t.started = ctx, time.Now()
	defer t.calls.Wait()
	seconds := time.Duration(0)
	for {
		next := d
		if len(t.agenda) > 0 {
			next = min(next, t.agenda[0].due)
		}
		// Wake for whole seconds too, to tell how far we are.
		if err := t.sleepUntil(ctx, min(next, seconds)); err != nil {
			return err
		}
		if seconds < next {
			tick(seconds)
			seconds += time.Second
			continue
		}
		if next >= d {
			return nil
		}
		e := heap.Pop(&t.agenda).(entry)
		t.lag.observe(t.since(e.due))
		e.do(e.due)
	}
}

func (t *timetable) sleepUntil(ctx context.Context, due time.Duration) error {
	wait := -t.since(due)
	if wait <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.stopped:
		return errStopped
	case <-timer.C:
		return nil
	}
}

// errStopped is what run returns when it was stopped.
var errStopped = errors.New("stopped")

// agenda is a heap by due time, first planned first among equals.
type agenda []entry

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	if a[i].due != a[j].due {
		return a[i].due < a[j].due
	}
	return a[i].order < a[j].order
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(entry)) }
func (a *agenda) Pop() any {
	last := len(*a) - 1
	e := (*a)[last]
	(*a)[last] = entry{}
	*a = (*a)[:last]
	return e
}
