package kind

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/profile"
)

// Localise gives the plan as it is inside kind: the hosts are node containers,
// which reach each other by name on the container network, and kind decides
// the endpoints. Everything else is the plan's.
func Localise(p *plan.Plan) *plan.Plan {
	local := *p
	names := map[string]string{}
	local.ControlPlane.Hosts = nil
	for i, h := range p.ControlPlane.Hosts {
		name := nodeName(p.Name, i)
		names[h.Name] = name
		local.ControlPlane.Hosts = append(local.ControlPlane.Hosts, profile.Host{Name: name, Address: name})
	}
	local.ControlPlane.Endpoint, local.ControlPlane.NodeEndpoint = "", ""
	local.Stores = slices.Clone(p.Stores)
	for i := range local.Stores {
		local.Stores[i].Members = renamed(p.Stores[i].Members, names)
	}
	local.Tiers = slices.Clone(p.Tiers)
	for i := range local.Tiers {
		local.Tiers[i].Hosts = renamed(p.Tiers[i].Hosts, names)
	}
	return &local
}

// nodeName is the name that kind gives its i-th control-plane container.
func nodeName(cluster string, i int) string {
	if i == 0 {
		return cluster + "-control-plane"
	}
	return fmt.Sprintf("%s-control-plane%s", cluster, strconv.Itoa(i+1))
}

// renamed leaves names that are not hosts, for which generation then fails.
func renamed(hosts []string, names map[string]string) []string {
	var out []string
	for _, h := range hosts {
		if n, ok := names[h]; ok {
			h = n
		}
		out = append(out, h)
	}
	return out
}
