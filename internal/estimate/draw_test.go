package estimate

import (
	"pgregory.net/rapid"

	"github.com/kubeseams/seams/internal/profile"
)

// Resources that generated profiles draw from, built-in and custom.
var drawn = []profile.GroupResource{
	{Resource: "pods"}, {Resource: "secrets"}, {Resource: "configmaps"}, {Resource: "events"}, {Resource: "nodes"},
	{Resource: "services"}, {Group: "apps", Resource: "replicasets"}, {Group: "coordination.k8s.io", Resource: "leases"},
	{Group: "rbac.authorization.k8s.io", Resource: "roles"}, {Group: "rbac.authorization.k8s.io", Resource: "rolebindings"},
	{Group: "example.dev", Resource: "sessions"}, {Group: "example.dev", Resource: "claims"},
	{Group: "kyverno.io", Resource: "admissionreports"}, {Group: "cilium.io", Resource: "ciliumendpoints"},
	{Group: "cert-manager.io", Resource: "certificaterequests"}, {Group: "cert-manager.io", Resource: "certificates"},
}

var (
	shapes = rapid.SampledFrom([]string{"structured", "opaque"})
	scopes = rapid.SampledFrom([]string{"all", "namespace", "node", "single"})
	rates  = rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 50), rapid.Float64Range(0, 1e6))
)

func counts(most int) *rapid.Generator[int] {
	return rapid.OneOf(rapid.IntRange(0, min(most, 100)), rapid.IntRange(0, most))
}

func churnRows(t *rapid.T) (rows []profile.ChurnResource) {
	for _, g := range rapid.SliceOfNDistinct(rapid.SampledFrom(drawn), 0, 6, rapid.ID).Draw(t, "churn") {
		c := profile.ChurnResource{GroupResource: g,
			CreatesPerSecond: rates.Draw(t, "creates"), UpdatesPerSecond: rates.Draw(t, "updates"), DeletesPerSecond: rates.Draw(t, "deletes"),
			ObjectBytes: counts(3_000_000).Draw(t, "bytes") + 1, Live: counts(1_000_000).Draw(t, "live"),
			Watchers: counts(10_000).Draw(t, "watchers"), Scope: scopes.Draw(t, "scope"), Shape: shapes.Draw(t, "shape")}
		if rapid.Bool().Draw(t, "as sessions") {
			c.Sessions = &profile.Sessions{PerMinute: rates.Draw(t, "perMinute"), WritesPerSession: rapid.Float64Range(1, 100).Draw(t, "writes")}
		}
		rows = append(rows, c)
	}
	return rows
}

func stateRows(t *rapid.T) (rows []profile.StateResource) {
	for _, g := range rapid.SliceOfNDistinct(rapid.SampledFrom(drawn), 0, 6, rapid.ID).Draw(t, "state") {
		rows = append(rows, profile.StateResource{GroupResource: g, Count: counts(10_000_000).Draw(t, "count"),
			Bytes: counts(3_000_000).Draw(t, "bytes") + 1, Listers: counts(10_000).Draw(t, "listers"), Shape: shapes.Draw(t, "shape")})
	}
	return rows
}

// drawProfile draws a profile within the schema's bounds.
func drawProfile(t *rapid.T) *profile.Profile {
	return &profile.Profile{
		Name: "drawn", Kubernetes: rapid.SampledFrom([]string{"1.34", "1.37.2"}).Draw(t, "kubernetes"), Platform: profile.Platform{Kind: "kubeadm"},
		Nodes: profile.Nodes{
			Count: counts(500_000).Draw(t, "nodes") + 1, TargetCount: counts(500_000).Draw(t, "target"),
			LeaseDurationSeconds: rapid.IntRange(1, 3600).Draw(t, "lease"), MonitorGraceSeconds: 50,
			StatusReportSeconds: rapid.SampledFrom([]int{0, 10, 300}).Draw(t, "report"),
			NodeBytes:           counts(50_000).Draw(t, "nodeBytes") + 1, PodsPerNode: counts(1000).Draw(t, "podsPerNode"), PodBytes: counts(50_000).Draw(t, "podBytes") + 1,
			PodChurnPerSecond: rates.Draw(t, "podChurn"), WatchesPerNode: counts(10_000).Draw(t, "watches"),
		},
		Churn: profile.Churn{
			Resources:       churnRows(t),
			Events:          profile.Events{PerSecond: rates.Draw(t, "events"), Bytes: counts(100_000).Draw(t, "eventBytes") + 1, TTLSeconds: rapid.IntRange(1, 604_800).Draw(t, "ttl")},
			LeaderElections: counts(100_000).Draw(t, "elections"),
		},
		State: profile.State{Resources: stateRows(t), CRDs: counts(100_000).Draw(t, "crds"), RBACObjects: counts(10_000_000).Draw(t, "rbac")},
		ControlPlane: profile.ControlPlane{
			Apiservers: rapid.IntRange(1, 50).Draw(t, "apiservers"), CPU: rapid.IntRange(1, 256).Draw(t, "cpu"),
			MemoryGiB: rapid.Float64Range(0.5, 4096).Draw(t, "memory"), Disk: rapid.SampledFrom([]string{"nvme", "ssd", "network", "hdd"}).Draw(t, "disk"),
			FsyncP99Ms: rapid.SampledFrom([]float64{0, 1, 10, 80}).Draw(t, "fsync"), EtcdDisks: rapid.IntRange(1, 4).Draw(t, "disks"),
			EtcdQuotaGiB: rapid.Float64Range(0.01, 100).Draw(t, "quota"),
		},
	}
}

// drawLayout draws a layout for a profile: any seam may be taken apart.
func drawLayout(t *rapid.T, p *profile.Profile) Layout {
	l := Stock(p)
	l.EventsStore, l.LeasesStore = rapid.Bool().Draw(t, "eventsStore"), rapid.Bool().Draw(t, "leasesStore")
	l.LeasesEphemeral = l.LeasesStore && rapid.Bool().Draw(t, "ephemeral")
	l.NodeTier = rapid.SampledFrom([]int{0, 0, 1, 7}).Draw(t, "nodeTier")
	l.ConsumerTiers = rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "consumerTiers")
	l.CompactionSeconds = rapid.SampledFrom([]int{0, 150}).Draw(t, "compaction")
	l.Seats = rapid.SampledFrom([]int{0, 3000}).Draw(t, "seats")
	l.LeaseDurationSeconds = rapid.SampledFrom([]int{0, 160}).Draw(t, "longer")
	l.QuotaGiB = rapid.SampledFrom([]float64{0, 20}).Draw(t, "layoutQuota")
	some := rapid.SliceOfNDistinct(rapid.SampledFrom(drawn), 0, 4, rapid.ID)
	l.Uncached, l.UncachedNodeTier = some.Draw(t, "uncached"), some.Draw(t, "uncachedNodeTier")
	groups := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"example.dev", "kyverno.io", "cert-manager.io"}), 0, 3, rapid.ID).Draw(t, "groups")
	for _, g := range groups {
		l.Aggregated = append(l.Aggregated, TierGroups{Name: tierName(g), Groups: []string{g}, Replicas: rapid.IntRange(1, 3).Draw(t, "replicas")})
	}
	return l
}
