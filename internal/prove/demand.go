package prove

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/yamltext"
)

// The kinds of load that a proof can name.
const (
	KindNodes           = "nodes"
	KindCustomWrites    = "custom-writes"
	KindEvents          = "events"
	KindLeaderElections = "leader-elections"
	KindObjects         = "objects"
	KindShards          = "shards"
)

// Demand is the load of a proof; #Proof's load in CUE. Which fields a kind has
// is in kinds.
type Demand struct {
	Kind string `json:"kind"`
	// Seconds of steady load that is measured.
	Seconds int `json:"seconds,omitempty"`
	// Nodes that are hollow: they renew leases and report status, and run nothing.
	Nodes int `json:"nodes,omitempty"`
	// PodsPerSecond created and deleted.
	PodsPerSecond float64 `json:"podsPerSecond,omitempty"`
	// Through is the tier of apiservers that nodes talk to; empty is main.
	Through string `json:"through,omitempty"`
	// Groups of custom resources, one resource each.
	Groups          int     `json:"groups,omitempty"`
	WritesPerSecond float64 `json:"writesPerSecond,omitempty"`
	EventsPerSecond float64 `json:"eventsPerSecond,omitempty"`
	// ObjectBytes is the size of one object as stored, in bytes.
	ObjectBytes int `json:"objectBytes,omitempty"`
	// Objects that are created and then left alone.
	Objects int `json:"objects,omitempty"`
	// RBACObjects are roles and bindings that are created as well.
	RBACObjects int `json:"rbacObjects,omitempty"`
	// Listers are clients that list the custom objects, each every 10 s; 0 is one
	// that nobody counts on: a resource of few listers may leave a watch cache.
	Listers int `json:"listers,omitempty"`
	// LayoutTimes is for how many times the objects, or the rate of writes, the
	// layout is rendered: what a rung does with more than this machine can take. 0
	// is once.
	LayoutTimes int `json:"layoutTimes,omitempty"`
	// Apiservers, each on a host of its own.
	Apiservers int `json:"apiservers,omitempty"`
	Elections  int `json:"elections,omitempty"`
	// NodesBy is who renews the Leases of nodes; empty is the driver. A run
	// chooses it, never a proof.
	NodesBy load.Renewer `json:"nodesBy,omitempty"`
	Shards  int          `json:"shards,omitempty"`
}

// kinds lists what a kind must have and may have besides.
var kinds = map[string]struct{ must, may []string }{
	KindNodes:           {[]string{"nodes", "seconds"}, []string{"podsPerSecond", "through", "apiservers"}},
	KindCustomWrites:    {[]string{"writesPerSecond", "objectBytes", "seconds"}, []string{"groups", "layoutTimes", "apiservers"}},
	KindEvents:          {[]string{"eventsPerSecond", "seconds"}, []string{"apiservers"}},
	KindLeaderElections: {[]string{"elections", "seconds"}, []string{"apiservers"}},
	KindObjects:         {[]string{"objects", "objectBytes"}, []string{"groups", "rbacObjects", "listers", "layoutTimes", "apiservers"}},
	KindShards:          {[]string{"objects", "shards", "seconds", "writesPerSecond"}, []string{"objectBytes", "apiservers"}},
}

// demandOf reads a proof's load. Errors: every parameter that is unknown,
// missing, of another type or not above zero, all at once.
func demandOf(p *recipe.Proof) (Demand, error) {
	kind, _ := p.Load["kind"].(string)
	params, ok := kinds[kind]
	if !ok {
		return Demand{}, fmt.Errorf("load.kind: want one of %s; got %v", strings.Join(slices.Sorted(maps.Keys(kinds)), ", "), p.Load["kind"])
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(p.Load)) {
		if name != "kind" && !slices.Contains(params.must, name) && !slices.Contains(params.may, name) {
			errs = append(errs, fmt.Errorf("load.%s: a load of kind %s has %s", name, kind,
				strings.Join(slices.Concat(params.must, params.may), ", ")))
			continue
		}
		if n, isNumber := yamltext.Number(p.Load[name]); isNumber && !(n > 0) {
			errs = append(errs, fmt.Errorf("load.%s: want more than 0", name))
		}
	}
	for _, name := range params.must {
		if _, ok := p.Load[name]; !ok {
			errs = append(errs, fmt.Errorf("load.%s: a load of kind %s needs it", name, kind))
		}
	}
	var d Demand
	data, err := json.Marshal(p.Load)
	if err == nil {
		err = json.Unmarshal(data, &d)
	}
	if err != nil {
		errs = append(errs, fmt.Errorf("load: %w", err))
	}
	d.Groups, d.Apiservers = max(d.Groups, 1), max(d.Apiservers, 1)
	return d, errors.Join(errs...)
}

// rendered is the demand that the layout is rendered for.
func (d Demand) rendered() Demand {
	d.Objects *= max(d.LayoutTimes, 1)
	d.WritesPerSecond *= float64(max(d.LayoutTimes, 1))
	return d
}

// scaled multiplies how much there is of everything, and not how large one is,
// how long it takes, or how many processes there are.
func (d Demand) scaled(f float64) Demand {
	whole := func(n *int) {
		if *n > 0 {
			*n = max(1, int(math.Round(float64(*n)*f)))
		}
	}
	for _, n := range []*int{&d.Nodes, &d.Objects, &d.RBACObjects, &d.Elections} {
		whole(n)
	}
	d.PodsPerSecond *= f
	d.WritesPerSecond *= f
	d.EventsPerSecond *= f
	return d
}
