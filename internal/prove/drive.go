package prove

import (
	"fmt"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/prove/load"
)

// sessionStatusWrites and sessionCycles make a session of nine writes: created,
// suspended, resumed and destroyed, with a status write after each but the last
// and a second one while it runs.
const (
	sessionStatusWrites = 2
	sessionCycles       = 1
	// podStatusWrites is the low end of what a kubelet makes (2 to 5).
	podStatusWrites = 2
	// shardBytes of an object that shards watch, when the proof names no size.
	shardBytes = 1000
	// roleBytes is a Role of a few rules, as operators bring them.
	roleBytes = 600
	// listEvery is how often a client lists resident objects, all of them.
	listEvery = 10 * time.Second
	// objectSeconds is how long such a proof looks at the objects lying there.
	objectSeconds = 20
)

// duration is how long the steady load is measured.
func (d Demand) Duration() time.Duration {
	if d.Seconds == 0 {
		return objectSeconds * time.Second
	}
	return time.Duration(d.Seconds) * time.Second
}

// loads are the loads of a demand, through the servers of the options. Nodes
// talk to the apiservers of their tier, and everybody else to main's. With probe,
// a trickle of core calls feels what the rest does; it writes, so an idle cluster
// is measured without it.
func (d Demand) loads(main load.Options, nodes []*rest.Config, probe bool) ([]Step, error) {
	driver, err := load.NewDriver(main)
	if err != nil {
		return nil, err
	}
	through := driver
	if d.Kind == KindNodes {
		main.Servers = nodes
		if through, err = load.NewDriver(main); err != nil {
			return nil, err
		}
	}
	loads, err := d.demanded(driver, through, Place{})
	if err == nil && probe {
		loads = append(loads, Step{Load: &load.Probe{Driver: driver}})
	}
	return loads, err
}

// Place is where the objects of a load go; the zero one leaves it to the loads.
type Place struct {
	Namespace string
	// NodePrefix and NodeLabels are of hollow nodes.
	NodePrefix string
	NodeLabels map[string]string
}

// Step is a load. The objects of Kind that it prepares, Count of them, are
// weighed once they are there: the heap that each adds to an apiserver. None
// are when Count is 0.
type Step struct {
	load.Load
	Kind  string
	Count int
}

func (d Demand) demanded(driver, through *load.Driver, at Place) ([]Step, error) {
	switch d.Kind {
	case KindNodes:
		hollow := &load.Nodes{Driver: through, Count: d.Nodes, RenewedBy: d.NodesBy, Prefix: at.NodePrefix, Labels: at.NodeLabels}
		loads := []Step{{hollow, "node", d.Nodes}}
		if d.PodsPerSecond > 0 {
			loads = append(loads, Step{Load: &load.Pods{Driver: driver, PerSecond: d.PodsPerSecond, StatusWrites: podStatusWrites, Nodes: hollow.Names(), Namespace: at.Namespace}})
		}
		return loads, nil
	case KindCustomWrites:
		storm := &load.Churn{Driver: driver, Groups: d.groups(), Bytes: d.ObjectBytes, Cycles: sessionCycles, StatusWrites: sessionStatusWrites, Namespace: at.Namespace}
		storm.AtWrites(d.WritesPerSecond)
		return []Step{{Load: storm}}, nil
	case KindEvents:
		return []Step{{Load: &load.Events{Driver: driver, PerSecond: d.EventsPerSecond, Namespace: at.Namespace}}}, nil
	case KindLeaderElections:
		return []Step{{Load: &load.Elections{Driver: driver, Count: d.Elections, Namespace: at.Namespace}}}, nil
	case KindObjects:
		return d.resident(driver, at), nil
	case KindShards:
		return d.sharded(driver, at), nil
	}
	return nil, fmt.Errorf("no load of kind %q", d.Kind)
}

// resident is objects that lie still: custom ones, which are listed, and RBAC
// ones, which nobody but the authorizer reads.
func (d Demand) resident(driver *load.Driver, at Place) []Step {
	each := d.Objects / d.Groups
	loads := []Step{{&load.Objects{
		Driver: driver, Namespace: at.Namespace, Groups: d.groups(), ListEvery: listEvery / time.Duration(max(d.Listers, 1)), Custom: load.Set{Count: each, Bytes: d.ObjectBytes},
	}, "custom", each * d.Groups}}
	if d.RBACObjects > 0 {
		loads = append(loads, Step{&load.Objects{
			Driver: driver, Namespace: at.Namespace, Roles: load.Set{Count: d.RBACObjects, Bytes: roleBytes},
		}, "rbac", d.RBACObjects})
	}
	return loads
}

// sharded is objects that change, and watches that each take one part of them.
func (d Demand) sharded(driver *load.Driver, at Place) []Step {
	group := d.groups()[:1]
	objects := &load.Objects{
		Driver: driver, Namespace: at.Namespace, Groups: group, UpdatesPerSecond: d.WritesPerSecond,
		Custom: load.Set{Count: d.Objects, Bytes: max(d.ObjectBytes, shardBytes)},
	}
	return []Step{{Load: objects}, {Load: &load.Watchers{
		Driver: driver, Path: load.Dormants(group[0]).Path(), Count: 1, Shards: d.Shards,
	}}}
}
