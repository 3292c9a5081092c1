package rig

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Process is one program of the rig. Its methods are safe for concurrent use.
type Process struct {
	// Name is unique: "kube-apiserver@cp-1", the pod's name and the host's.
	Name string
	// Component is the program's name: "kube-apiserver" for every tier.
	Component string
	// Host is the host's name; empty for a process of Extra.
	Host string
	// Store is the store an etcd is a member of: "main" for etcd, "events" for
	// etcd-events. Empty for what is no etcd.
	Store string
	// Tier is the aggregated tier that a server of custom resources belongs to;
	// empty for everything else.
	Tier string
	// Image is what the manifest would run.
	Image string
	// Argv is what runs. Changes are its differences from the manifest, and
	// those of the files it reads.
	Argv    []string
	Changes []Change
	// MetricsURL is where it tells its metrics; Rig.HTTPClient asks there.
	// Empty for a process of Extra until the caller sets it.
	MetricsURL string
	// LogPath holds what it writes, of all its starts.
	LogPath string
	// ReadyURL is what Ready asks of a process of Extra, if anything. It takes
	// whatever certificate is shown there, as a kubelet does.
	ReadyURL string

	rig     *Rig
	env     []string
	dataDir string
	probes  probes
	grace   time.Duration
	// first and steady are the command lines of the first and of later starts
	// of a member of a store in memory; steady is empty when there is one only.
	first, steady command

	// op is held while the process is being started or stopped.
	op sync.Mutex
	mu sync.Mutex
	// run is the current or last start.
	run *run
	// wanted is false while the process is meant to be down.
	wanted   bool
	restarts int
}

// command is what runs, and its differences from a manifest.
type command struct {
	argv    []string
	changes []Change
}

// run is one start of a process.
type run struct {
	cmd     *exec.Cmd
	started time.Time
	// stopping is true once the rig has asked it to end.
	stopping bool
	// done is closed when it has ended, for the reason exit.
	done chan struct{}
	exit error
}

func (r *run) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// PID is the process id of the current or last start; 0 before the first.
func (p *Process) PID() int {
	if r := p.current(); r != nil {
		return r.cmd.Process.Pid
	}
	return 0
}

// Running reports whether the process is there.
func (p *Process) Running() bool {
	r := p.current()
	return r != nil && !r.ended()
}

// Restarts counts how often supervision has restarted the process.
func (p *Process) Restarts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.restarts
}

func (p *Process) current() *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run
}

func (p *Process) isWanted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wanted
}

func (p *Process) want(wanted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = wanted
}

// spawn starts the process; op is held.
func (p *Process) spawn() error {
	if p.rig.life.Err() != nil {
		return fmt.Errorf("%s: the rig is stopped", p.Name)
	}
	log, err := os.OpenFile(p.LogPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(p.Argv[0], p.Argv[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.Dir = p.env, log, log, p.rig.dir
	if err := p.rig.spawner.start(cmd); err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	r := &run{cmd: cmd, started: time.Now(), done: make(chan struct{})}
	p.mu.Lock()
	p.run, p.wanted = r, true
	p.mu.Unlock()
	go p.reap(r)
	return nil
}

// reap waits for the end of a start, and tells of one that nobody wanted.
func (p *Process) reap(r *run) {
	r.exit = r.cmd.Wait()
	p.mu.Lock()
	unwanted := !r.stopping
	p.mu.Unlock()
	close(r.done)
	if unwanted {
		p.rig.died(p, r)
	}
}

// halt ends the process, by force after grace; op is held.
func (p *Process) halt(grace time.Duration) {
	r := p.current()
	if r == nil || r.ended() {
		return
	}
	p.mu.Lock()
	r.stopping = true
	p.mu.Unlock()
	if grace > 0 {
		_ = r.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-r.done:
			return
		case <-time.After(grace):
		}
	}
	_ = r.cmd.Process.Kill()
	<-r.done
}

// Kill ends the process at once, as the loss of its host would. It stays down,
// under supervision too, until Restart.
func (p *Process) Kill() {
	p.op.Lock()
	defer p.op.Unlock()
	p.want(false)
	p.halt(0)
}

// Wipe ends an etcd at once and removes its data, as the loss of its host's
// memory or disk would. It stays down until Restart.
func (p *Process) Wipe() error {
	p.op.Lock()
	defer p.op.Unlock()
	if p.dataDir == "" {
		return fmt.Errorf("%s: no data directory to remove", p.Name)
	}
	if inside, err := filepath.Rel(p.rig.dir, p.dataDir); err != nil || !filepath.IsLocal(inside) || inside == "." {
		return fmt.Errorf("%s: its data directory %s is not below the rig's", p.Name, p.dataDir)
	}
	p.want(false)
	p.halt(0)
	if err := os.RemoveAll(p.dataDir); err != nil {
		return err
	}
	return os.MkdirAll(p.dataDir, 0o700)
}

// Restart ends the process if it is there, as a kubelet would, starts it and
// waits until it is ready. A member of a store in memory starts with the
// manifest that the rollout puts in place after the first start.
func (p *Process) Restart(ctx context.Context) error {
	p.op.Lock()
	p.want(false)
	p.halt(p.grace)
	if p.steady.argv != nil {
		p.Argv, p.Changes = p.steady.argv, p.steady.changes
	}
	err := p.spawn()
	p.op.Unlock()
	if err != nil {
		return err
	}
	return p.Ready(ctx)
}
