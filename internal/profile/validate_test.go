package profile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

// clean is a profile that Validate has nothing to say about.
func clean() *Profile {
	p := full()
	p.Kubernetes, p.Platform = "1.37", Platform{Kind: "kubeadm"}
	p.Nodes = Nodes{Count: 100, LeaseDurationSeconds: 40, MonitorGraceSeconds: 50, NodeBytes: 20000, PodsPerNode: 30, PodBytes: 5000}
	p.ControlPlane.Apiservers = 1
	return p
}

// TestValidate changes a clean profile in one way each and expects the codes of
// exactly what that makes wrong, an error unless marked.
func TestValidate(t *testing.T) {
	tests := map[string]struct {
		change func(*Profile)
		want   string // CODE, warning CODE or info CODE, separated by "; "
	}{
		"clean": {func(*Profile) {}, ""},

		"kubernetes with a v":    {func(p *Profile) { p.Kubernetes = "v1.36.3" }, ""},
		"kubernetes too old":     {func(p *Profile) { p.Kubernetes = "1.33" }, "kubernetes-unsupported"},
		"kubernetes too new":     {func(p *Profile) { p.Kubernetes = "1.99.1" }, "kubernetes-unsupported"},
		"kubernetes nonsense":    {func(p *Profile) { p.Kubernetes = "" }, "kubernetes-unsupported"},
		"kops without settings":  {func(p *Profile) { p.Platform.Kind = "kops" }, "kops-settings-missing"},
		"kops version nonsense":  {func(p *Profile) { p.Platform = Platform{"kops", &Kops{Version: "new"}} }, "kops-version-bad"},
		"kops of the same minor": {func(p *Profile) { p.Platform = Platform{"kops", &Kops{Version: "1.37.0"}} }, ""},
		"kops two minors ahead":  {func(p *Profile) { p.Kubernetes, p.Platform = "1.35", Platform{"kops", &Kops{Version: "1.37.0"}} }, ""},
		"kops three ahead":       {func(p *Profile) { p.Kubernetes, p.Platform = "1.34", Platform{"kops", &Kops{Version: "1.37.0"}} }, "warning kops-newer-than-kubernetes"},
		"kops behind":            {func(p *Profile) { p.Platform = Platform{"kops", &Kops{Version: "1.36.2"}} }, "kops-older-than-kubernetes"},
		"kops unused":            {func(p *Profile) { p.Platform.Kops = &Kops{Version: "1.36.2"} }, "warning kops-settings-unused"},

		"long lease, short grace": {func(p *Profile) { p.Nodes.LeaseDurationSeconds = 160 }, "lease-renew-exceeds-grace"},
		"long lease, long grace":  {func(p *Profile) { p.Nodes.LeaseDurationSeconds, p.Nodes.MonitorGraceSeconds = 160, 200 }, ""},
		"grace of one renewal":    {func(p *Profile) { p.Nodes.MonitorGraceSeconds = 10 }, "lease-renew-exceeds-grace; warning grace-below-http2-timeout"},
		"grace of two renewals":   {func(p *Profile) { p.Nodes.MonitorGraceSeconds = 25 }, "warning lease-few-renewals; warning grace-below-http2-timeout"},
		"grace of three renewals": {func(p *Profile) { p.Nodes.LeaseDurationSeconds, p.Nodes.MonitorGraceSeconds = 80, 60 }, "warning lease-few-renewals"},
		"grace before 1.32":       {func(p *Profile) { p.Nodes.MonitorGraceSeconds = 40 }, "warning grace-below-http2-timeout"},
		"update without report":   {func(p *Profile) { p.Nodes.StatusUpdateSeconds = 10 }, "warning status-report-follows-update"},
		"update and report":       {func(p *Profile) { p.Nodes.StatusUpdateSeconds, p.Nodes.StatusReportSeconds = 10, 300 }, ""},
		"shrinking":               {func(p *Profile) { p.Nodes.TargetCount = 50 }, "info target-below-count"},
		"heavy nodes":             {func(p *Profile) { p.Nodes.NodeBytes = 2 << 20 }, "warning object-over-etcd-request"},
		"heavy pods":              {func(p *Profile) { p.Nodes.PodBytes = 2 << 20 }, "warning object-over-etcd-request"},

		"no rate": {func(p *Profile) { p.Churn.Resources = []ChurnResource{{GroupResource: GroupResource{"a.dev", "b"}}} }, "churn-without-rate"},
		"sessions of nought": {func(p *Profile) {
			p.Churn.Resources[0] = ChurnResource{Sessions: &Sessions{PerMinute: 5}, GroupResource: GroupResource{"a.dev", "b"}}
		}, "churn-without-rate"},
		"churn twice":        {func(p *Profile) { p.Churn.Resources = append(p.Churn.Resources, p.Churn.Resources[0]) }, "duplicate-resource"},
		"state twice":        {func(p *Profile) { p.State.Resources = append(p.State.Resources, p.State.Resources[0]) }, "duplicate-resource"},
		"group core":         {func(p *Profile) { p.Churn.Resources[0].GroupResource = GroupResource{"core", "pods"} }, "group-is-core"},
		"group v1":           {func(p *Profile) { p.State.Resources[0].GroupResource = GroupResource{"v1", "secrets"} }, "group-is-core"},
		"singular":           {func(p *Profile) { p.State.Resources[0].GroupResource = GroupResource{"", "secret"} }, "resource-not-in-core"},
		"group forgotten":    {func(p *Profile) { p.Churn.Resources[0].GroupResource = GroupResource{"", "deployments"} }, "resource-not-in-core"},
		"group of 1.37 only": {func(p *Profile) { p.Kubernetes = "9"; p.Churn.Resources[0].GroupResource = GroupResource{"", "x"} }, "kubernetes-unsupported"},
		"events as resource": {func(p *Profile) { p.Churn.Resources[0].GroupResource = GroupResource{"events.k8s.io", "events"} }, "warning counted-twice"},
		"leases as resource": {func(p *Profile) { p.Churn.Resources[0].GroupResource = GroupResource{"coordination.k8s.io", "leases"} }, "warning counted-twice"},
		"pods once":          {func(p *Profile) { p.Churn.Resources[0].GroupResource = GroupResource{"", "pods"} }, ""},
		"pods twice": {func(p *Profile) {
			p.Nodes.PodChurnPerSecond = 1
			p.Churn.Resources[0].GroupResource = GroupResource{"", "pods"}
		}, "warning counted-twice"},
		"pods as state":    {func(p *Profile) { p.State.Resources[0].GroupResource = GroupResource{"", "pods"} }, "warning counted-twice"},
		"event TTL nought": {func(p *Profile) { p.Churn.Events.TTLSeconds = 0 }, "event-ttl-zero"},
		"heavy churn":      {func(p *Profile) { p.Churn.Resources[0].ObjectBytes = 2 << 20 }, "warning object-over-etcd-request"},
		"heavy events":     {func(p *Profile) { p.Churn.Events.Bytes = 2 << 20 }, "warning object-over-etcd-request"},
		"heavy state":      {func(p *Profile) { p.State.Resources[0].Bytes = 2 << 20 }, "warning object-over-etcd-request"},

		"no hosts":            {func(p *Profile) { p.ControlPlane.Hosts, p.ControlPlane.Apiservers = nil, 3 }, ""},
		"three hosts":         {func(p *Profile) { hosts(p, "fd00::1", "fd00::2", "fd00::3") }, ""},
		"two hosts":           {func(p *Profile) { hosts(p, "fd00::1", "fd00::2") }, "warning hosts-even"},
		"no endpoint":         {func(p *Profile) { hosts(p, "fd00::1", "fd00::2", "fd00::3"); p.ControlPlane.Endpoint = "" }, "warning endpoint-missing"},
		"one host, none":      {func(p *Profile) { p.ControlPlane.Endpoint = "" }, ""},
		"same name":           {func(p *Profile) { hosts(p, "fd00::1", "fd00::2", "fd00::3"); p.ControlPlane.Hosts[2].Name = "h0" }, "duplicate-host"},
		"same address":        {func(p *Profile) { hosts(p, "fd00::1", "fd00::2", "fd00:0::1") }, "duplicate-host"},
		"not an address":      {func(p *Profile) { hosts(p, "host.example.com") }, "host-address-unusable"},
		"loopback":            {func(p *Profile) { hosts(p, "127.0.0.1") }, "host-address-unusable"},
		"unspecified":         {func(p *Profile) { hosts(p, "::") }, "host-address-unusable"},
		"too many apiservers": {func(p *Profile) { p.ControlPlane.Apiservers = 2 }, "warning apiservers-differ-from-hosts"},
		"port too large":      {func(p *Profile) { p.ControlPlane.Endpoint = "a:65536" }, "endpoint-bad"},
		"port nought":         {func(p *Profile) { p.ControlPlane.NodeEndpoint = "a:0" }, "endpoint-bad"},
		"no port":             {func(p *Profile) { p.ControlPlane.Endpoint = "a" }, "endpoint-bad"},
		"endpoint is a host": {func(p *Profile) {
			hosts(p, "fd00::1", "fd00::2", "fd00::3")
			p.ControlPlane.Endpoint = "[fd00::2]:6443"
		}, "warning endpoint-is-host"},
		"same endpoints": {func(p *Profile) { p.ControlPlane.NodeEndpoint = p.ControlPlane.Endpoint }, "warning node-endpoint-same"},
		"quota":          {func(p *Profile) { p.ControlPlane.EtcdQuotaGiB = 8.5 }, "warning quota-above-suggested"},

		"IPv4":              {func(p *Profile) { ranges(p, "10.128.0.0/9", "10.96.0.0/12", 24) }, ""},
		"not a range":       {func(p *Profile) { ranges(p, "10.128.0.0", "10.96.0.0/12", 24) }, "network-cidr-bad"},
		"not ranges":        {func(p *Profile) { ranges(p, "x", "", 24) }, "network-cidr-bad; network-cidr-bad"},
		"overlap":           {func(p *Profile) { ranges(p, "10.0.0.0/8", "10.96.0.0/12", 24) }, "network-overlap"},
		"same range":        {func(p *Profile) { ranges(p, "10.96.0.7/12", "10.96.0.0/12", 24) }, "network-overlap"},
		"two families":      {func(p *Profile) { ranges(p, "10.0.0.0/8", "fd02::/112", 24) }, "network-family-mismatch"},
		"host among pods":   {func(p *Profile) { hosts(p, "10.129.0.1"); ranges(p, "10.128.0.0/9", "10.96.0.0/12", 24) }, "host-in-cluster-range"},
		"host among both":   {func(p *Profile) { hosts(p, "10.97.0.1"); ranges(p, "10.128.0.0/9", "10.96.0.0/12", 24) }, "host-in-cluster-range"},
		"services too many": {func(p *Profile) { ranges(p, "10.128.0.0/9", "172.16.0.0/11", 24) }, "service-range-too-large"},
		"mask too short":    {func(p *Profile) { ranges(p, "10.128.0.0/16", "10.96.0.0/12", 12) }, "node-mask-bad"},
		"mask too long":     {func(p *Profile) { ranges(p, "10.128.0.0/16", "10.96.0.0/12", 64) }, "node-mask-bad"},
		"IPv6 mask far":     {func(p *Profile) { ranges(p, "fd01::/40", "fd02::/112", 64) }, "node-mask-bad"},
		"room to spare":     {func(p *Profile) { p.Nodes.Count = 256; ranges(p, "10.128.0.0/16", "10.96.0.0/12", 24) }, ""},
		"one node too many": {func(p *Profile) { p.Nodes.Count = 257; ranges(p, "10.128.0.0/16", "10.96.0.0/12", 24) }, "warning pod-range-too-small"},
		"target too many":   {func(p *Profile) { p.Nodes.TargetCount = 257; ranges(p, "10.128.0.0/16", "10.96.0.0/12", 24) }, "warning pod-range-too-small"},
		"too many for kops": {func(p *Profile) {
			p.Nodes.Count = 257
			p.Platform = Platform{"kops", &Kops{Version: "1.37.0"}}
			ranges(p, "10.128.0.0/16", "10.96.0.0/12", 24)
		}, "warning pod-range-too-small"},
		"pods too many": {func(p *Profile) { p.Nodes.PodsPerNode = 255; ranges(p, "10.128.0.0/9", "10.96.0.0/12", 24) }, "warning node-range-too-small"},
		"pods that fit": {func(p *Profile) { p.Nodes.PodsPerNode = 254; ranges(p, "10.128.0.0/9", "10.96.0.0/12", 24) }, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := clean()
			test.change(p)
			var got []string
			for _, f := range Validate(p) {
				text := f.Code
				if f.Severity != finding.Error {
					text = f.Severity.String() + " " + f.Code
				}
				got = append(got, text)
				if f.Path == "" || f.Message == "" || f.File != "" {
					t.Errorf("incomplete: %+v", f)
				}
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("codes (-want +got):\n%s\n%s", diff, lines(Validate(p)))
			}
		})
	}
}

