package rig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubeseams/seams/internal/binaries"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/pki"
	"github.com/kubeseams/seams/internal/target"
)

// Options are what a rig is started with.
type Options struct {
	// Files are rendered for static pods.
	Files []file.File
	// Bin has the programs that the manifests name.
	Bin binaries.Set
	// Dir is where the rig makes a directory of its own; empty means the
	// system's directory for temporary files. etcds write there.
	Dir string
	// Keep leaves the logs behind when the rig is stopped.
	Keep bool
	// Supervise restarts a process that ends or whose liveness probe fails, as
	// a kubelet would: by the numbers of the manifest.
	Supervise bool
	// Log gets a line for each thing that happens; nil means nowhere.
	Log io.Writer
}

// Rig is a control plane that runs. Stop has to be called.
type Rig struct {
	options Options
	dir     string
	hosts   []Host
	tiers   []tier
	held    *reservation
	spawner *spawner
	pki     *pki.Cluster
	admin   pki.Pair

	// life ends with Stop.
	life context.Context
	end  context.CancelFunc
	// watchers are the goroutines of supervision.
	watchers sync.WaitGroup

	mu        sync.Mutex
	processes []*Process
	keep      bool
	stopped   bool
}

// Start brings up what the files say, and returns when all of it is ready:
// the etcds first, then the apiservers, then the aggregated servers, once their
// objects are applied, then the rest. When that fails, or ctx
// ends before, everything is stopped again; the logs are kept and the error
// names their directory, unless ctx was canceled.
func Start(ctx context.Context, options Options) (*Rig, error) {
	if err := supported(); err != nil {
		return nil, err
	}
	m, err := readManifests(options.Files)
	if err != nil {
		return nil, err
	}
	hosts, err := hostsOf(m.pods)
	if err != nil {
		return nil, err
	}
	if err := programs(m.pods, options.Bin); err != nil {
		return nil, err
	}
	tiers, err := tiersOf(options.Files)
	if err != nil {
		return nil, err
	}
	held, err := reserve(hosts, portsOf(m.pods))
	if err != nil {
		return nil, err
	}
	dir, err := newDir(options.Dir)
	if err != nil {
		held.release()
		return nil, err
	}
	r := &Rig{options: options, dir: dir, hosts: hosts, tiers: tiers, held: held, spawner: newSpawner(), keep: options.Keep}
	r.life, r.end = context.WithCancel(context.Background())
	if err := r.up(ctx, m); err != nil {
		err = r.Blame(ctx, fmt.Errorf("control plane: %w", err))
		r.Stop()
		return nil, err
	}
	return r, nil
}

// Blame has Stop leave the logs behind for whoever looks for the reason of an
// error, and names them in it. Somebody who interrupts, and so cancels ctx, looks
// for none, and wants nothing left.
func (r *Rig) Blame(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	r.KeepLogs()
	return fmt.Errorf("%w\nlogs are kept in %s", err, r.LogDir())
}

// newDir makes the rig's directory, for the owner only since it holds keys.
func newDir(parent string) (string, error) {
	if parent != "" {
		var err error
		if parent, err = filepath.Abs(parent); err != nil {
			return "", err
		}
		if err := os.MkdirAll(parent, 0o755); err != nil {
			return "", err
		}
	}
	dir, err := os.MkdirTemp(parent, "seams-rig-")
	if err != nil {
		return "", err
	}
	for _, sub := range []string{"logs", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return dir, nil
}

// programs is an error that names every program the set lacks.
func programs(pods []pod, bin binaries.Set) error {
	var missing []string
	for _, p := range pods {
		if name := p.argv[0]; bin.Path(name) == "" && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the manifests run %s, which the set of programs lacks", strings.Join(missing, ", "))
	}
	return nil
}

// up puts files in place and starts everything in order.
func (r *Rig) up(ctx context.Context, m manifests) error {
	if err := r.prepare(m); err != nil {
		return err
	}
	began := time.Now()
	for i, phase := range phases(r.processes) {
		if i == tierPhase {
			if err := r.prepareTiers(ctx); err != nil {
				return err
			}
		}
		if len(phase) == 0 {
			continue
		}
		started := time.Now()
		if err := r.startAll(ctx, phase); err != nil {
			return err
		}
		r.say("ready in %s: %s", time.Since(started).Round(100*time.Millisecond), names(phase))
	}
	r.say("control plane ready in %s at %s0/24, in %s", time.Since(began).Round(100*time.Millisecond), r.held.prefix, r.dir)
	if r.options.Supervise {
		for _, p := range r.processes {
			r.supervise(p)
		}
	}
	return nil
}

// tierPhase is the one of the aggregated servers.
const tierPhase = 2

// phases are the processes in the order of starting. An apiserver that starts
// before its stores have a majority ends, and its clients wait for it.
func phases(processes []*Process) [][]*Process {
	var etcds, apiservers, tiers, rest []*Process
	for _, p := range processes {
		switch {
		case p.Store != "":
			etcds = append(etcds, p)
		case p.Tier != "":
			tiers = append(tiers, p)
		case p.Component == target.KubeAPIServer:
			apiservers = append(apiservers, p)
		default:
			rest = append(rest, p)
		}
	}
	return [][]*Process{etcds, apiservers, tiers, rest}
}

// startAll starts processes together and waits until all are ready. The first
// failure ends the wait, and is the one that is told.
func (r *Rig) startAll(ctx context.Context, processes []*Process) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for _, p := range processes {
		p.op.Lock()
		err := p.spawn()
		p.op.Unlock()
		if err != nil {
			return err
		}
	}
	var wait sync.WaitGroup
	for _, p := range processes {
		wait.Go(func() {
			if err := p.Ready(ctx); err != nil {
				cancel(err)
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

func names(processes []*Process) string {
	var list []string
	for _, p := range processes {
		list = append(list, p.Name)
	}
	return strings.Join(list, ", ")
}

// died tells of a process that ended though it was wanted.
func (r *Rig) died(p *Process, run *run) {
	r.KeepLogs()
	r.say("%s ended by itself after %s: %v", p.Name, time.Since(run.started).Round(time.Second), exitText(run))
}

func exitText(run *run) string {
	if run.exit == nil {
		return "exit status 0"
	}
	return run.exit.Error()
}

// KeepLogs has Stop leave the logs behind.
func (r *Rig) KeepLogs() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep = true
}

// LogDir holds the logs of all processes.
func (r *Rig) LogDir() string { return filepath.Join(r.dir, "logs") }

// Dir is the rig's directory. Whoever puts files there has them removed by Stop.
func (r *Rig) Dir() string { return r.dir }

func (r *Rig) say(format string, args ...any) {
	if r.options.Log == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.options.Log, format+"\n", args...)
}

// Processes are all processes, in the order of the files, those of Extra last.
func (r *Rig) Processes() []*Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.processes)
}

// Process is the process of a name, or nil.
func (r *Rig) Process(name string) *Process {
	for _, p := range r.Processes() {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Hosts are the control-plane hosts by name.
func (r *Rig) Hosts() []Host { return slices.Clone(r.hosts) }

// Spare is an address of the rig's range that no host has, for what Extra runs.
func (r *Rig) Spare() string { return r.held.address(spareHost) }

// PKI signs further certificates of the same cluster.
func (r *Rig) PKI() *pki.Cluster { return r.pki }
