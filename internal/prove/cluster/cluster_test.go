package cluster

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/prove"
	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/scrape"
)

func specOf(d prove.Demand, parts int) Spec {
	return Spec{Run: "0123456789", Load: d, Parts: parts}
}

// Everything that is made carries the run's label, has a place, and no two
// things have the same one.
func TestObjectsAreLabelled(t *testing.T) {
	for _, d := range []prove.Demand{
		{Kind: prove.KindNodes, Nodes: 5, Groups: 1, NodesBy: load.Kwok},
		{Kind: prove.KindCustomWrites, WritesPerSecond: 5, Groups: 2},
		{Kind: prove.KindObjects, Objects: 5, RBACObjects: 2, Groups: 1},
	} {
		all, err := objects(specOf(d, 3), Options{Image: "i"})
		if err != nil {
			t.Fatal(err)
		}
		var places []string
		for _, o := range all {
			m, ok := o.body.(metav1.Object)
			if !ok || m.GetLabels()[RunLabel] != "0123456789" || m.GetName() != o.name || m.GetNamespace() != o.namespace {
				t.Errorf("%s: labels and place", o)
			}
			if slices.Contains(places, o.at()) {
				t.Errorf("%s is made twice", o)
			}
			places = append(places, o.at())
		}
		if last := all[len(all)-1]; last.kind != "Job" {
			t.Errorf("the last object is %s: Pods begin when everything is there", last)
		}
	}
}

// No Pod may delete nodes, read Secrets, or change anything of all namespaces.
func TestPodsHaveFewRights(t *testing.T) {
	for _, kind := range []prove.Demand{
		{Kind: prove.KindNodes, Nodes: 5, Groups: 1, NodesBy: load.Kwok}, {Kind: prove.KindNodes, Nodes: 5, Groups: 1, NodesBy: load.Own, PodsPerSecond: 3},
		{Kind: prove.KindCustomWrites, WritesPerSecond: 5, Groups: 2}, {Kind: prove.KindEvents, EventsPerSecond: 2, Groups: 1},
		{Kind: prove.KindLeaderElections, Elections: 2, Groups: 1}, {Kind: prove.KindObjects, Objects: 5, RBACObjects: 2, Groups: 1},
	} {
		s := specOf(kind, 2)
		s.Probe = true
		all, err := objects(s, Options{Image: "i"})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all {
			var rules []rbac.PolicyRule
			switch x := o.body.(type) {
			case *rbac.ClusterRole:
				rules = x.Rules
			case *rbac.Role:
				rules = x.Rules
			}
			for _, r := range rules {
				if slices.Contains(r.Verbs, "*") || slices.Contains(r.Resources, "*") || slices.Contains(r.APIGroups, "*") || slices.Contains(r.Resources, "secrets") {
					t.Errorf("%s of %s may too much: %v", o, kind.Kind, r)
				}
				if slices.Contains(r.Resources, "nodes") && (slices.Contains(r.Verbs, "delete") || slices.Contains(r.Verbs, "update")) {
					t.Errorf("%s of %s may remove or change nodes: %v", o, kind.Kind, r)
				}
			}
			b, bound := o.body.(*rbac.ClusterRoleBinding)
			if bound && b.RoleRef.Name == partName {
				t.Errorf("%s binds everywhere what is for the parts", o)
			}
		}
	}
}

func TestJobTellsItsParts(t *testing.T) {
	all, err := objects(specOf(prove.Demand{Kind: prove.KindEvents, EventsPerSecond: 5, Seconds: 30, Groups: 1}, 7), Options{Image: "registry.example/load:1"})
	if err != nil {
		t.Fatal(err)
	}
	job := all[len(all)-1].body.(*batch.Job)
	if *job.Spec.Completions != 7 || *job.Spec.Parallelism != 7 || *job.Spec.CompletionMode != batch.IndexedCompletion || *job.Spec.BackoffLimit != 0 {
		t.Errorf("%+v", job.Spec)
	}
	c := job.Spec.Template.Spec.Containers[0]
	if c.Image != "registry.example/load:1" || c.Env[0].Name != IndexVariable || !strings.HasPrefix(c.Command[2], "--spec="+specMount) {
		t.Errorf("%+v", c)
	}
}

