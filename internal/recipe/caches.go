package recipe

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/target"
)

// caches chooses the resources that leave a watch cache.
type caches struct {
	profile    *profile.Profile
	kubernetes target.Version
	settings   *Settings
	aggregated []estimate.TierGroups
}

// watchedByNodes are the built-in resources that every kubelet or kube-proxy
// watches, one watch a node or more: without a cache each becomes a watch on
// etcd. Secrets and ConfigMaps are among them because the kubelet watches those
// that its pods mount.
var watchedByNodes = map[string]bool{
	"/pods": true, "/nodes": true, "/services": true, "/endpoints": true,
	"/secrets": true, "/configmaps": true, "discovery.k8s.io/endpointslices": true,
	"coordination.k8s.io/leases": true, "storage.k8s.io/csinodes": true,
}

// general are the resources off the watch cache of the general apiservers,
// and, where their group has left for an aggregated tier, of its server.
func (c caches) general() []profile.GroupResource {
	list := c.cold()
	for _, t := range c.settings.ConsumerTiers {
		if t.Serves == servesCustom {
			// Its clients read them there, so they need not be resident here.
			list = merge(list, c.custom())
		}
	}
	return list
}

// servesCustom is a tier for the clients of custom resources.
const servesCustom = "custom"

// tier are the resources off the watch cache of one tier of apiservers.
func (c caches) tier(name string, t TierSettings) []profile.GroupResource {
	var list []profile.GroupResource
	for _, text := range t.Uncached {
		group, resource, _ := strings.Cut(text, "/")
		list = append(list, profile.GroupResource{Group: group, Resource: resource})
	}
	switch t.UncachedSelect {
	case "custom":
		list = append(list, c.custom()...)
	case "cold":
		list = append(list, slices.DeleteFunc(c.cold(), c.left)...)
	}
	if t.Serves == servesCustom {
		list = append(list, c.servedElsewhere(name)...)
	}
	return merge(nil, list)
}

// servedElsewhere are the custom resources that another tier keeps for its
// clients: the groups are spread over the tiers by what they take in memory.
func (c caches) servedElsewhere(name string) []profile.GroupResource {
	var serving []string
	for _, n := range slices.Sorted(maps.Keys(c.settings.ConsumerTiers)) {
		if c.settings.ConsumerTiers[n].Serves == servesCustom {
			serving = append(serving, n)
		}
	}
	var own []string
	groups := slices.DeleteFunc(customGroups(c.profile, c.kubernetes), func(g group) bool { return c.leftGroup(g.name) })
	groups = withHeap(groups, c.profile, estimate.Stock(c.profile))
	for i, bin := range spread(groups, len(serving), byHeap) {
		if serving[i] == name {
			for _, g := range bin {
				own = append(own, g.name)
			}
		}
	}
	return slices.DeleteFunc(c.custom(), func(r profile.GroupResource) bool { return slices.Contains(own, r.Group) })
}

// cold are the resources of the profile with few clients and enough bytes.
func (c caches) cold() []profile.GroupResource {
	s := c.settings.ColdCache
	if s == nil {
		return nil
	}
	watchers := map[profile.GroupResource]int{}
	for _, r := range c.profile.Churn.Resources {
		watchers[r.GroupResource] = max(watchers[r.GroupResource], r.Watchers)
	}
	var cold []profile.GroupResource
	for _, r := range c.profile.State.Resources {
		clients := max(r.Listers, watchers[r.GroupResource])
		if clients <= s.MaxListers && float64(r.Count)*float64(r.Bytes) >= float64(s.MinBytes) && !watchedByNodes[r.String()] {
			cold = append(cold, r.GroupResource)
		}
	}
	return merge(nil, cold)
}

// custom are all custom resources of the profile that the main apiservers
// store.
func (c caches) custom() []profile.GroupResource {
	return slices.DeleteFunc(resources(c.profile), func(r profile.GroupResource) bool {
		return target.BuiltIn(c.kubernetes, r.Group, r.Resource) || watchedByNodes[r.String()] || c.left(r)
	})
}

// left reports whether the main apiservers no longer have a resource.
func (c caches) left(r profile.GroupResource) bool { return c.leftGroup(r.Group) }

func (c caches) leftGroup(group string) bool {
	return slices.ContainsFunc(c.aggregated, func(t estimate.TierGroups) bool { return slices.Contains(t.Groups, group) })
}

// UncachedOf are the resources off the watch cache of one of the recipe's
// consumer tiers.
func (r *Recipe) UncachedOf(name string, p *profile.Profile, kubernetes target.Version) []profile.GroupResource {
	c := caches{profile: p, kubernetes: kubernetes, settings: &r.Settings, aggregated: r.Layout.Aggregated}
	return c.tier(name, r.Settings.ConsumerTiers[name])
}

// resources are all kinds that the profile names, each once.
func resources(p *profile.Profile) []profile.GroupResource {
	var all []profile.GroupResource
	for _, r := range p.State.Resources {
		all = append(all, r.GroupResource)
	}
	for _, r := range p.Churn.Resources {
		all = append(all, r.GroupResource)
	}
	return merge(nil, all)
}

// merge gives the union of two lists, sorted.
func merge(a, b []profile.GroupResource) []profile.GroupResource {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(a, b profile.GroupResource) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource))
	})
	return slices.Compact(all)
}
