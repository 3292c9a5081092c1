package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/target"
)

var ladder = func() *recipe.Ladder {
	l, findings, err := recipe.Load(recipe.Options{})
	if err != nil || len(findings) > 0 {
		panic(err)
	}
	return l
}()

// base is a profile as the loader fills it in, of a small quiet cluster on
// three hosts.
func base() *profile.Profile {
	return &profile.Profile{
		Name: "shop", Kubernetes: "1.37", Platform: profile.Platform{Kind: "kubeadm"},
		Nodes: profile.Nodes{Count: 100, LeaseDurationSeconds: 40, MonitorGraceSeconds: 50, NodeBytes: 20000,
			PodsPerNode: 10, PodBytes: 5000, WatchesPerNode: 18},
		Churn: profile.Churn{Events: profile.Events{Bytes: 900, TTLSeconds: 3600}, LeaderElections: 2},
		State: profile.State{RBACObjects: 200},
		ControlPlane: profile.ControlPlane{Apiservers: 3, CPU: 16, MemoryGiB: 64, Disk: "ssd", EtcdDisks: 4, EtcdQuotaGiB: 8,
			Endpoint: "api.shop.example.com:6443", NodeEndpoint: "nodes.shop.example.com:7443",
			Hosts: []profile.Host{{Name: "cp-1", Address: "10.0.0.11"}, {Name: "cp-2", Address: "10.0.0.12"}, {Name: "cp-3", Address: "10.0.0.13"}}},
	}
}

func onKops(p *profile.Profile, version string) *profile.Profile {
	p.Platform = profile.Platform{Kind: "kops", Kops: &profile.Kops{Version: version, Cloud: "aws"}}
	p.Kubernetes = "1.36"
	return p
}

func hot(p *profile.Profile, group string, writes float64) *profile.Profile {
	p.Churn.Resources = append(p.Churn.Resources, profile.ChurnResource{
		GroupResource: profile.GroupResource{Group: group, Resource: "runs"}, UpdatesPerSecond: writes, ObjectBytes: 3000,
		Live: 1000, Watchers: 1, Scope: "all", Shape: "structured"})
	return p
}

// makePlan selects the given rungs and makes the plan.
func makePlan(t testing.TB, p *profile.Profile, rungs ...string) (*Plan, []finding.Finding) {
	t.Helper()
	at, err := p.Target()
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := ladder.Select(p, at, recipe.SelectOptions{Rungs: rungs})
	if err != nil {
		t.Fatal(err)
	}
	got, findings, err := Make(p, "sha256:profile", r, at)
	if err != nil {
		t.Fatal(err)
	}
	return got, findings
}

func find(fs []finding.Finding, code string) (finding.Finding, bool) {
	i := slices.IndexFunc(fs, func(f finding.Finding) bool { return f.Code == code })
	if i < 0 {
		return finding.Finding{}, false
	}
	return fs[i], true
}

func TestStockChangesNothing(t *testing.T) {
	stock := base()
	stock.ControlPlane.EtcdQuotaGiB = 2
	p, findings := makePlan(t, stock)
	if len(p.Rollout) != 0 || len(p.Routes) != 0 || len(p.Stores) != 1 || len(p.Tiers[0].Flags) != 0 || p.Kubelet != (Kubelet{}) || len(findings) != 0 {
		t.Errorf("%+v\n%v", p, findings)
	}
}

// TestQuotaOfTheProfile: that a profile names a quota does not say that an etcd
// has it.
func TestQuotaOfTheProfile(t *testing.T) {
	p, _ := makePlan(t, base())
	if places := order(t, p, "Back up", "Merge", "Copy", "Raise the quota"); len(p.Rollout) != len(places) || !slices.IsSorted(places) {
		t.Errorf("%s", write(p.Rollout))
	}
}

// TestProfileSettingsAreKept: what a profile sets differently from upstream is
// set by the plan, or rendering would undo it.
func TestProfileSettingsAreKept(t *testing.T) {
	p := base()
	p.Nodes.LeaseDurationSeconds, p.Nodes.MonitorGraceSeconds = 80, 100
	p.Nodes.StatusUpdateSeconds, p.Nodes.StatusReportSeconds = 20, 600
	p.Churn.Events.TTLSeconds = 900
	got, _ := makePlan(t, p)
	want := Kubelet{NodeLeaseDurationSeconds: 80, NodeStatusUpdateSeconds: 20, NodeStatusReportSeconds: 600}
	if got.Kubelet != want || got.ControllerManager.Flags["node-monitor-grace-period"] != "100s" || got.Tiers[0].Flags["event-ttl"] != "900s" {
		t.Errorf("%+v %v %v", got.Kubelet, got.ControllerManager.Flags, got.Tiers[0].Flags)
	}
	got, _ = makePlan(t, p, "node/longer-lease")
	if got.Kubelet.NodeLeaseDurationSeconds != 160 || got.ControllerManager.Flags["node-monitor-grace-period"] != "200s" {
		t.Errorf("a rung's settings go before the profile's: %+v %v", got.Kubelet, got.ControllerManager.Flags)
	}
}

