package plan

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/target"
)

// mainStore is the store that is always there.
const mainStore = "main"

// ports of one etcd on its hosts.
type ports struct{ client, peer, metrics int }

// The ports of the stores that have a place of their own. kubeadm's etcd has
// 2379 to 2381 by constants; kOps gives each of its cluster names a client and
// a peer port (pkg/wellknownports), and the metrics ports here are free of
// those and of etcd-manager's own.
var (
	kubeadmPorts = map[string]ports{
		mainStore: {2379, 2380, 2381}, "events": {2383, 2384, 2385}, "leases": {2386, 2387, 2388},
	}
	kopsPorts = map[string]ports{
		mainStore: {4001, 2380, 2387}, "events": {4002, 2381, 2388}, "leases": {4004, 2383, 2389},
	}
)

// Other stores get three ports from a slot that follows from the name, so that
// a store keeps its ports when others come and go.
const (
	firstSlotPort = 2410
	slots         = 60
	// maxMembers is the largest etcd cluster worth having: each further member
	// makes every commit slower.
	maxMembers = 5
)

// stores lists main, the stores that rungs set up and those of aggregated
// tiers.
func (m *maker) stores() {
	m.addStore(Store{Name: mainStore, Durability: "durable", QuotaBytes: bytes(m.mainQuota()), ServesLiveness: true}, 0)
	for _, name := range slices.Sorted(maps.Keys(m.settings.Stores)) {
		s := m.settings.Stores[name]
		if !m.storeFits(name) {
			continue
		}
		m.addStore(Store{
			Name: name, Durability: s.Durability, QuotaBytes: bytes(s.QuotaGiB),
			ServesLiveness: s.ServesLiveness && s.Durability == "durable",
		}, s.Members)
	}
	if a := m.settings.Aggregated; a != nil {
		for _, t := range m.recipe.Layout.Aggregated {
			m.addStore(Store{Name: t.Name, Durability: a.Durability, QuotaBytes: bytes(a.QuotaGiB)}, a.Members)
		}
	}
	m.placeOther()
	m.judgeStores()
}

// mainQuota is the larger of the recipe's and the one the profile has: below
// the size of its data an etcd refuses every write.
func (m *maker) mainQuota() float64 {
	want, have := m.settings.Main.QuotaGiB, m.profile.ControlPlane.EtcdQuotaGiB
	if want > 0 && want < have {
		m.say(finding.Finding{
			Code: "etcd-quota-kept", Severity: finding.Info, Path: "controlPlane.etcdQuotaGiB",
			Message: fmt.Sprintf("the quota of main stays at the profile's %.3g GiB, more than the recipe's %.3g GiB", have, want),
		})
	}
	return max(want, have)
}

func bytes(gib float64) int64 { return int64(gib * (1 << 30)) }

func (m *maker) addStore(s Store, members int) {
	s.Members = m.members(members)
	s.Token = m.profile.Name + "-" + s.Name
	known := kubeadmPorts
	if m.kops() {
		known = kopsPorts
	}
	if p, ok := known[s.Name]; ok {
		s.ClientPort, s.PeerPort, s.MetricsPort = p.client, p.peer, p.metrics
	}
	s.DataDir = m.dataDir(s)
	m.plan.Stores = append(m.plan.Stores, s)
}

// members are the hosts of a store: an odd number, since an even one tolerates
// no more losses than the odd one below it and needs one more vote.
func (m *maker) members(want int) []string {
	names := m.hostNames()
	if want == 0 {
		want = maxMembers
	}
	n := min(want, len(names))
	if n%2 == 0 {
		n--
	}
	return slices.Clone(names[:n])
}

