package rig

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// stopGrace is what a process gets to end by itself when the rig is stopped:
// nothing of it is needed afterwards.
const stopGrace = 5 * time.Second

// Stop ends everything in reverse order and removes the rig's directory, but
// for the logs when they are to be kept. It may be called more than once.
func (r *Rig) Stop() {
	r.mu.Lock()
	if r.stopped {
		r.mu.Unlock()
		return
	}
	r.stopped = true
	processes := slices.Clone(r.processes)
	r.mu.Unlock()
	r.end()
	r.watchers.Wait()
	all := phases(processes)
	slices.Reverse(all)
	for _, phase := range all {
		var wait sync.WaitGroup
		for _, p := range phase {
			wait.Go(func() {
				p.op.Lock()
				defer p.op.Unlock()
				p.want(false)
				p.halt(stopGrace)
			})
		}
		wait.Wait()
	}
	r.spawner.close()
	r.held.release()
	r.remove()
}

// remove removes the rig's directory, or all of it but the logs.
func (r *Rig) remove() {
	r.mu.Lock()
	keep := r.keep
	r.mu.Unlock()
	if !keep {
		if err := os.RemoveAll(r.dir); err != nil {
			r.say("not removed: %v", err)
		}
		return
	}
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		r.say("not removed: %v", err)
	}
	for _, e := range entries {
		if e.Name() == "logs" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(r.dir, e.Name())); err != nil {
			r.say("not removed: %v", err)
		}
	}
	r.say("logs are kept in %s", r.LogDir())
}
