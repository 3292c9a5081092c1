package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	core "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubeseams/seams/internal/scrape"
)

// Pods is a load of Pods that live briefly: created, bound to a node by the API
// as a scheduler does, their status written as a kubelet does, and deleted
// without grace.
type Pods struct {
	Driver *Driver
	// PerSecond is how many Pods begin in a second.
	PerSecond float64
	// Bytes of a Pod as created, as etcd stores it; 0 is as small as they come.
	Bytes int
	// StatusWrites of each; a kubelet makes 2 to 5.
	StatusWrites int
	// Pause between two writes of a Pod; 0 is 1 s.
	Pause time.Duration
	// Nodes that Pods are bound to in turn; without any they stay unbound.
	Nodes []string
	// Namespace of the Pods; empty is "prove-pods".
	Namespace string

	lifecycle *lifecycle
	pad       string
}

// Name of the load.
func (p *Pods) Name() string { return "pods" }

// WritesPerPod is create, bind, status writes and delete.
func (p *Pods) WritesPerPod() int {
	n := 2 + p.StatusWrites
	if len(p.Nodes) > 0 {
		n++
	}
	return n
}

func (p *Pods) namespace() string {
	if p.Namespace == "" {
		return "prove-pods"
	}
	return p.Namespace
}

func (p *Pods) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: p.namespace(), Labels: map[string]string{loadLabel: p.Name()}}
}

// Prepare finds the padding for the size, and creates the Pods that live when
// the clock starts.
func (p *Pods) Prepare(ctx context.Context) error {
	if p.PerSecond <= 0 {
		return errors.New("pods need a rate")
	}
	if err := p.Driver.ensureNamespace(ctx, p.namespace()); err != nil {
		return err
	}
	l := &lifecycle{d: p.Driver, load: p.Name(), perSecond: p.PerSecond, pause: orDefault(p.Pause, time.Second), prefix: "pod"}
	if p.Bytes > 0 {
		pad, stored, err := p.Driver.fitBuiltin(ctx, pods(), p.meta(l.thing(0, 0).name), p.Bytes)
		if err != nil {
			return err
		}
		p.pad = text(p.Driver.random(p.Name()), pad)
		l.figures = []scrape.Figure{{Name: "object-bytes", Value: float64(stored), Unit: scrape.Bytes}}
	}
	l.steps = p.steps()
	p.lifecycle = l
	return l.stand(ctx)
}

func (p *Pods) steps() []step {
	steps := []step{{"create", p.create}}
	if len(p.Nodes) > 0 {
		steps = append(steps, step{"bind", p.bind})
	}
	for range p.StatusWrites {
		steps = append(steps, step{"status", p.status})
	}
	return append(steps, step{"delete", p.remove})
}

func (p *Pods) create(ctx context.Context, c *client, name string) error {
	b := pods()
	_, err := b.create(ctx, c.core, b.make(p.meta(name), p.pad), metav1.CreateOptions{})
	return err
}

func (p *Pods) bind(ctx context.Context, c *client, name string) error {
	node := p.Nodes[numberOf(name)%len(p.Nodes)]
	return c.core.bind(ctx, &core.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: p.namespace()},
		Target:     core.ObjectReference{Kind: "Node", Name: node},
	})
}

// status differs each time by its clock, so that each is stored.
func (p *Pods) status(ctx context.Context, c *client, name string) error {
	body := fmt.Appendf(nil, `{"status":{"phase":"Running","message":%q,"conditions":[{"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":%q}]}}`,
		time.Now().UTC().Format(time.RFC3339Nano), time.Now().UTC().Format(time.RFC3339))
	_, err := c.core.pods(p.namespace()).Patch(ctx, name, types.StrategicMergePatchType, body, metav1.PatchOptions{}, "status")
	return err
}

func (p *Pods) remove(ctx context.Context, c *client, name string) error {
	now := int64(0)
	return c.core.pods(p.namespace()).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now})
}

// Run drives the Pods for d.
func (p *Pods) Run(ctx context.Context, d time.Duration) (*Result, error) {
	if p.lifecycle == nil {
		return nil, errors.New("pods are not prepared")
	}
	return p.lifecycle.run(ctx, d)
}

// Cleanup deletes the Pods that are left, and the namespace.
func (p *Pods) Cleanup(ctx context.Context) error {
	if err := p.Driver.sweep(ctx, p.Name(), pods().path(p.namespace())); err != nil {
		return err
	}
	return p.Driver.dropNamespace(ctx, p.namespace())
}
