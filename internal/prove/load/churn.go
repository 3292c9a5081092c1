package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/kubeseams/seams/internal/scrape"
)

// Churn is a load of sessions: custom resources that are created, suspended,
// resumed and destroyed at a set rate, with the status writes that a controller
// would make of each.
type Churn struct {
	Driver *Driver
	// Groups that the sessions are spread over in turn; none is Group.
	Groups []string
	// PerSecond is how many sessions begin in a second.
	PerSecond float64
	// Bytes of a session as created, as etcd stores it.
	Bytes int
	// Shape of the bytes; empty is Maps.
	Shape Shape
	// Cycles of suspend and resume in a life.
	Cycles int
	// StatusWrites follow each transition but the last.
	StatusWrites int
	// Pause between two writes of a session; 0 is 1 s. With the rate it sets how
	// many sessions there are.
	Pause time.Duration
	// Namespace of the sessions; empty is "prove-churn".
	Namespace string

	// KeepDefinitions leaves the definitions in place at the end.
	KeepDefinitions bool

	resources []Custom
	lifecycle *lifecycle
	bodies    [][]byte // by group, around the name
	kept      kept
}

// Name of the load.
func (c *Churn) Name() string { return "churn" }

// WritesPerSession is create and destroy, suspend and resume, and the status
// writes after each but destroy.
func (c *Churn) WritesPerSession() int {
	transitions := 1 + 2*c.Cycles
	return transitions*(1+c.StatusWrites) + 1
}

// AtWrites sets the rate of sessions from one of writes.
func (c *Churn) AtWrites(perSecond float64) {
	c.PerSecond = perSecond / float64(c.WritesPerSession())
}

// Resources are what the sessions are, by group.
func (c *Churn) Resources() []Custom {
	groups := c.Groups
	if len(groups) == 0 {
		groups = []string{Group}
	}
	out := make([]Custom, len(groups))
	for i, g := range groups {
		out[i] = Sessions(g)
	}
	return out
}

func (c *Churn) namespace() string {
	if c.Namespace == "" {
		return "prove-churn"
	}
	return c.Namespace
}

// Prepare defines the resources, finds the padding for the size, and creates the
// sessions that live when the clock starts.
func (c *Churn) Prepare(ctx context.Context) error {
	if c.PerSecond <= 0 {
		return errors.New("churn needs a rate")
	}
	c.resources = c.Resources()
	if err := c.Driver.ensureNamespace(ctx, c.namespace()); err != nil {
		return err
	}
	for _, r := range c.resources {
		if err := c.Driver.define(ctx, r); err != nil {
			return err
		}
	}
	c.lifecycle = &lifecycle{
		d: c.Driver, load: c.Name(), perSecond: c.PerSecond, pause: orDefault(c.Pause, time.Second), prefix: "session",
	}
	if err := c.fit(ctx); err != nil {
		return err
	}
	c.lifecycle.steps = c.steps()
	return c.lifecycle.stand(ctx)
}

// fit makes one body for each group; sessions differ by name only, so that the
// driver spends its processor on calls.
func (c *Churn) fit(ctx context.Context) error {
	name := c.lifecycle.thing(0, 0).name
	r := c.Driver.random(c.Name())
	c.bodies = nil
	for _, resource := range c.resources {
		pad := 0
		if c.Bytes > 0 {
			var stored int
			var err error
			pad, stored, err = c.Driver.fitCustom(ctx, resource, c.Shape, c.Name(), c.namespace(), name, c.Bytes)
			if err != nil {
				return err
			}
			c.lifecycle.figures = []scrape.Figure{{Name: "object-bytes", Value: float64(stored), Unit: scrape.Bytes}}
		}
		body, err := json.Marshal(customSpec{Desired: "Running", Content: c.Shape.fill(r, pad)})
		if err != nil {
			return err
		}
		c.bodies = append(c.bodies, body)
	}
	return nil
}

// steps of a session's life.
func (c *Churn) steps() []step {
	steps := []step{{"create", c.create}}
	status := func(phase string) {
		for n := range c.StatusWrites {
			steps = append(steps, step{"status", c.patchStatus(phase, n)})
		}
	}
	status("Running")
	for range c.Cycles {
		steps = append(steps, step{"suspend", c.patchSpec("Suspended")})
		status("Suspended")
		steps = append(steps, step{"resume", c.patchSpec("Running")})
		status("Running")
	}
	return append(steps, step{"destroy", c.destroy})
}

// resource of a session: in turn, by its number.
func (c *Churn) resource(name string) int { return numberOf(name) % len(c.resources) }

func (c *Churn) create(ctx context.Context, to *client, name string) error {
	i := c.resource(name)
	r := c.resources[i]
	body, err := json.Marshal(struct {
		APIVersion string          `json:"apiVersion"`
		Kind       string          `json:"kind"`
		Metadata   objectNames     `json:"metadata"`
		Spec       json.RawMessage `json:"spec"`
	}{r.Group + "/" + CustomVersion, r.Kind, objectNames{name, c.namespace(), map[string]string{loadLabel: c.Name()}}, c.bodies[i]})
	if err != nil {
		return err
	}
	if err := to.createCustom(ctx, r, c.namespace(), body); err != nil {
		return err
	}
	c.kept.add(r.key(c.namespace(), name))
	return nil
}

// Kept are the sessions that were created and not destroyed.
func (c *Churn) Kept() []string { return c.kept.sorted() }

const mergePatch = "application/merge-patch+json"

func (c *Churn) patchSpec(desired string) func(context.Context, *client, string) error {
	body := fmt.Appendf(nil, `{"spec":{"desired":%q}}`, desired)
	return func(ctx context.Context, to *client, name string) error {
		path := c.resources[c.resource(name)].path(c.namespace(), name)
		return to.call(ctx, http.MethodPatch, path, mergePatch, body, nil).Error()
	}
}

// patchStatus writes a status that differs from the one before: a write that
// changes nothing does not reach etcd.
func (c *Churn) patchStatus(phase string, n int) func(context.Context, *client, string) error {
	return func(ctx context.Context, to *client, name string) error {
		body := fmt.Appendf(nil, `{"status":{"phase":%q,"step":%d,"at":%q}}`, phase, n, time.Now().UTC().Format(time.RFC3339Nano))
		path := c.resources[c.resource(name)].path(c.namespace(), name, "status")
		return to.call(ctx, http.MethodPatch, path, mergePatch, body, nil).Error()
	}
}

func (c *Churn) destroy(ctx context.Context, to *client, name string) error {
	r := c.resources[c.resource(name)]
	c.kept.drop(r.key(c.namespace(), name))
	return to.call(ctx, http.MethodDelete, r.path(c.namespace(), name), "", nil, nil).Error()
}

// Run drives the sessions for d.
func (c *Churn) Run(ctx context.Context, d time.Duration) (*Result, error) {
	if c.lifecycle == nil {
		return nil, errors.New("churn is not prepared")
	}
	return c.lifecycle.run(ctx, d)
}

// Cleanup deletes the sessions that are left, and the definitions.
func (c *Churn) Cleanup(ctx context.Context) error {
	c.kept.clear()
	for _, r := range c.Resources() {
		if err := c.Driver.sweep(ctx, c.Name(), r.path(c.namespace())); err != nil {
			return err
		}
		if c.KeepDefinitions {
			continue
		}
		if err := c.Driver.undefine(ctx, r); err != nil {
			return err
		}
	}
	return c.Driver.dropNamespace(ctx, c.namespace())
}