func hosts(p *Profile, addresses ...string) {
	p.ControlPlane.Hosts, p.ControlPlane.Apiservers = nil, len(addresses)
	for i, a := range addresses {
		p.ControlPlane.Hosts = append(p.ControlPlane.Hosts, Host{"h" + strconv.Itoa(i), a})
	}
}

func ranges(p *Profile, pods, services string, mask int) {
	p.ControlPlane.Network = Network{PodCIDR: pods, ServiceCIDR: services, NodeMaskSize: mask}
}

// TestFixesHelp follows the advice on liveness: what it says to set must
// satisfy Validate.
func TestFixesHelp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := clean()
		p.Nodes.LeaseDurationSeconds = rapid.IntRange(1, 3600).Draw(t, "lease")
		p.Nodes.MonitorGraceSeconds = rapid.IntRange(1, 4000).Draw(t, "grace")
		for _, f := range Validate(p) {
			if f.Code != CodeLeaseRenewExceedsGrace && f.Code != CodeLeaseFewRenewals {
				continue
			}
			q := *p
			_, advice, _ := strings.Cut(f.Fix, "monitorGraceSeconds to ")
			grace, err := strconv.ParseFloat(strings.Fields(advice)[0], 64)
			if err != nil {
				t.Fatal(f.Fix, err)
			}
			q.Nodes.MonitorGraceSeconds = int(grace)
			for _, g := range Validate(&q) {
				if g.Code == f.Code {
					t.Errorf("%s does not help: %s", f.Fix, g)
				}
			}
		}
	})
}