// dataDir is where a store keeps its data. In memory it is below /run, which a
// restart of the host empties: the member then has to be removed and added
// again. On kOps etcd-manager mounts a volume for each cluster below /mnt and
// decides the rest.
func (m *maker) dataDir(s Store) string {
	switch {
	case m.kops():
		return "/mnt/" + s.Name
	case s.Name == mainStore:
		return "/var/lib/etcd"
	case s.Durability == "ephemeral":
		return "/run/seams/etcd-" + s.Name
	}
	return "/var/lib/etcd-" + s.Name
}

// placeOther gives the stores without well-known ports their slots.
func (m *maker) placeOther() {
	taken := map[int]bool{}
	var others []*Store
	for i := range m.plan.Stores {
		if s := &m.plan.Stores[i]; s.ClientPort == 0 {
			others = append(others, s)
		}
	}
	slices.SortFunc(others, func(a, b *Store) int { return cmp.Compare(a.Name, b.Name) })
	for _, s := range others {
		first := firstSlotPort + 3*slotOf(s.Name, taken)
		s.ClientPort, s.PeerPort, s.MetricsPort = first, first+1, first+2
	}
}

// slotOf is the first free slot from the one that the name hashes to.
func slotOf(name string, taken map[int]bool) int {
	h := fnv.New32a()
	h.Write([]byte(name))
	slot := int(h.Sum32() % slots)
	for taken[slot] {
		slot = (slot + 1) % slots
	}
	taken[slot] = true
	return slot
}

// storeFits reports whether the installer can have a store of that name.
func (m *maker) storeFits(name string) bool {
	if !m.kops() {
		return true
	}
	f := finding.Finding{Severity: finding.Error, Path: "stores." + name}
	switch {
	case name == "leases" && !m.target.KopsHasLeasesShard():
		f.Code, f.Ref = "kops-leases-before-1.36", "kubernetes/kops#18054"
		f.Message = fmt.Sprintf("kOps %s has no etcd cluster for leases; kOps 1.36 is the first that has", m.target.Kops)
		f.Fix = "upgrade kOps to 1.36 or later"
	case name != "events" && name != "leases":
		f.Code, f.Ref = "kops-store-name", "kubernetes/kops pkg/apis/kops/validation"
		f.Message = fmt.Sprintf("kOps takes no etcd cluster called %q: its names are main, events, leases and cilium", name)
		f.Fix = "use a rung without this store, or another installer"
	default:
		return true
	}
	m.say(f)
	return false
}

// routes sends built-in resources to their stores. A custom resource cannot be
// routed, so a route for one, from a rung of somebody's own, is left out.
func (m *maker) routes() {
	for _, text := range slices.Sorted(maps.Keys(m.settings.Routes)) {
		store := m.settings.Routes[text]
		group, resource, _ := strings.Cut(text, "/")
		r, builtIn := target.LookUp(m.target.Kubernetes, group, resource)
		if !builtIn || r.Storage != target.Routable {
			m.say(finding.Finding{
				Code: "route-without-effect", Severity: finding.Error, Path: "routes." + text,
				Message: fmt.Sprintf("%s cannot be routed in Kubernetes %s: --etcd-servers-overrides moves what is compiled into kube-apiserver and stored under that very name", text, m.target.Kubernetes.Line()),
				Fix:     "for a custom resource use an aggregated tier",
				Ref:     "kubernetes/kubernetes#118858",
			})
			continue
		}
		if _, ok := m.plan.Store(store); ok {
			m.plan.Routes = append(m.plan.Routes, Route{GroupResource: profile.GroupResource{Group: group, Resource: resource}, Store: store})
		}
	}
}

