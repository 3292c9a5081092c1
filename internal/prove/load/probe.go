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

// ProbeCallsPerSecond is the rate of a Probe that has none of its own.
const ProbeCallsPerSecond = 10.0

// Probe is a trickle of calls to the core API, in a fixed mix: what everybody
// else feels of a storm.
type Probe struct {
	Driver *Driver
	// PerSecond is calls of all kinds together; 0 is ProbeCallsPerSecond.
	PerSecond float64
	// ListLimit is the page of the node list; 0 is 500.
	ListLimit int64
	// Namespace of the probe's objects; empty is "prove-probe".
	Namespace string

	ready bool
	runs  int
}

// Name of the load.
func (p *Probe) Name() string { return "probe" }

func (p *Probe) namespace() string {
	if p.Namespace == "" {
		return "prove-probe"
	}
	return p.Namespace
}

// probed is one kind of call; n counts its calls in the run.
type probed struct {
	name  string
	write bool
	do    func(ctx context.Context, c *client, n int) error

	delays *delays
	n      int
}

const probeMap = "probe"

// kinds of calls, made in turn. A Pod is deleted half a round after it was
// created.
func (p *Probe) kinds() []*probed {
	ns := p.namespace()
	return []*probed{
		{name: "get-configmap", do: func(ctx context.Context, c *client, _ int) error {
			_, err := c.core.configMaps(ns).Get(ctx, probeMap, metav1.GetOptions{})
			return err
		}},
		{name: "put-configmap", write: true, do: func(ctx context.Context, c *client, n int) error {
			_, err := c.core.configMaps(ns).Update(ctx, p.configMap(n), metav1.UpdateOptions{})
			return err
		}},
		{name: "post-pod", write: true, do: func(ctx context.Context, c *client, n int) error {
			b := pods()
			_, err := b.create(ctx, c.core, b.make(p.meta(p.pod(n)), ""), metav1.CreateOptions{})
			return err
		}},
		{name: "list-nodes", do: func(ctx context.Context, c *client, _ int) error {
			limit := p.ListLimit
			if limit <= 0 {
				limit = 500
			}
			_, err := c.core.nodes().List(ctx, metav1.ListOptions{Limit: limit})
			return err
		}},
		{name: "delete-pod", write: true, do: func(ctx context.Context, c *client, n int) error {
			now := int64(0)
			err := c.core.pods(ns).Delete(ctx, p.pod(n), metav1.DeleteOptions{GracePeriodSeconds: &now})
			// Its creation may still be under way, when creations are slow.
			return ignoreNotFound(err)
		}},
	}
}

func (p *Probe) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: p.namespace(), Labels: map[string]string{loadLabel: p.Name()}}
}

func (p *Probe) pod(n int) string { return fmt.Sprintf("probe-%d-%06d", p.runs, n) }

// configMap without a resourceVersion overwrites what is there; the content
// changes, or etcd would not be written.
func (p *Probe) configMap(n int) *core.ConfigMap {
	return &core.ConfigMap{ObjectMeta: p.meta(probeMap), Data: map[string]string{"content": fmt.Sprintf("%d-%d", p.runs, n)}}
}

// Prepare creates the ConfigMap that is read and written.
func (p *Probe) Prepare(ctx context.Context) error {
	if err := p.Driver.ensureNamespace(ctx, p.namespace()); err != nil {
		return err
	}
	_, err := p.Driver.client(0).core.configMaps(p.namespace()).Create(ctx, p.configMap(-1), metav1.CreateOptions{})
	if err = ignoreExists(err); err != nil {
		return fmt.Errorf("create the probe's ConfigMap: %w", err)
	}
	p.ready = true
	return nil
}

// Run makes the calls for d.
func (p *Probe) Run(ctx context.Context, d time.Duration) (*Result, error) {
	if !p.ready {
		return nil, errors.New("the probe is not prepared")
	}
	p.runs++
	kinds, reads, writes := p.kinds(), newDelays(), newDelays()
	for _, k := range kinds {
		k.delays = newDelays()
	}
	var fails failures
	var due, done, missed atomic.Int64
	table := p.Driver.timetable()
	interval := time.Duration(float64(time.Second) / orDefault(p.PerSecond, ProbeCallsPerSecond))
	table.every(0, interval, func(i int, at time.Duration) {
		due.Add(1)
		k := kinds[i%len(kinds)]
		n := k.n
		k.n++
		started := table.start(at, func(ctx context.Context) {
			if err := k.do(ctx, p.Driver.client(i), n); err != nil {
				fails.add(fmt.Errorf("%s: %w", k.name, err))
				return
			}
			delay := table.since(at)
			k.delays.observe(delay)
			done.Add(1)
			if k.write {
				writes.observe(delay)
			} else if k.name == "get-configmap" {
				reads.observe(delay) // the objective for lists is another one
			}
		})
		if !started {
			missed.Add(1)
		}
	})
	saturation := p.Driver.watchSaturation()
	began := time.Now()
	err := table.run(ctx, d, func(at time.Duration) {
		p.Driver.progress(Progress{p.Name(), "run", int(at.Seconds()), int(d.Seconds())})
	})
	r := &Result{Load: p.Name(), Seconds: time.Since(began).Seconds()}
	r.count("core-calls-due", due.Load())
	r.count("core-calls", done.Load())
	r.count("core-calls-failed", fails.total())
	r.count("core-calls-missed", missed.Load())
	r.put("core-calls-per-second", scrape.PerSecond, float64(done.Load())/d.Seconds())
	r.delay("core-read", reads)
	r.delay("core-write", writes)
	for _, k := range kinds {
		r.delay("core-"+k.name, k.delays)
	}
	saturation.judge(r, table)
	return r.finish(p.Driver, &fails), err
}

// Cleanup deletes the probe's objects.
func (p *Probe) Cleanup(ctx context.Context) error {
	for _, b := range []builtin{pods(), configMaps()} {
		if err := p.Driver.sweep(ctx, p.Name(), b.path(p.namespace())); err != nil {
			return err
		}
	}
	return p.Driver.dropNamespace(ctx, p.namespace())
}
