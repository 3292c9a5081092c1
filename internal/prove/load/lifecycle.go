package load

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubeseams/seams/internal/scrape"
)

// step is one write in the life of a thing.
type step struct {
	// name of the kind of write: "create", "status".
	name string
	do   func(ctx context.Context, c *client, name string) error
}

// lifecycle begins things at a fixed rate and takes each through its steps, one
// pause apart. The writes of one thing are in order: a step that is due while
// the one before is unanswered waits, and its delay counts from when it was due.
type lifecycle struct {
	d         *Driver
	load      string
	perSecond float64
	pause     time.Duration
	steps     []step
	prefix    string
	figures   []scrape.Figure // known before the run

	runs     int
	standing []*thing
}

// thing lives through the steps.
type thing struct {
	index int
	name  string
	start time.Duration // of its first step; before zero for those that stand at the start

	mu      sync.Mutex
	dead    bool // its next step cannot succeed any more
	working bool
	queue   []job
}

type job struct {
	step int
	due  time.Duration
}

// stand creates the things that would have begun before the clock starts, so
// that all steps come at their steady rates from the first second on.
func (l *lifecycle) stand(ctx context.Context) error {
	l.runs++
	var things []*thing
	for j := 1; ; j++ {
		start := -l.begin(j)
		if l.firstStep(start) >= len(l.steps) {
			break
		}
		things = append(things, l.thing(-j, start))
	}
	l.standing = nil
	err := l.d.each(ctx, l.load, "prepare", len(things), func(ctx context.Context, i int) error {
		if err := l.steps[0].do(ctx, l.d.client(i), things[i].name); err != nil {
			return fmt.Errorf("create %s: %w", things[i].name, err)
		}
		return nil
	})
	if err == nil {
		l.standing = things
	}
	return err
}

// begin is when thing j begins.
func (l *lifecycle) begin(j int) time.Duration {
	return time.Duration(float64(j) / l.perSecond * float64(time.Second))
}

// firstStep is the first step that is due at zero or later.
func (l *lifecycle) firstStep(start time.Duration) int {
	if start >= 0 {
		return 0
	}
	if l.pause <= 0 {
		return len(l.steps)
	}
	return int((-start + l.pause - 1) / l.pause)
}

// thing j; those before the start have names of their own.
func (l *lifecycle) thing(j int, start time.Duration) *thing {
	kind := "n"
	if j < 0 {
		kind = "s"
	}
	return &thing{index: max(j, -j), name: fmt.Sprintf("%s-%d%s%0*d", l.prefix, l.runs, kind, nameDigits, max(j, -j)), start: start}
}

// lifecycleRun counts one run. Every write that was due is in exactly one of
// done, failed, missed and skipped.
type lifecycleRun struct {
	*lifecycle
	table                              *timetable
	end                                time.Duration
	all                                *delays
	by                                 map[string]*delays
	due, done, inTime, missed, skipped atomic.Int64
	begun, ended                       atomic.Int64
	fails                              failures
}

func (l *lifecycle) run(ctx context.Context, d time.Duration) (*Result, error) {
	if l.standing == nil || l.runs == 0 {
		if err := l.stand(ctx); err != nil {
			return nil, err
		}
	}
	run := &lifecycleRun{lifecycle: l, table: l.d.timetable(), end: d, all: newDelays(), by: map[string]*delays{}}
	for _, s := range l.steps {
		if run.by[s.name] == nil {
			run.by[s.name] = newDelays()
		}
	}
	for _, t := range l.standing {
		k := l.firstStep(t.start)
		run.table.at(t.start+time.Duration(k)*l.pause, func(due time.Duration) { run.stepDue(t, k, due) })
	}
	l.standing = nil
	run.planBegin(0)
	saturation := l.d.watchSaturation()
	began := time.Now()
	err := run.table.run(ctx, d, func(at time.Duration) {
		l.d.progress(Progress{l.load, "run", int(at.Seconds()), int(d.Seconds())})
	})
	r := run.result(time.Since(began))
	saturation.judge(r, run.table)
	return r.finish(l.d, &run.fails), err
}

func (run *lifecycleRun) planBegin(j int) {
	run.table.at(run.begin(j), func(due time.Duration) {
		run.begun.Add(1)
		run.planBegin(j + 1)
		run.stepDue(run.thing(j, due), 0, due)
	})
}

// stepDue is on the timekeeper: it plans the next step, whatever becomes of this
// one, and hands this one on.
func (run *lifecycleRun) stepDue(t *thing, k int, due time.Duration) {
	run.due.Add(1)
	if k+1 < len(run.steps) {
		run.table.at(due+run.pause, func(due time.Duration) { run.stepDue(t, k+1, due) })
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.dead:
		run.skipped.Add(1)
	case t.working:
		t.queue = append(t.queue, job{k, due})
	default:
		t.working = true
		if !run.table.start(due, func(context.Context) { run.work(t, job{k, due}) }) {
			t.working, t.dead = false, true
			run.missed.Add(1)
		}
	}
}

// work does a step and those that fell due meanwhile.
func (run *lifecycleRun) work(t *thing, j job) {
	for {
		run.doStep(t, j)
		t.mu.Lock()
		if t.dead {
			run.skipped.Add(int64(len(t.queue)))
			t.queue = nil
		}
		if len(t.queue) == 0 {
			t.working = false
			t.mu.Unlock()
			return
		}
		j, t.queue = t.queue[0], t.queue[1:]
		t.mu.Unlock()
	}
}

func (run *lifecycleRun) doStep(t *thing, j job) {
	ctx, cancel := run.table.context(j.due)
	defer cancel()
	s := run.steps[j.step]
	// A thing stays on one server: its later writes must not find it missing
	// where a watch cache is behind.
	if err := s.do(ctx, run.d.client(t.index), t.name); err != nil {
		run.fails.add(fmt.Errorf("%s %s: %w", s.name, t.name, err))
		if j.step == 0 {
			t.mu.Lock()
			t.dead = true
			t.mu.Unlock()
		}
		return
	}
	delay := run.table.since(j.due)
	run.all.observe(delay)
	run.by[s.name].observe(delay)
	run.done.Add(1)
	if j.due+delay <= run.end {
		run.inTime.Add(1)
	}
	if j.step == len(run.steps)-1 {
		run.ended.Add(1)
	}
}

func (run *lifecycleRun) result(took time.Duration) *Result {
	r := &Result{Load: run.load, Seconds: took.Seconds(), Figures: slices.Clone(run.figures)}
	due, seconds := float64(run.due.Load()), run.end.Seconds()
	r.count("writes-due", run.due.Load())
	r.count("writes", run.done.Load())
	r.count("writes-failed", run.fails.total())
	r.count("writes-missed", run.missed.Load())
	r.count("writes-skipped", run.skipped.Load())
	r.count("begun", run.begun.Load())
	r.count("ended", run.ended.Load())
	r.put("writes-asked-per-second", scrape.PerSecond, run.perSecond*float64(len(run.steps)))
	// What came after the end was not kept up with.
	r.put("writes-per-second", scrape.PerSecond, float64(run.inTime.Load())/seconds)
	if due > 0 {
		r.put("achieved-ratio", "", float64(run.inTime.Load())/due)
	}
	r.delay("write", run.all)
	for name, l := range run.by {
		r.delay(name, l)
	}
	return r
}

// nameDigits end the name of every thing.
const nameDigits = 7

// numberOf a thing is the digits that its name ends in.
func numberOf(name string) int {
	n := 0
	for _, b := range name[len(name)-nameDigits:] {
		n = n*10 + int(b-'0')
	}
	return n
}