func TestStores(t *testing.T) {
	for _, c := range []struct{ pod, node, want string }{
		{"etcd-cp-1", "cp-1", "main"}, {"etcd-events-cp-1", "cp-1", "events"}, {"etcd", "", "main"}, {"etcd-leases", "x", "leases"},
	} {
		p := core.Pod{ObjectMeta: metav1.ObjectMeta{Name: c.pod}, Spec: core.PodSpec{NodeName: c.node}}
		if got := storeOf(p); got != c.want {
			t.Errorf("%s on %s is of %q, want %q", c.pod, c.node, got, c.want)
		}
	}
	for _, c := range []struct {
		command []string
		port    string
	}{
		{[]string{"etcd", "--listen-metrics-urls=http://127.0.0.1:2381"}, ""},
		{[]string{"etcd", "--listen-metrics-urls=http://localhost:2381"}, ""},
		{[]string{"etcd", "--listen-metrics-urls=https://10.0.0.1:2381"}, ""},
		{[]string{"etcd", "--listen-metrics-urls=http://127.0.0.1:2381,http://10.0.0.1:2382"}, "2382"},
		{[]string{"etcd", "--listen-metrics-urls", "http://[::]:2381"}, "2381"},
		{[]string{"etcd"}, ""},
	} {
		port, why := metricsPort(c.command)
		if port != c.port || (why == "") != (c.port != "") {
			t.Errorf("%v: port %q, %q; want %q", c.command, port, why, c.port)
		}
	}
}

// A figure of a part, or of one apiserver of several, is no figure of the whole.
func TestWhy(t *testing.T) {
	v := &view{unseen: map[string]string{"apiserver": "one of three", "store": "no Pod"}}
	for metric, want := range map[string]string{
		"apiserver.main.heap-bytes": "one of three", "resident-copies": "one of three",
		"store.main.puts-per-second": "no Pod", "list-p99-seconds": "nothing in the cluster told it",
	} {
		if got := v.why(metric); got != want {
			t.Errorf("%s: %q, want %q", metric, got, want)
		}
	}
}

func TestReadSpec(t *testing.T) {
	for text, ok := range map[string]bool{
		`{"run":"a","parts":2,"load":{"kind":"events"}}`: true,
		`{"run":"a","load":{"kind":"events"}}`:           false,
		`{"run":"a","parts":2}`:                          false,
		`{`:                                              false,
	} {
		if _, err := ReadSpec([]byte(text)); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := Drive(t.Context(), &rest.Config{Host: "http://127.0.0.1:1"}, specOf(prove.Demand{Kind: "events"}, 2), 2); err == nil {
		t.Error("the third of two parts")
	}
}

// Two loads of the same name in each part merge in their order.
func TestMergedByLoad(t *testing.T) {
	result := func(name string, n float64) *load.Result {
		r := &load.Result{Load: name}
		r.Figures = append(r.Figures, scrape.Figure{Name: "objects", Value: n})
		return r
	}
	all, err := merged([]state{
		{Results: []*load.Result{result("objects", 1), result("objects", 10), result("probe", 5)}},
		{Results: []*load.Result{result("objects", 2), result("objects", 20)}},
	})
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	for i, want := range []float64{3, 30, 5} {
		if v, _ := all[i].Value("objects"); v != want {
			t.Errorf("%d: %g, want %g", i, v, want)
		}
	}
}

// What a run removes is exactly what was looked at: the label is asked for and
// the UID is named.
func TestRemovesOnlyWhatItSaw(t *testing.T) {
	var deleted, listed []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.Method {
		case http.MethodGet:
			listed = append(listed, r.URL.Query().Get("labelSelector"))
			if filepath.Base(r.URL.Path) == "nodes" && len(deleted) == 0 {
				_, _ = w.Write([]byte(`{"items":[{"metadata":{"name":"seams-hollow-0-00001","uid":"u-1"}}]}`))
				return
			}
			_, _ = w.Write([]byte(`{"items":[]}`))
		case http.MethodDelete:
			body := make([]byte, r.ContentLength)
			_, _ = r.Body.Read(body)
			deleted = append(deleted, r.URL.Path)
			if !strings.Contains(string(body), `"uid":"u-1"`) {
				t.Errorf("deleted without naming the UID: %s", body)
			}
			_, _ = w.Write([]byte(`{}`))
		default:
			t.Errorf("%s %s", r.Method, r.URL.Path)
		}
	}))
	defer server.Close()
	if err := CleanUp(t.Context(), &rest.Config{Host: server.URL}); err != nil {
		t.Fatal(err)
	}
	if len(deleted) != 1 || deleted[0] != "/api/v1/nodes/seams-hollow-0-00001" {
		t.Errorf("deleted %v", deleted)
	}
	if slices.ContainsFunc(listed, func(s string) bool { return s != RunLabel }) {
		t.Errorf("listed by %v", listed)
	}
}

func TestWithinGivesUp(t *testing.T) {
	began := time.Now()
	if err := within(t.Context(), 0, func() (bool, error) { return false, nil }); err == nil || time.Since(began) > 5*time.Second {
		t.Error(err)
	}
}
