package prove

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/prove/rig"
	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/scrape"
)

// settle is how long a control plane is left alone between what prepares a
// load and the first look at it: caches fill and queues run empty. When nodes
// come, the controller of their lifecycle writes 3.3 times for each (measured:
// labels, a taint that goes, an Event), 20 times a second at most, which is
// upstream's --kube-api-qps. nodesPerSecond is that with some room.
const (
	settle         = 5 * time.Second
	settleNodes    = 20 * time.Second
	nodesPerSecond = 5
)

// loads are the demand's against a control plane.
func (r *runner) loads(control *rig.Rig) ([]Step, error) {
	options := load.Options{Servers: tiers(control)[mainTier], Definers: r.demand.definers(control), Seed: seed, Progress: r.Progress}
	return r.demand.loads(options, r.through(control), Probed(r.Rung))
}

// through are the apiservers that nodes talk to.
func (r *runner) through(control *rig.Rig) []*rest.Config {
	byTier := tiers(control)
	if through := byTier[r.demand.Through]; through != nil {
		return through
	}
	return byTier[mainTier] // the stock layout has no tier for nodes
}

// tiers are the apiservers by tier.
func tiers(control *rig.Rig) map[string][]*rest.Config {
	byTier := map[string][]*rest.Config{}
	for _, p := range control.Processes() {
		if p.Component == "kube-apiserver" && p.Tier == "" {
			byTier[tierOf(p)] = append(byTier[tierOf(p)], control.Config(p.Name))
		}
	}
	return byTier
}

// Probed reports whether a rung's proof asks what core calls feel.
func Probed(r recipe.Rung) bool {
	return slices.ContainsFunc(r.Proof.Limits, func(l recipe.ProofLimit) bool { return strings.HasPrefix(l.Metric, "core-") })
}

// driven is what a run of the loads left to be read.
type driven struct {
	seen    *Observer
	results []*load.Result
	ledger  *ledger
}

// drive prepares the loads, runs them and looks at every process before and
// after.
func (r *runner) drive(ctx context.Context, control *rig.Rig, loads []Step) (*driven, error) {
	seen, err := newObserver(control)
	if err != nil {
		return nil, err
	}
	if err := seen.collect(ctx, func(w *watched, s *scrape.Snapshot) { w.base = s }); err != nil {
		return nil, err
	}
	out := &driven{seen: seen}
	if out.ledger, err = openLedger(ctx, control, r.demand); err != nil {
		return nil, err
	}
	if err := r.prepare(ctx, seen, loads); err != nil {
		return nil, err
	}
	if err := Pause(ctx, r.demand.Settle()); err != nil {
		return nil, err
	}
	if err := seen.Before(ctx); err != nil {
		return nil, err
	}
	r.say("driving it for %s", r.demand.Duration())
	var all []load.Load
	for _, l := range loads {
		all = append(all, l.Load)
	}
	if out.results, err = load.Together(ctx, r.demand.Duration(), all...); err != nil {
		return nil, err
	}
	if err := seen.After(ctx); err != nil {
		return nil, err
	}
	if err := out.ledger.close(ctx); err != nil {
		return nil, err
	}
	return out, seen.collect(ctx, func(w *watched, s *scrape.Snapshot) { w.settled = s })
}

// prepare prepares the loads one after another, and weighs what they made.
func (r *runner) prepare(ctx context.Context, seen *Observer, loads []Step) error {
	for _, l := range loads {
		r.say("preparing %s", l.Name())
		if err := l.Prepare(ctx); err != nil {
			return fmt.Errorf("prepare %s: %w", l.Name(), err)
		}
		if l.Count > 0 {
			if err := seen.weigh(ctx, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// Pause waits; it ends early, with the context's error, when the context does.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