func TestHosts(t *testing.T) {
	for name, c := range map[string]struct {
		hosts   int
		members int
		code    string
	}{
		"none": {0, 3, "plan-no-hosts"}, "one": {1, 1, "store-single-member"}, "two": {2, 1, "plan-even-hosts"}, "three": {3, 3, ""},
	} {
		p := base()
		p.ControlPlane.Hosts = p.ControlPlane.Hosts[:c.hosts]
		got, findings := makePlan(t, p, "churn/events-store")
		if n := len(got.Stores[1].Members); n != c.members {
			t.Errorf("%s: %d members", name, n)
		}
		if _, ok := find(findings, c.code); ok != (c.code != "") {
			t.Errorf("%s: findings %v", name, findings)
		}
	}
	p := base()
	for _, n := range []string{"d", "e", "f", "g"} {
		p.ControlPlane.Hosts = append(p.ControlPlane.Hosts, profile.Host{Name: n, Address: "10.0.0." + n})
	}
	if got, _ := makePlan(t, p, "churn/events-store"); len(got.Stores[0].Members) != 5 {
		t.Errorf("%d members on seven hosts", len(got.Stores[0].Members))
	}
}

func TestGoawayNeedsSomewhereToGo(t *testing.T) {
	p := base()
	got, _ := makePlan(t, p, "node/leases-store")
	if got.Tiers[0].Flags["goaway-chance"] != "0.001" {
		t.Error("three apiservers do not rebalance")
	}
	p.ControlPlane.Hosts = p.ControlPlane.Hosts[:1]
	if got, _ = makePlan(t, p, "node/leases-store"); got.Tiers[0].Flags["goaway-chance"] != "" {
		t.Error("a single apiserver sends its clients away")
	}
}

func TestSameDiskIsNoGain(t *testing.T) {
	p := base()
	p.ControlPlane.EtcdDisks = 1
	_, findings := makePlan(t, p, "churn/events-store")
	f, ok := find(findings, "stores-share-a-disk")
	if !ok || !strings.Contains(f.Message, "fsync is not") {
		t.Errorf("findings %v", findings)
	}
	p.ControlPlane.EtcdDisks = 2
	if _, findings = makePlan(t, p, "churn/events-store"); len(findings) != 0 {
		t.Errorf("with a disk each: %v", findings)
	}
}

func TestEventsTTLThatDoesNotFit(t *testing.T) {
	p := base()
	p.Churn.Events = profile.Events{PerSecond: 30, Bytes: 76000, TTLSeconds: 3600}
	_, findings := makePlan(t, p)
	f, ok := find(findings, "events-ttl-too-long")
	if !ok || !strings.HasPrefix(f.Fix, "keep them for 2,") && !strings.HasPrefix(f.Fix, "keep them for 2") {
		t.Errorf("findings %v", findings)
	}
}

func TestKops(t *testing.T) {
	got, findings := makePlan(t, onKops(base(), "1.36.2"), "node/leases-store")
	var ports [][2]int
	for _, s := range got.Stores {
		ports = append(ports, [2]int{s.ClientPort, s.PeerPort})
	}
	if want := [][2]int{{4001, 2380}, {4002, 2381}, {4004, 2383}}; !cmp.Equal(want, ports) {
		t.Errorf("ports %v, want %v", ports, want)
	}
	if f, ok := find(findings, "kops-liveness-probe-fixed"); !ok || f.Severity != finding.Warning {
		t.Errorf("findings %v", findings)
	}
	got, findings = makePlan(t, onKops(base(), "1.35.2"), "node/leases-store")
	if f, ok := find(findings, "kops-leases-before-1.36"); !ok || f.Severity != finding.Error || !strings.Contains(f.Message, "1.36") {
		t.Errorf("findings %v", findings)
	}
	if _, ok := got.Store("leases"); ok || slices.ContainsFunc(got.Routes, func(r Route) bool { return r.Store == "leases" }) {
		t.Errorf("kOps 1.35 has a leases store: %+v", got.Routes)
	}
	for rungs, code := range map[string]string{"node/node-tier": "kops-no-tiers", "state/client-shards": "kops-one-controller-manager"} {
		if _, findings := makePlan(t, onKops(base(), "1.36.2"), rungs); !slices.ContainsFunc(findings, func(f finding.Finding) bool { return f.Code == code }) {
			t.Errorf("%s: findings %v, want %s", rungs, findings, code)
		}
	}
}

