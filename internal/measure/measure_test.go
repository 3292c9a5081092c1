package measure_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/measure"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/scrape"
)

// counters are an apiserver's metrics, k times as many calls.
func counters(k int) string {
	return fmt.Sprintf(`# TYPE process_start_time_seconds gauge
process_start_time_seconds 1000
# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes 3e9
# TYPE kubernetes_build_info gauge
kubernetes_build_info{git_version="v1.37.2"} 1
# TYPE apiserver_resource_objects gauge
apiserver_resource_objects{group="",resource="nodes"} 200
apiserver_resource_objects{group="",resource="pods"} 5000
apiserver_resource_objects{group="",resource="secrets"} 700
apiserver_resource_objects{group="coordination.k8s.io",resource="leases"} 231
apiserver_resource_objects{group="a.example.dev",resource="things"} 9000
apiserver_resource_objects{group="apiextensions.k8s.io",resource="customresourcedefinitions"} 12
apiserver_resource_objects{group="rbac.authorization.k8s.io",resource="roles"} 40
apiserver_resource_objects{group="rbac.authorization.k8s.io",resource="rolebindings"} 60
apiserver_resource_objects{group="",resource="gone"} -1
# TYPE apiserver_resource_size_estimate_bytes gauge
apiserver_resource_size_estimate_bytes{group="",resource="nodes"} 4e6
apiserver_resource_size_estimate_bytes{group="a.example.dev",resource="things"} 36e6
# TYPE apiserver_longrunning_requests gauge
apiserver_longrunning_requests{group="a.example.dev",resource="things",scope="cluster",subresource="",verb="WATCH",version="v1"} 3
apiserver_longrunning_requests{group="a.example.dev",resource="things",scope="resource",subresource="",verb="WATCH",version="v1"} 20
# TYPE apiserver_storage_size_bytes gauge
apiserver_storage_size_bytes{storage_cluster_id="etcd-0"} 5e8
# TYPE etcd_requests_total counter
etcd_requests_total{operation="create",group="a.example.dev",resource="things"} %[1]d
etcd_requests_total{operation="update",group="a.example.dev",resource="things"} %[2]d
etcd_requests_total{operation="get",group="a.example.dev",resource="things"} 99999
etcd_requests_total{operation="create",group="",resource="events"} %[2]d
etcd_requests_total{operation="create",group="",resource="pods"} %[1]d
etcd_requests_total{operation="update",group="",resource="nodes"} %[1]d
etcd_requests_total{operation="update",group="coordination.k8s.io",resource="leases"} %[3]d
# TYPE etcd_request_errors_total counter
etcd_request_errors_total{operation="update",group="a.example.dev",resource="things"} %[1]d
`, 100*k, 1100*k, (2000+30*50+10)*k)
}

// startedAt are metrics of a process that began at another time.
func startedAt(seconds int, text string) string {
	return strings.Replace(text, "process_start_time_seconds 1000", fmt.Sprintf("process_start_time_seconds %d", seconds), 1)
}

