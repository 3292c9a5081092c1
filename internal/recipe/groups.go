package recipe

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/target"
)

// group is one custom API group and its load.
type group struct {
	name string
	// writes are a second, bytes are stored, heap is what a server that keeps the
	// group has of it in memory, in bytes.
	writes, bytes, heap float64
}

// bootstrapGroups must be served before the first pod has a network, so they
// never leave the main apiservers: a tier that needs a pod network to run would
// wait for itself.
var bootstrapGroups = map[string]bool{
	"cilium.io": true, "crd.projectcalico.org": true, "projectcalico.org": true,
}

// StaysForBootstrap reports whether a custom group never leaves the main
// apiservers, whatever its load.
func StaysForBootstrap(group string) bool { return bootstrapGroups[group] }

// isCustom reports whether a group is none of kube-apiserver's own: those an
// APIService must not take away from it. Custom groups have a dot in their
// names, by the validation of CRDs.
func isCustom(group string, kubernetes target.Version) bool {
	return strings.Contains(group, ".") && !slices.ContainsFunc(target.BuiltIns(kubernetes), func(r target.Resource) bool { return r.Group == group })
}

// customGroups are the custom groups of the profile, by name.
func customGroups(p *profile.Profile, kubernetes target.Version) []group {
	byName := map[string]*group{}
	of := func(r profile.GroupResource) *group {
		g := byName[r.Group]
		if g == nil {
			g = &group{name: r.Group}
			byName[r.Group] = g
		}
		return g
	}
	for _, r := range p.Churn.Resources {
		of(r.GroupResource).writes += r.WritesPerSecond()
	}
	for _, r := range storedBytes(p) {
		of(r.GroupResource).bytes += r.bytes
	}
	var groups []group
	for name, g := range byName {
		if isCustom(name, kubernetes) && !bootstrapGroups[name] {
			groups = append(groups, *g)
		}
	}
	slices.SortFunc(groups, func(a, b group) int { return cmp.Compare(a.name, b.name) })
	return groups
}

type resourceBytes struct {
	profile.GroupResource
	bytes float64
}

// storedBytes is what each resource stores: what the state axis says, or the
// live objects of the churn axis where it says nothing.
func storedBytes(p *profile.Profile) []resourceBytes {
	var list []resourceBytes
	said := map[profile.GroupResource]bool{}
	for _, r := range p.State.Resources {
		said[r.GroupResource] = true
		list = append(list, resourceBytes{r.GroupResource, float64(r.Count) * float64(r.Bytes)})
	}
	for _, r := range p.Churn.Resources {
		if !said[r.GroupResource] {
			list = append(list, resourceBytes{r.GroupResource, float64(r.Live) * float64(r.ObjectBytes)})
		}
	}
	return list
}

// tiersOf says which groups go to which tier. The layout has everything but
// the tiers.
func tiersOf(s *AggregatedSettings, p *profile.Profile, kubernetes target.Version, l estimate.Layout) []estimate.TierGroups {
	groups := customGroups(p, kubernetes)
	var bins [][]group
	named := byBytes
	switch s.Select {
	case "hottest":
		hottest := slices.MaxFunc(append(groups, group{}), func(a, b group) int { return cmp.Compare(a.writes, b.writes) })
		if hottest.writes > 0 {
			bins = [][]group{{hottest}}
		}
	case "hot":
		groups = slices.DeleteFunc(groups, func(g group) bool { return g.writes < s.MinWritesPerSecond || g.writes == 0 })
		bins, named = spread(groups, s.MaxTiers, byWrites), byWrites
	case "partition":
		bins = spread(withHeap(groups, p, l), tierCount(s, groups), byHeap)
	}
	var tiers []estimate.TierGroups
	for _, bin := range bins {
		tiers = append(tiers, tierOf(bin, s.Replicas, named))
	}
	slices.SortFunc(tiers, func(a, b estimate.TierGroups) int { return cmp.Compare(a.Name, b.Name) })
	return tiers
}

func byWrites(g group) float64 { return g.writes }
func byBytes(g group) float64  { return g.bytes }
func byHeap(g group) float64   { return g.heap }

// withHeap adds the estimate of what each group takes in memory.
func withHeap(groups []group, p *profile.Profile, l estimate.Layout) []group {
	heap, known := estimate.GroupHeap(p, l), slices.Clone(groups)
	for i, g := range known {
		known[i].heap = heap[g.name]
	}
	return known
}

// tierCount is the fewest tiers that hold about TierBytes each.
func tierCount(s *AggregatedSettings, groups []group) int {
	if s.TierBytes <= 0 {
		return s.MaxTiers
	}
	var total float64
	for _, g := range groups {
		total += g.bytes
	}
	return min(s.MaxTiers, max(1, int(math.Ceil(total/s.TierBytes))))
}

// spread puts the heaviest group first into the lightest bin, which is never
// more than a third above the best there is. Groups without weight, such as
// those off the watch cache, are then spread by what they store. Ties go by name
// and place, so the outcome is the same on every run.
func spread(groups []group, n int, weight func(group) float64) [][]group {
	n = min(n, len(groups))
	if n == 0 {
		return nil
	}
	order := slices.Clone(groups)
	slices.SortFunc(order, func(a, b group) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.name, b.name))
	})
	bins, loads, stored := make([][]group, n), make([]float64, n), make([]float64, n)
	for i, g := range order {
		at := i // the first n groups open a bin each
		switch {
		case i < n:
		case weight(g) > 0:
			at = slices.Index(loads, slices.Min(loads))
		default:
			at = slices.Index(stored, slices.Min(stored))
		}
		bins[at] = append(bins[at], g)
		loads[at] += weight(g)
		stored[at] += g.bytes
	}
	return bins
}

// tierOf names a tier after its heaviest group, so that the name, and with it
// the data directory, stays while lighter groups come and go. In a partition that
// is the one that stores most: heap changes with the clients of a resource.
func tierOf(bin []group, replicas int, weight func(group) float64) estimate.TierGroups {
	heaviest := slices.MaxFunc(bin, func(a, b group) int {
		return cmp.Or(cmp.Compare(weight(a), weight(b)), cmp.Compare(b.name, a.name))
	})
	t := estimate.TierGroups{Name: tierName(heaviest.name), Replicas: replicas}
	for _, g := range bin {
		t.Groups = append(t.Groups, g.name)
	}
	slices.Sort(t.Groups)
	return t
}

// maxTierName leaves room for what is put before and after it in the names of
// services, directories and pods, which are DNS labels of 63.
const maxTierName = 40

func tierName(group string) string {
	name := strings.ReplaceAll(group, ".", "-")
	if len(name) > maxTierName {
		name = strings.Trim(name[:maxTierName-9], "-") + "-" + shortHash(group)
	}
	return name
}