// TestTargetOfValid checks that what Validate lets through can be resolved.
func TestTargetOfValid(t *testing.T) {
	for _, minor := range target.Minors() {
		p := clean()
		p.Kubernetes = minor.Line()
		if fs := Validate(p); len(fs) > 0 {
			t.Errorf("%s: %s", minor, lines(fs))
		}
		if got, err := p.Target(); err != nil || got.Kubernetes != minor {
			t.Errorf("%s resolves to %v, %v", minor, got.Kubernetes, err)
		}
	}
}

// TestEveryCodeHasACase reads the codes out of codes.go and looks for each in a
// test or a golden finding.
func TestEveryCodeHasACase(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var tested strings.Builder
	for _, pattern := range []string{"*_test.go", "testdata/errors/*.txtar"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tested.Write(text)
		}
	}
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		n++
		name := spec.Names[0].Name
		code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(tested.String(), code) && !strings.Contains(tested.String(), name) {
			t.Errorf("no test has %s, %q", name, code)
		}
		if !strings.HasPrefix(spec.Doc.Text(), name+" is ") {
			t.Errorf("%s has no comment that says what it is", name)
		}
		return true
	})
	if n < 40 {
		t.Errorf("only %d codes found", n)
	}
}

// What only files need stands in the way of rendering, and of nothing else.
func TestValidateToRender(t *testing.T) {
	for name, change := range map[string]func(*Profile){
		"endpoint-missing":     func(p *Profile) { hosts(p, "fd00::1", "fd00::2", "fd00::3"); p.ControlPlane.Endpoint = "" },
		"pod-range-too-small":  func(p *Profile) { p.Nodes.Count = 257; ranges(p, "10.128.0.0/16", "10.96.0.0/12", 24) },
		"node-range-too-small": func(p *Profile) { p.Nodes.PodsPerNode = 255; ranges(p, "10.128.0.0/9", "10.96.0.0/12", 24) },
	} {
		p := clean()
		change(p)
		estimating, rendering := Validate(p), ValidateToRender(p)
		if len(estimating) != 1 || estimating[0].Code != name || estimating[0].Severity != finding.Warning {
			t.Errorf("%s: to estimate: %v", name, estimating)
		}
		if len(rendering) != 1 || rendering[0].Code != name || rendering[0].Severity != finding.Error {
			t.Errorf("%s: to render: %v", name, rendering)
		}
	}
}