func snapshot(t *testing.T, text string, at int) *scrape.Snapshot {
	t.Helper()
	s, err := scrape.Read(strings.NewReader(text), time.Unix(int64(at), 0))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// profileOf takes an observation through the profile, which must load.
func profileOf(t interface{ Fatal(...any) }, dir string, o *measure.Observation) (*profile.Profile, []finding.Finding, string) {
	document, findings, err := measure.Profile(o)
	if err != nil {
		t.Fatal(err)
	}
	var loaded [2]*profile.Profile
	for i, f := range []struct {
		name string
		data []byte
	}{{"p.yaml", document.YAML()}, {"p.json", document.JSON()}} {
		path := filepath.Join(dir, f.name)
		if err := os.WriteFile(path, f.data, 0o600); err != nil {
			t.Fatal(err)
		}
		loader, err := profile.NewLoader()
		if err != nil {
			t.Fatal(err)
		}
		all, problems, err := loader.Load(context.Background(), profile.Options{Path: path})
		if err != nil || finding.AtLeast(problems, finding.Error) {
			t.Fatal(err, problems, string(f.data))
		}
		loaded[i] = all[0].Profile
	}
	if !reflect.DeepEqual(loaded[0], loaded[1]) {
		t.Fatal("as JSON it is another profile than as YAML", loaded)
	}
	return loaded[0], findings, string(document.YAML())
}

func codes(findings []finding.Finding) map[string]int {
	all := map[string]int{}
	for _, f := range findings {
		all[f.Code]++
	}
	return all
}

// Two looks tell rates: what reached etcd, and not what it refused.
func TestTwoLooks(t *testing.T) {
	o, err := measure.FromMetrics([]measure.Look{
		{Name: "a", Before: snapshot(t, counters(1), 0), After: snapshot(t, counters(2), 100)},
		{Name: "b", Before: snapshot(t, startedAt(1300, counters(5)), 0), After: snapshot(t, startedAt(1300, counters(6)), 100)},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Name = "Two Looks!"
	p, findings, text := profileOf(t, t.TempDir(), o)
	things := p.Churn.Resources[0]
	for what, ok := range map[string]bool{
		"name":       p.Name == "two-looks",
		"version":    p.Kubernetes == "1.37.2",
		"nodes":      p.Nodes.Count == 200 && p.Nodes.NodeBytes == 20000 && p.Nodes.PodsPerNode == 25,
		"pod churn":  p.Nodes.PodChurnPerSecond == 2,
		"status":     p.Nodes.StatusReportSeconds == 100,
		"events":     p.Churn.Events.PerSecond == 22,
		"elections":  p.Churn.LeaderElections == 29,
		"things":     things.Resource == "things" && things.CreatesPerSecond == 2 && things.UpdatesPerSecond == 20 && things.DeletesPerSecond == 0,
		"watchers":   things.Watchers == 46 && things.Scope == "single" && things.Live == 9000 && things.ObjectBytes == 4000,
		"one churns": len(p.Churn.Resources) == 1,
		"state":      len(p.State.Resources) == 2 && p.State.Resources[0].Resource == "secrets" && p.State.Resources[1].Listers == 6,
		"rbac":       p.State.RBACObjects == 100 && p.State.CRDs == 12,
		"apiservers": p.ControlPlane.Apiservers == 2,
		"comments":   strings.Contains(text, "a takes 2.8 GiB, sees etcd etcd-0 of 477 MiB"),
	} {
		if !ok {
			t.Errorf("%s is wrong in %s", what, text)
		}
	}
	// 70.2 renewals/s, less 29 elections and two apiservers' own, of 200 nodes.
	if got := p.Nodes.LeaseDurationSeconds; got != 14 {
		t.Errorf("a lease duration of %d s", got)
	}
	for _, code := range []string{"measure-unseen", "measure-size-assumed"} {
		if codes(findings)[code] == 0 {
			t.Errorf("no finding %s", code)
		}
	}
	if codes(findings)["measure-no-window"] != 0 {
		t.Error("two looks are a window")
	}
}

// One look tells no rates, and says so.
func TestOneLook(t *testing.T) {
	o, err := measure.FromMetrics([]measure.Look{{Name: "a", After: snapshot(t, counters(1), 0)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, findings, _ := profileOf(t, t.TempDir(), o)
	if len(p.Churn.Resources) != 0 || p.Churn.Events.PerSecond != 0 || p.Nodes.Count != 200 || codes(findings)["measure-no-window"] != 1 {
		t.Errorf("%+v %v", p, findings)
	}
}

// Without a count by resource at etcd, writes are those of clients: dry runs,
// failures, reviews and subresources that are kept elsewhere are none.
func TestWritesOfClients(t *testing.T) {
	text := func(k int) string {
		return fmt.Sprintf(`# TYPE apiserver_storage_objects gauge
apiserver_storage_objects{resource="nodes"} 10
apiserver_storage_objects{resource="things.a.example.dev"} 10
# TYPE apiserver_request_total counter
apiserver_request_total{code="201",dry_run="",group="a.example.dev",resource="things",subresource="",verb="POST"} %[1]d
apiserver_request_total{code="201",dry_run="All",group="a.example.dev",resource="things",subresource="",verb="POST"} %[1]d
apiserver_request_total{code="409",dry_run="",group="a.example.dev",resource="things",subresource="",verb="POST"} %[1]d
apiserver_request_total{code="200",dry_run="",group="a.example.dev",resource="things",subresource="status",verb="PATCH"} %[1]d
apiserver_request_total{code="200",dry_run="",group="a.example.dev",resource="things",subresource="log",verb="PUT"} %[1]d
apiserver_request_total{code="200",dry_run="",group="a.example.dev",resource="things",subresource="",verb="DELETE"} %[1]d
apiserver_request_total{code="201",dry_run="",group="authorization.k8s.io",resource="subjectaccessreviews",subresource="",verb="POST"} %[1]d
apiserver_request_total{code="201",dry_run="",group="",resource="serviceaccounts",subresource="token",verb="POST"} %[1]d
apiserver_request_total{code="200",dry_run="",group="a.example.dev",resource="things",subresource="",verb="DELETECOLLECTION"} %[1]d
`, 1000*k)
	}
	o, err := measure.FromMetrics([]measure.Look{{Name: "a", Before: snapshot(t, text(1), 0), After: snapshot(t, text(2), 100)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, findings, yaml := profileOf(t, t.TempDir(), o)
	if len(p.Churn.Resources) != 1 {
		t.Fatal(yaml)
	}
	c := p.Churn.Resources[0]
	if c.CreatesPerSecond != 10 || c.UpdatesPerSecond != 10 || c.DeletesPerSecond != 10 {
		t.Errorf("%+v", c)
	}
	for _, code := range []string{"measure-requests", "measure-collections"} {
		if codes(findings)[code] != 1 {
			t.Errorf("%d findings %s", codes(findings)[code], code)
		}
	}
}

// A process that began anew counts from its start, and the profile is read with that.
func TestRestart(t *testing.T) {
	after := snapshot(t, startedAt(2000, counters(1)), 100)
	o, err := measure.FromMetrics([]measure.Look{{Name: "a", Before: snapshot(t, counters(9), 0), After: after}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, findings, _ := profileOf(t, t.TempDir(), o); codes(findings)["measure-restarted"] != 1 {
		t.Error(findings)
	}
}

// Whatever is observed, the profile is one that loads.
func TestEveryObservationIsAProfile(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		amount := func(name string) float64 {
			return rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 10), rapid.Float64Range(0, 1e6), rapid.SampledFrom([]float64{1e19, 1e300})).Draw(t, name)
		}
		o := &measure.Observation{
			Name: rapid.String().Draw(t, "name"), Kubernetes: rapid.SampledFrom([]string{"", "v1.37.2", "v1.36.1-gke.12", "v1.20.0", "odd"}).Draw(t, "version"),
			Seconds: rapid.SampledFrom([]float64{0, 1, 60, 600}).Draw(t, "seconds"), Alive: rapid.IntRange(0, 5).Draw(t, "alive"),
			Servers: []measure.Server{{Name: "a", ResidentBytes: amount("resident")}}, Kinds: map[profile.GroupResource]*measure.Kind{},
			Leases:   measure.Leases{Elections: rapid.IntRange(-1, 500).Draw(t, "elections"), NodeSeconds: rapid.SampledFrom([]int{0, 40, 300}).Draw(t, "lease")},
			Etcd:     measure.Etcd{QuotaBytes: amount("quota") * 1e5, FsyncP99Seconds: amount("fsync") / 1e5},
			Endpoint: "10.0.0.1:6443", EventTTLSeconds: rapid.SampledFrom([]int{0, 900, 3600}).Draw(t, "ttl"), Live: rapid.Bool().Draw(t, "live"),
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "hosts") {
			o.Hosts = append(o.Hosts, measure.Host{Name: fmt.Sprintf("cp-%d", i), Address: fmt.Sprintf("10.0.0.%d", i+1), CPU: 8 * i, MemoryGiB: amount("memory") / 1e3})
		}
		for _, gr := range []profile.GroupResource{{Resource: "nodes"}, {Resource: "pods"}, {Resource: "events"}, {Resource: "secrets"}, {Group: "coordination.k8s.io", Resource: "leases"}, {Group: "a.example.dev", Resource: "things"}, {Group: "rbac.authorization.k8s.io", Resource: "roles"}} {
			o.Kinds[gr] = &measure.Kind{Objects: amount(gr.Resource), Bytes: amount("bytes"), Creates: amount("creates"), Updates: amount("updates"), Deletes: amount("deletes"),
				Watchers: map[string]float64{"cluster": math.Floor(amount("watchers")), "namespace": 1}, Opaque: rapid.SampledFrom([]float64{-1, 0, 0.9}).Draw(t, "opaque")}
		}
		nodes := o.Kinds[profile.GroupResource{Resource: "nodes"}]
		nodes.Objects = 1 + math.Floor(nodes.Objects)
		profileOf(t, dir, o)
	})
}

// The main etcd tells its quota and, over a window, how slow its disk is.
func TestEtcd(t *testing.T) {
	read := func(name string, at int) *scrape.Snapshot {
		data, err := os.ReadFile("../scrape/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return snapshot(t, string(data), at)
	}
	o, err := measure.FromMetrics([]measure.Look{{Name: "a", Before: snapshot(t, counters(1), 0), After: snapshot(t, counters(2), 30)}},
		[]measure.Look{{Name: "e", After: read("etcd-after.txt", 30)}})
	if err != nil {
		t.Fatal(err)
	}
	p, findings, text := profileOf(t, t.TempDir(), o)
	if p.ControlPlane.EtcdQuotaGiB != 2 || p.ControlPlane.FsyncP99Ms <= 0 || !strings.Contains(text, "The database of the main etcd is 38.2 MiB.") {
		t.Error(text)
	}
	for _, f := range findings {
		if f.Path == "controlPlane.fsyncP99Ms" {
			t.Error(f)
		}
	}
}

// There is no profile without nodes.
func TestNoNodes(t *testing.T) {
	_, _, err := measure.Profile(&measure.Observation{})
	if err == nil || !strings.Contains(err.Error(), "nodes") {
		t.Error(err)
	}
}
