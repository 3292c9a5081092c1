package controlplane_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeseams/seams/generators"
	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/generators/internal/judge"
	"github.com/kubeseams/seams/generators/internal/plantest"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/target"
)

var newest = target.Target{Kubernetes: plantest.Version(37), Platform: target.Kubeadm}

func flagsOf(t *testing.T, p *plan.Plan, store, host string, stage controlplane.Stage) map[string]string {
	t.Helper()
	s, _ := p.Store(store)
	pod, err := controlplane.Etcd(p, s, host, stage)
	if err != nil {
		t.Fatal(err)
	}
	data, err := generators.Objects(pod)
	if err != nil {
		t.Fatal(err)
	}
	if pod, err = judge.Pod(data); err != nil {
		t.Fatal(err)
	}
	flags, err := judge.Flags(pod.Spec.Containers[0])
	if err != nil {
		t.Fatal(err)
	}
	return flags
}

func TestInitialClusterOfEachStage(t *testing.T) {
	p := plantest.EventsLeases(newest, 3)
	a, b, c := "cp-1=https://10.0.0.11:2384", "cp-2=https://10.0.0.12:2384", "cp-3=https://10.0.0.13:2384"
	for _, test := range []struct {
		stage          controlplane.Stage
		host           string
		cluster, state string
	}{
		{controlplane.Join, "cp-1", a, "new"},
		{controlplane.Join, "cp-2", a + "," + b, "existing"},
		{controlplane.Join, "cp-3", a + "," + b + "," + c, "existing"},
		{controlplane.Together, "cp-1", a + "," + b + "," + c, "new"},
		{controlplane.Together, "cp-3", a + "," + b + "," + c, "new"},
		{controlplane.Steady, "cp-1", a + "," + b + "," + c, "existing"},
	} {
		flags := flagsOf(t, p, "events", test.host, test.stage)
		if flags["initial-cluster"] != test.cluster || flags["initial-cluster-state"] != test.state {
			t.Errorf("stage %d on %s: %s, %s", test.stage, test.host, flags["initial-cluster"], flags["initial-cluster-state"])
		}
	}
}

func TestIPv6HostsListenOnTheirFamily(t *testing.T) {
	p := plantest.EventsLeases(newest, 1)
	p.ControlPlane.Hosts[0].Address = "fd00::11"
	flags := flagsOf(t, p, "events", "cp-1", controlplane.Join)
	want := map[string]string{
		"listen-client-urls": "https://[::1]:2383,https://[fd00::11]:2383", "listen-metrics-urls": "http://[::1]:2385",
		"initial-cluster": "cp-1=https://[fd00::11]:2384", "advertise-client-urls": "https://[fd00::11]:2383",
	}
	for name, value := range want {
		if flags[name] != value {
			t.Errorf("--%s=%s, want %s", name, flags[name], value)
		}
	}
	if got := controlplane.Overrides(p); !strings.HasPrefix(got, "/events#https://[::1]:2383,") {
		t.Errorf("overrides %s", got)
	}
}

func TestOnlyStoresInMemorySkipFsync(t *testing.T) {
	p := plantest.NodeTier(newest)
	for store, want := range map[string]string{"main": "", "events": "", "leases": "true"} {
		if got := flagsOf(t, p, store, "cp-1", controlplane.Steady)["unsafe-no-fsync"]; got != want {
			t.Errorf("%s: unsafe-no-fsync=%q", store, got)
		}
	}
}

