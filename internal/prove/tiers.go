package prove

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/prove/rig"
)

// definers are the servers that take the definitions of a load's groups, of
// those that an aggregated tier has.
func (d Demand) definers(control *rig.Rig) map[string]*rest.Config {
	servers := map[string]*rest.Config{}
	for _, c := range d.Custom() {
		if tier, ok := control.TierOf(c.Group); ok {
			servers[c.Group] = control.TierConfig(tier)
		}
	}
	return servers
}

// enter has the aggregated tiers serve the load's custom resources, in the order
// of the rollout: the definition in the tier, without which it does not know the
// version, then the rendered APIServices. None is made in the main server, where
// the resources are stored when no tier has them.
func (r *runner) enter(ctx context.Context, control *rig.Rig) error {
	definers := r.demand.definers(control)
	if len(definers) == 0 {
		return nil
	}
	driver, err := load.NewDriver(load.Options{Servers: tiers(control)[mainTier], Definers: definers, Connections: 1, Seed: seed})
	if err != nil {
		return err
	}
	var versions []schema.GroupVersion
	for _, c := range r.demand.Custom() {
		if definers[c.Group] == nil {
			continue
		}
		r.say("defining %s in its tier", c.Name())
		if err := driver.Define(ctx, c); err != nil {
			return err
		}
		versions = append(versions, schema.GroupVersion{Group: c.Group, Version: load.CustomVersion})
	}
	if err := control.Register(ctx, versions...); err != nil {
		return fmt.Errorf("send %d groups to their tiers: %w", len(versions), err)
	}
	return nil
}