// judgeStores says what the stores are not, whatever one may hope.
func (m *maker) judgeStores() {
	hosts := len(m.plan.ControlPlane.Hosts)
	if hosts%2 == 0 && !m.kops() { // kOps refuses it, and says so
		m.say(finding.Finding{
			Code: "plan-even-hosts", Severity: finding.Warning, Path: "controlPlane.hosts",
			Message: fmt.Sprintf("%d hosts carry etcds of %d members: an even number would survive no more losses", hosts, len(m.members(0))),
			Fix:     "use an odd number of control-plane hosts",
		})
	}
	m.judgeEvents()
	extra := m.plan.Stores[1:]
	if disks := m.profile.ControlPlane.EtcdDisks; m.durable() > max(1, disks) {
		m.say(finding.Finding{
			Code: "stores-share-a-disk", Severity: finding.Warning, Path: "controlPlane.etcdDisks",
			Message: fmt.Sprintf("%d etcds that wait for a disk share %d on each host: their size and compaction are apart, their fsync is not, so do not count on more commits", m.durable(), max(1, disks)),
			Fix:     "give each etcd a disk of its own, and set controlPlane.etcdDisks",
			Ref:     "kubernetes-sigs/kubespray#2385",
		})
	}
	for _, s := range extra {
		if len(s.Members) == 1 && s.Name != mainStore && !m.isAggregated(s.Name) {
			m.say(finding.Finding{
				Code: "store-single-member", Severity: finding.Warning, Path: "stores." + s.Name,
				Message: fmt.Sprintf("the etcd %s has one member: when its host is down, every write of what is routed there hangs, in every apiserver", s.Name),
				Fix:     "use three control-plane hosts",
			})
		}
		if m.kops() && !s.ServesLiveness && !m.isAggregated(s.Name) {
			m.say(finding.Finding{
				Code: "kops-liveness-probe-fixed", Severity: finding.Warning, Path: "stores." + s.Name,
				Message: fmt.Sprintf("kOps probes kube-apiserver at /livez as it stands, which fails with the etcd %s: its loss restarts every apiserver", s.Name),
				Fix:     "keep three members, on three control-plane hosts",
				Ref:     "kubernetes/kops nodeup/pkg/model/kube_apiserver.go",
			})
		}
		if m.kops() && s.Durability == "ephemeral" {
			m.say(finding.Finding{
				Code: "kops-store-on-a-volume", Severity: finding.Info, Path: "stores." + s.Name,
				Message: fmt.Sprintf("etcd-manager keeps %s on a volume; ETCD_UNSAFE_NO_FSYNC in its environment spares the wait for the disk", s.Name),
			})
		}
	}
}

// judgeEvents says which TTL lets Events fit into their own etcd.
func (m *maker) judgeEvents() {
	events, ok := m.plan.Store(m.settings.Routes[eventsRoute])
	if !ok {
		return
	}
	// The estimate has one quota for all stores; this one may have its own.
	estimated := cmp.Or(m.recipe.Layout.QuotaGiB, m.profile.ControlPlane.EtcdQuotaGiB)
	ratio := m.estimate.Measures[estimate.Churn]["eventDatabaseRatio"].Value * float64(bytes(estimated)) / float64(events.QuotaBytes)
	if ratio <= eventsShare {
		return
	}
	ttl := m.profile.Churn.Events.TTLSeconds
	m.say(finding.Finding{
		Code: "events-ttl-too-long", Severity: finding.Warning, Path: "churn.events.ttlSeconds",
		Message: fmt.Sprintf("Events kept for %d s take %.2f of the quota of their etcd", ttl, ratio),
		Fix:     fmt.Sprintf("keep them for %d s or less, write fewer (kubelet eventRecordQPS, EventRateLimit admission) or smaller ones", max(60, int(float64(ttl)*eventsShare/ratio))),
	})
}

// eventsShare of a quota is what Events may take: beyond it one late compaction
// fills the etcd, and Events cannot be written until it is compacted by hand.
const eventsShare = 0.6

// durable counts the etcds of a host that wait for its disks.
func (m *maker) durable() int {
	n := 0
	for _, s := range m.plan.Stores {
		if s.Durability == "durable" {
			n++
		}
	}
	return n
}

func (m *maker) isAggregated(store string) bool {
	return slices.ContainsFunc(m.recipe.Layout.Aggregated, func(t tierGroups) bool { return t.Name == store })
}
