package recipe

import (
	"strconv"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/target"
)

// Upstream's defaults of --max-requests-inflight and
// --max-mutating-requests-inflight, whose sum is what priority and fairness
// shares out as seats.
const (
	defaultInflight         = 400
	defaultMutatingInflight = 200
)

// LayoutOf says what settings mean to the estimator for a profile: which
// resources leave which cache, which groups go to which tier, how many
// apiservers there are. It depends on nothing else, so the plan is made from
// the same layout that was estimated.
func LayoutOf(s *Settings, p *profile.Profile, kubernetes target.Version) estimate.Layout {
	l := estimate.Stock(p)
	l.EventsStore = s.Routes["/events"] != ""
	if store, ok := s.Routes["coordination.k8s.io/leases"]; ok {
		l.LeasesStore = true
		l.LeasesEphemeral = s.Stores[store].Durability == "ephemeral"
	}
	l.CompactionSeconds = s.Main.CompactionSeconds
	// A quota that is there already is never lowered.
	if s.Main.QuotaGiB > p.ControlPlane.EtcdQuotaGiB {
		l.QuotaGiB = s.Main.QuotaGiB
	}
	l.LeaseDurationSeconds = s.Kubelet.NodeLeaseDurationSeconds
	l.Seats = seats(s.Apiserver.Flags)
	c := caches{profile: p, kubernetes: kubernetes, settings: s}
	if s.Aggregated != nil {
		// What leaves the cache of the main servers has none in a tier.
		l.Uncached = c.cold()
		l.Aggregated = tiersOf(s.Aggregated, p, kubernetes, l)
		c.aggregated = l.Aggregated
	}
	l.Uncached = c.general()
	if t := s.NodeTier; t != nil {
		l.NodeTier = t.Count(p)
		l.UncachedNodeTier = c.tier("", *t)
	}
	for _, t := range s.ConsumerTiers {
		l.ConsumerTiers += t.Count(p)
	}
	return l
}

// Count is the number of processes of a tier, for a profile.
func (t TierSettings) Count(p *profile.Profile) int {
	if t.NodesPerReplica > 0 {
		return max(1, (p.Nodes.Demand()+t.NodesPerReplica-1)/t.NodesPerReplica)
	}
	return max(1, t.Replicas)
}

// seats is the sum of the two limits, 0 when neither is set.
func seats(flags map[string]string) int {
	n, set := 0, false
	for name, upstream := range map[string]int{
		"max-requests-inflight":          defaultInflight,
		"max-mutating-requests-inflight": defaultMutatingInflight,
	} {
		v, err := strconv.Atoi(flags[name])
		if err != nil {
			v = upstream
		} else {
			set = true
		}
		n += v
	}
	if !set {
		return 0
	}
	return n
}