func TestAggregatedTiers(t *testing.T) {
	p := hot(hot(base(), "agents.example.dev", 1500), "ci.example.dev", 300)
	got, _ := makePlan(t, p)
	if len(got.Aggregated) != 1 {
		t.Fatalf("%+v", got.Aggregated)
	}
	a := got.Aggregated[0]
	if a.Name != "agents-example-dev" || a.WritesPerSecond != 1500 || a.ResidentBytes <= 0 || a.Namespace != "seams-system" {
		t.Errorf("%+v", a)
	}
	before, _ := got.Store("agents-example-dev")
	got, _ = makePlan(t, hot(p, "aaa.example.dev", 400), "churn/aggregated-shards")
	after, _ := got.Store("agents-example-dev")
	if len(got.Aggregated) != 3 || !cmp.Equal(before, after) {
		t.Errorf("a store changed because another came: %+v, then %+v", before, after)
	}
	if _, findings := makePlan(t, base(), "churn/aggregated-tier"); !slices.ContainsFunc(findings, func(f finding.Finding) bool { return f.Code == "aggregated-nothing-to-move" }) {
		t.Errorf("findings %v", findings)
	}
	_, findings := makePlan(t, hot(hot(base(), "cilium.io", 900), "x.example.dev", 900), "churn/aggregated-tier")
	if _, ok := find(findings, "aggregated-needed-for-bootstrap"); !ok {
		t.Errorf("findings %v", findings)
	}
}

// A second kube-apiserver needs no image, and comes with a warning and without
// the step that builds one; the other server is an error without an image.
func TestTierServer(t *testing.T) {
	p := hot(base(), "agents.example.dev", 1500)
	p.ControlPlane.Tiers.Image = ""
	got, findings := makePlan(t, p)
	if f, ok := find(findings, "aggregated-image-missing"); !ok || f.Severity != finding.Error || got.Aggregated[0].Second() {
		t.Errorf("%+v, findings %v", got.Aggregated[0], findings)
	}
	p.ControlPlane.Tiers.Server = "kube-apiserver"
	got, findings = makePlan(t, p)
	if _, ok := find(findings, "aggregated-image-missing"); ok || !got.Aggregated[0].Second() {
		t.Errorf("%+v, findings %v", got.Aggregated[0], findings)
	}
	if f, ok := find(findings, "aggregated-server-admission"); !ok || f.Severity != finding.Warning {
		t.Errorf("findings %v", findings)
	}
	for _, s := range got.Rollout {
		if text := strings.Join(s.Commands, "\n"); strings.Contains(text, "image/build.sh") || strings.Contains(text, "server.kubeconfig") {
			t.Errorf("%s: %s", s.Title, text)
		}
	}
}

// TestConsumerTiers: each tier keeps the custom resources of its own groups,
// the main apiservers none, and the tiers stand on different hosts.
func TestConsumerTiers(t *testing.T) {
	p := base()
	for i, g := range []string{"a.example.dev", "b.example.dev", "c.example.dev"} {
		p.State.Resources = append(p.State.Resources, profile.StateResource{GroupResource: profile.GroupResource{Group: g, Resource: "things"},
			Count: 1000 + i, Bytes: 20000, Listers: 5, Shape: "structured"})
	}
	got, _ := makePlan(t, p, "state/consumer-tiers")
	if len(got.Tiers) != 4 || len(got.Tiers[0].Uncached) != 3 {
		t.Fatalf("%+v", got.Tiers)
	}
	kept, hosts := map[string]int{}, map[string]bool{}
	for _, tier := range got.Tiers[1:] {
		hosts[tier.Hosts[0]] = true
		for _, r := range p.State.Resources {
			if !slices.Contains(tier.Uncached, r.GroupResource) {
				kept[r.Group]++
			}
		}
	}
	if want := map[string]int{"a.example.dev": 1, "b.example.dev": 1, "c.example.dev": 1}; !cmp.Equal(want, kept) || len(hosts) != 3 {
		t.Errorf("kept %v on %d hosts", kept, len(hosts))
	}
}

func TestMakeNeedsARecipe(t *testing.T) {
	if _, _, err := Make(base(), "", &recipe.Recipe{}, target.Target{}); err == nil {
		t.Error("a plan without a recipe")
	}
}

func BenchmarkMake(b *testing.B) {
	p := hot(base(), "agents.example.dev", 1500)
	at, _ := p.Target()
	r, _, err := ladder.Select(p, at, recipe.SelectOptions{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := Make(p, "", r, at); err != nil {
			b.Fatal(err)
		}
	}
}
