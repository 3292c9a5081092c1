package estimate

import (
	"slices"

	"github.com/kubeseams/seams/internal/profile"
)

// GroupHeap is the live heap, in bytes, that the resources of each API group
// take in a server that serves them: their watch caches and histories. Resources
// that the layout has off the watch cache take none. It is the middle of the
// band, what "tier.NAME.heap" adds up over its base.
func GroupHeap(p *profile.Profile, l Layout) map[string]float64 {
	m := begun(p, l)
	m.computeStored()
	m.computeRings()
	heap := map[string]float64{}
	for _, r := range m.resources {
		if !slices.Contains(l.Uncached, r.GroupResource) {
			heap[r.Group] += m.cached[r.id].total.value + m.rings[r.id].value
		}
	}
	return heap
}
