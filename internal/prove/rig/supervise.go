package rig

import (
	"context"
	"time"
)

// The kubelet's delays before it starts a container again: none the first
// time, then from the first to the last, doubled each time, and anew for one
// that has run for long.
const (
	firstDelay = 10 * time.Second
	lastDelay  = 5 * time.Minute
	longRun    = 10 * time.Minute
)

// supervise watches a process as a kubelet would, until the rig is stopped.
func (r *Rig) supervise(p *Process) {
	r.watchers.Go(func() {
		w := &watcher{process: p, run: p.current(), up: true}
		for {
			select {
			case <-r.life.Done():
				return
			case <-w.ended():
			case <-time.After(w.pause()):
			}
			if r.life.Err() != nil {
				return
			}
			w.step(r.life)
		}
	})
}

// watcher is the state of one process under supervision.
type watcher struct {
	process *Process
	// run is the start that the fields below are about.
	run *run
	// up is true once its startup probe has succeeded.
	up       bool
	failures int
	// delay is how long to wait before the next start.
	delay time.Duration
}

// ended is the end of a start that is to be followed by another; never for one
// that is meant to be down, which is looked at again after a pause.
func (w *watcher) ended() <-chan struct{} {
	if w.run != nil && !w.run.ended() {
		return w.run.done
	}
	return nil
}

// probe is the one to ask now.
func (w *watcher) probe() *probe {
	if !w.up && w.process.probes.startup != nil {
		return w.process.probes.startup
	}
	return w.process.probes.live
}

// pause is how long to wait before the next step.
func (w *watcher) pause() time.Duration {
	ask := w.probe()
	if ask == nil || w.run == nil || w.run.ended() {
		return time.Second
	}
	if left := ask.delay - time.Since(w.run.started); left > 0 {
		return left
	}
	return ask.period
}

// step looks at the process once.
func (w *watcher) step(ctx context.Context) {
	p := w.process
	if current := p.current(); current != w.run {
		// Somebody else has restarted it.
		w.run, w.up, w.failures = current, p.probes.startup == nil, 0
		return
	}
	if w.run == nil || !p.isWanted() {
		w.failures = 0
		return
	}
	if w.run.ended() {
		w.restart(ctx, "it has ended: "+exitText(w.run))
		return
	}
	ask := w.probe()
	if ask == nil || time.Since(w.run.started) < ask.delay {
		return
	}
	err := ask.ask(ctx, probeClient())
	switch {
	case ctx.Err() != nil:
	case err == nil:
		w.failures, w.up = 0, true
	default:
		w.failures++
		if w.failures >= ask.failures {
			w.restart(ctx, "its probe has failed too often: "+err.Error())
		}
	}
}

// restart starts the process again, later each time that it did not last.
func (w *watcher) restart(ctx context.Context, why string) {
	p := w.process
	if time.Since(w.run.started) > longRun {
		w.delay = 0
	}
	p.rig.say("restarting %s in %s: %s", p.Name, w.delay, why)
	if !w.run.ended() {
		p.op.Lock()
		if p.current() == w.run && p.isWanted() {
			p.halt(p.grace)
		}
		p.op.Unlock()
	}
	select {
	case <-ctx.Done():
		return
	case <-time.After(w.delay):
	}
	w.delay = min(max(2*w.delay, firstDelay), lastDelay)
	p.op.Lock()
	defer p.op.Unlock()
	if p.current() != w.run || !p.isWanted() || ctx.Err() != nil {
		return
	}
	if err := p.spawn(); err != nil {
		p.rig.say("%v", err)
		return
	}
	p.mu.Lock()
	p.restarts++
	p.mu.Unlock()
	w.run, w.up, w.failures = p.current(), p.probes.startup == nil, 0
}
