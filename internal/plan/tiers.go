package plan

import (
	"maps"
	"slices"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/recipe"
)

type tierGroups = estimate.TierGroups

// Ports of the apiserver tiers: kubeadm's for main, and the next free ones for
// those that stand beside it on the same hosts.
const (
	mainTierPort     = 6443
	nodeTierPort     = 7443
	consumerTierPort = 7444
	// aggregatedPort is the first port of aggregated servers, which follow in the
	// slots of their stores.
	aggregatedPort = 9443
)

// tiers lists the main apiservers and those for nodes and for one kind of
// client. All of them have the flags of the main ones, so that no two
// disagree about a store or a gate, and then their own.
func (m *maker) tiers() {
	main := m.mainTier()
	m.plan.Tiers = []Tier{main}
	node, consumers := m.settings.NodeTier, slices.Sorted(maps.Keys(m.settings.ConsumerTiers))
	if m.kops() && (node != nil || len(consumers) > 0) {
		m.say(finding.Finding{
			Code: "kops-no-tiers", Severity: finding.Error, Path: "tiers",
			Message: "kOps has one kubeAPIServer block for a cluster, so a tier of apiservers cannot differ from the others",
			Fix:     "pin a rung without tiers, or use kubeadm",
			Ref:     "kubernetes/kops pkg/apis/kops/v1alpha2/componentconfig.go",
		})
		return
	}
	if node != nil {
		m.addTier("nodes", "kubelets and kube-proxies", nodeTierPort, m.recipe.Layout.NodeTier, m.recipe.Layout.UncachedNodeTier, node)
	}
	for i, name := range consumers {
		t := m.settings.ConsumerTiers[name]
		audience := name
		if t.Serves != "" {
			audience += ", for " + t.Serves + " resources"
		}
		m.addTier(name, audience, consumerTierPort+i, t.Count(m.profile), m.recipe.UncachedOf(name, m.profile, m.target.Kubernetes), &t)
		m.turn(&m.plan.Tiers[len(m.plan.Tiers)-1], i)
	}
}

// turn puts the n-th consumer tier on the n-th host and those after it, so that
// tiers of one process each do not all share the first host's memory.
func (m *maker) turn(t *Tier, n int) {
	all := m.hostNames()
	for i := range t.Hosts {
		t.Hosts[i] = all[(n+i)%len(all)]
	}
	slices.Sort(t.Hosts)
}

func (m *maker) mainTier() Tier {
	c := component(m.settings.Apiserver)
	hosts := m.hostNames()
	replicas := len(hosts)
	if m.kops() {
		replicas = max(replicas, m.profile.ControlPlane.Apiservers)
	}
	if s := m.settings.Main.CompactionSeconds; s > 0 {
		c.Flags["etcd-compaction-interval"] = seconds(s)
	}
	if ttl := m.profile.Churn.Events.TTLSeconds; ttl != upstreamEventTTLSeconds && ttl > 0 && c.Flags["event-ttl"] == "" {
		c.Flags["event-ttl"] = seconds(ttl)
	}
	t := Tier{
		Name: "main", Audience: "everybody", Hosts: hosts, Replicas: replicas, Port: mainTierPort,
		Flags: c.Flags, FeatureGates: c.FeatureGates, Env: c.Env,
		Uncached: m.uncached(func(r profile.GroupResource) bool { return !m.leaves(r.Group) }),
	}
	dropGoaway(&t)
	return t
}

// uncached are those of the layout's uncached resources that a server has.
func (m *maker) uncached(has func(profile.GroupResource) bool) []profile.GroupResource {
	var list []profile.GroupResource
	for _, r := range m.recipe.Layout.Uncached {
		if has(r) {
			list = append(list, r)
		}
	}
	return list
}

// leaves reports whether a group is served by an aggregated tier.
func (m *maker) leaves(group string) bool {
	return slices.ContainsFunc(m.recipe.Layout.Aggregated, func(t tierGroups) bool { return slices.Contains(t.Groups, group) })
}

// dropGoaway takes the flag away where there is nobody else to go to: a single
// apiserver would only cut its clients off (upstream's own advice).
func dropGoaway(t *Tier) {
	if t.Replicas < 2 {
		delete(t.Flags, "goaway-chance")
	}
}

func (m *maker) addTier(name, audience string, port, replicas int, uncached []profile.GroupResource, s *recipe.TierSettings) {
	main := m.plan.Tiers[0]
	t := Tier{
		Name: name, Audience: audience, Port: port, Replicas: replicas,
		Hosts: m.hostNames()[:min(replicas, len(m.plan.ControlPlane.Hosts))],
		Flags: maps.Clone(main.Flags), FeatureGates: maps.Clone(main.FeatureGates), Env: maps.Clone(main.Env),
		Uncached: uncached,
	}
	if goaway, ok := m.settings.Apiserver.Flags["goaway-chance"]; ok {
		t.Flags["goaway-chance"] = goaway
	}
	maps.Copy(t.Flags, s.Flags)
	dropGoaway(&t)
	m.plan.Tiers = append(m.plan.Tiers, t)
}
