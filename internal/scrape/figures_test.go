package scrape

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubeseams/seams/internal/golden"
)

func realDelta(t *testing.T, process string) *Delta {
	t.Helper()
	d, err := Between(saved(t, process+"-before.txt", noon), saved(t, process+"-after.txt", noon.Add(20*time.Second)))
	if err != nil {
		t.Fatal(err)
	}
	if d.Restarted != "" {
		t.Fatalf("restarted: %s", d.Restarted)
	}
	return d
}

// The figures of kube-apiserver v1.37.2 and etcd v3.7.3, saved 20 s apart.
func TestFiguresOfRealProcesses(t *testing.T) {
	var b strings.Builder
	print := func(title string, fs []Figure) {
		fmt.Fprintf(&b, "%s\n", title)
		for _, f := range fs {
			fmt.Fprintf(&b, "  %s %.6g %s\n", f.Name, f.Value, f.Unit)
		}
	}
	api := realDelta(t, "apiserver")
	print("apiserver", APIServer(api))
	print("etcd", Etcd(realDelta(t, "etcd")))
	fmt.Fprintln(&b, "calls")
	for _, c := range Calls(api) {
		fmt.Fprintf(&b, "  %s %s/%s %.0f p50 %.4f p99 %.4f\n", c.Verb, c.Group, c.Resource, c.Count, c.P50, c.P99)
	}
	fmt.Fprintln(&b, "resources")
	for _, r := range Resources(api.After) {
		fmt.Fprintf(&b, "  %s %.0f objects, %.0f bytes\n", r.Name, r.Objects, r.EstimatedBytes)
	}
	golden.File(t, "testdata/figures.txt", b.String())
}

func TestFiguresOfNothing(t *testing.T) {
	d := between(t, "", "")
	if fs := append(APIServer(d), Etcd(d)...); len(fs) != 0 {
		t.Errorf("figures of a process that says nothing: %v", fs)
	}
}

func TestEtcdOlderNames(t *testing.T) {
	d := between(t, "# TYPE etcd_debugging_mvcc_put_total counter\netcd_debugging_mvcc_put_total 5\n",
		"# TYPE etcd_debugging_mvcc_put_total counter\netcd_debugging_mvcc_put_total 25\n")
	if f, ok := Find(Etcd(d), "puts-per-second"); !ok || f.Value != 2 {
		t.Errorf("%+v, want 2 puts/s", f)
	}
}

func TestResources(t *testing.T) {
	s := read(t, `apiserver_storage_objects{resource="leases.coordination.k8s.io"} 7
apiserver_resource_objects{group="coordination.k8s.io",resource="leases"} 8
apiserver_resource_objects{group="",resource="pods"} 3
apiserver_resource_objects{group="",resource="secrets"} -1
apiserver_resource_size_estimate_bytes{group="",resource="pods"} 900
apiserver_storage_objects{resource="widgets.example.com"} 2
`, noon)
	want := []Resource{{"leases.coordination.k8s.io", 8, 0}, {"pods", 3, 900}, {"widgets.example.com", 2, 0}}
	if got := Resources(s); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