func TestFlagsOfATierJoin(t *testing.T) {
	p := plantest.Split(newest)
	tier := p.Tiers[0]
	tier.Name = "nodes"
	tier.Flags = map[string]string{"feature-gates": "A=true,ShardedListAndWatch=false", "watch-cache-sizes": "events#0,replicationcontrollers#0", "endpoint-reconciler-type": "lease"}
	got := controlplane.TierFlags(p, tier)
	want := map[string]string{
		"feature-gates":            "A=true,ShardedListAndWatch=true",
		"watch-cache-sizes":        "events#0,replicationcontrollers#0,controllerrevisions.apps#0",
		"endpoint-reconciler-type": "lease",
		"etcd-servers-overrides":   "/events#https://127.0.0.1:2383,coordination.k8s.io/leases#https://127.0.0.1:2386",
	}
	if diff := cmp.Diff(want, map[string]string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, ok := tier.Flags["etcd-servers-overrides"]; ok {
		t.Error("the plan's own flags were changed")
	}
}

func TestNodeMaskIsWrittenWhenItIsNotUpstreams(t *testing.T) {
	for _, test := range []struct {
		cidr string
		size int
		want string
	}{
		{"10.244.0.0/16", 24, ""}, {"10.0.0.0/8", 26, "26"}, {"fd00::/48", 64, ""}, {"fd00::/48", 80, "80"}, {"", 26, ""}, {"10.0.0.0/8", 0, ""},
	} {
		p := plantest.Stock(newest, 1)
		p.ControlPlane.Network = profile.Network{PodCIDR: test.cidr, NodeMaskSize: test.size}
		if got := controlplane.ControllerManagerFlags(p)["node-cidr-mask-size"]; got != test.want {
			t.Errorf("%s with /%d: %q", test.cidr, test.size, got)
		}
	}
}

func TestKubeletReportsAsBeforeWhenOnlyTheUpdateIsSet(t *testing.T) {
	p := plantest.Stock(newest, 1)
	if controlplane.KubeletConfig(p) != nil {
		t.Error("a configuration without a field")
	}
	p.Kubelet.NodeStatusUpdateSeconds = 20
	if got := controlplane.KubeletConfig(p).NodeStatusReportFrequency.Duration.String(); got != "5m0s" {
		t.Errorf("reports every %s", got)
	}
	p.Kubelet.NodeStatusReportSeconds = 60
	if got := controlplane.KubeletConfig(p).NodeStatusReportFrequency.Duration.String(); got != "1m0s" {
		t.Errorf("reports every %s", got)
	}
}

func TestEndpoints(t *testing.T) {
	single, ha := plantest.NodeTier(newest), plantest.NodeTier(newest)
	single.ControlPlane.Hosts, single.ControlPlane.Endpoint, single.ControlPlane.NodeEndpoint = single.ControlPlane.Hosts[:1], "", ""
	for _, test := range []struct{ name, got, want string }{
		{"single host with a node tier", controlplane.NodeEndpoint(single), "10.0.0.11:7443"},
		{"single host", controlplane.MainEndpoint(single), "10.0.0.11:6443"},
		{"node tier", controlplane.NodeEndpoint(ha), "nodes.shop.example.com:7443"},
		{"no node tier", controlplane.NodeEndpoint(plantest.EventsLeases(newest, 3)), "api.shop.example.com:6443"},
		{"host of an endpoint", controlplane.EndpointHost("[fd00::1]:6443"), "fd00::1"},
		{"host without port", controlplane.EndpointHost("api.example.com"), "api.example.com"},
	} {
		if test.got != test.want {
			t.Errorf("%s: %s, want %s", test.name, test.got, test.want)
		}
	}
}

// A plan that contradicts itself is an error that names the contradiction.
func TestPlansThatContradictThemselves(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*plan.Plan)
		want   string
	}{
		"no hosts":           {func(p *plan.Plan) { p.ControlPlane.Hosts = nil }, "no control-plane hosts"},
		"store elsewhere":    {func(p *plan.Plan) { p.Stores[1].Members = []string{"cp-9"} }, "store events is on host cp-9"},
		"store nowhere":      {func(p *plan.Plan) { p.Stores[1].Members = nil }, "store events has no members"},
		"route to nowhere":   {func(p *plan.Plan) { p.Routes[0].Store = "other" }, "route /events goes to store other"},
		"tier elsewhere":     {func(p *plan.Plan) { p.Tiers[0].Hosts = []string{"cp-9"} }, "tier main is on host cp-9"},
		"no main store":      {func(p *plan.Plan) { p.Stores[0].Name = "first" }, "no store named main"},
		"no main apiservers": {func(p *plan.Plan) { p.Tiers[0].Name = "first" }, "no tier named main"},
	} {
		p := plantest.EventsLeases(newest, 3)
		test.change(p)
		if _, err := controlplane.Hosts(p); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

func TestFindings(t *testing.T) {
	p := plantest.NodeTier(newest)
	if got := codes(controlplane.Findings(p)); got != "info store-data-in-memory" {
		t.Errorf("findings %s", got)
	}
	p.Tiers[1].Replicas, p.ControlPlane.NodeEndpoint = 5, ""
	if got := codes(controlplane.Findings(p)); got != "info store-data-in-memory, warning tier-needs-more-hosts, error node-endpoint-missing" {
		t.Errorf("findings %s", got)
	}
}

func codes(all []finding.Finding) string {
	var list []string
	for _, f := range all {
		list = append(list, f.Severity.String()+" "+f.Code)
	}
	return strings.Join(list, ", ")
}

// Stores of aggregated tiers are those tiers' own, unless apiservers use them too.
func TestExtraStores(t *testing.T) {
	p := plantest.EventsLeases(newest, 1)
	p.Stores = append(p.Stores, plan.Store{Name: "runs", Members: []string{"cp-1"}})
	p.Aggregated = []plan.AggregatedTier{{Name: "runs", Store: "runs"}, {Name: "late", Store: "events"}}
	var names []string
	for _, s := range controlplane.ExtraStores(p) {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != "events leases" {
		t.Errorf("extra stores %s", got)
	}
}
