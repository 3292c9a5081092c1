package measure_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/measure"
)

// cluster is a fake one: answers by path, 403 for the rest.
func cluster(t *testing.T, answers map[string]any) *rest.Config {
	t.Helper()
	looks := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			t.Errorf("measuring sends a %s", r.Method)
		}
		if r.URL.Path == "/metrics" && answers["/metrics"] != nil {
			looks++
			io.WriteString(w, counters(looks))
			return
		}
		answer, ok := answers[r.URL.Path]
		if !ok {
			http.Error(w, `{"kind":"Status","apiVersion":"v1","message":"not for you","code":403}`, http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

type object = map[string]any

func live(t *testing.T, answers map[string]any) (*measure.Observation, error) {
	t.Helper()
	return measure.Live(t.Context(), measure.Options{Config: cluster(t, answers), Window: 10 * time.Millisecond, Sample: 5})
}

// A cluster is asked for what metrics do not tell, page by page.
func TestLive(t *testing.T) {
	now := time.Now().UTC().Format(time.RFC3339Nano)
	lease := func(name string, seconds int, at string, labels object) object {
		return object{"metadata": object{"name": name, "labels": labels}, "spec": object{"leaseDurationSeconds": seconds, "renewTime": at}}
	}
	o, err := live(t, map[string]any{
		"/version": object{"gitVersion": "v1.37.2"},
		"/metrics": true,
		"/apis":    object{"groups": []object{{"name": "a.example.dev", "preferredVersion": object{"version": "v1"}}}},
		"/api/v1/nodes": object{"items": []object{{"metadata": object{"name": "cp-1"}, "status": object{
			"capacity": object{"cpu": "8", "memory": "16Gi"}, "addresses": []object{{"type": "Hostname", "address": "cp-1"}, {"type": "InternalIP", "address": "10.0.0.11"}}}}}},
		"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases": object{"items": []object{lease("n1", 20, now, nil), lease("n2", 20, now, nil), lease("n3", 40, now, nil)}},
		"/apis/coordination.k8s.io/v1/leases": object{"items": []object{lease("kcm", 15, now, nil), lease("old", 15, "2020-01-01T00:00:00.000000Z", nil),
			lease("apiserver-x", 3600, now, object{"apiserver.kubernetes.io/identity": "kube-apiserver"}), lease("apiserver-y", 3600, now, object{"apiserver.kubernetes.io/identity": "kube-apiserver"})}},
		"/api/v1/namespaces/kube-system/pods": object{"items": []object{
			{"metadata": object{"labels": object{"component": "kube-apiserver"}}, "spec": object{"containers": []object{{"command": []string{"kube-apiserver", "--event-ttl=15m"}}}}},
			{"metadata": object{"labels": object{"component": "etcd"}}, "spec": object{"containers": []object{{"command": []string{"etcd", "--quota-backend-bytes=4294967296"}}}}}}},
		"/apis/discovery.k8s.io/v1/namespaces/default/endpointslices": object{"items": []object{}},
		"/apis/a.example.dev/v1/things":                               object{"metadata": object{"continue": "x", "remainingItemCount": 8999}, "items": []object{{"spec": object{"text": strings.Repeat("x", 4000)}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	o.Name = "live"
	p, findings, text := profileOf(t, t.TempDir(), o)
	for what, ok := range map[string]bool{
		"lease":     p.Nodes.LeaseDurationSeconds == 20,
		"elections": p.Churn.LeaderElections == 1,
		"ttl":       p.Churn.Events.TTLSeconds == 900,
		"quota":     p.ControlPlane.EtcdQuotaGiB == 4,
		"host":      len(p.ControlPlane.Hosts) == 1 && p.ControlPlane.CPU == 8 && p.ControlPlane.MemoryGiB == 16,
		"count":     p.State.Resources[1].Count == 9000,
		"alive":     p.ControlPlane.Apiservers == 2,
		"shape":     p.State.Resources[1].Shape == "opaque",
	} {
		if !ok {
			t.Errorf("%s is wrong in %s", what, text)
		}
	}
	want := map[string]bool{"measure-apiserver-unreached": true, "measure-refused": true, "measure-short-window": true}
	for code := range want {
		if codes(findings)[code] == 0 {
			t.Errorf("no finding %s in %v", code, slices.Sorted(maps.Keys(codes(findings))))
		}
	}
}

// Whoever may see nothing but metrics still gets a profile, and hears what is missing.
func TestLittleRights(t *testing.T) {
	o, err := live(t, map[string]any{"/version": object{"gitVersion": "v1.37.2"}, "/metrics": true})
	if err != nil {
		t.Fatal(err)
	}
	p, findings, _ := profileOf(t, t.TempDir(), o)
	if p.Nodes.Count != 200 || codes(findings)["measure-refused"] < 5 {
		t.Error(p.Nodes.Count, findings)
	}
	if _, err := live(t, map[string]any{"/version": object{"gitVersion": "v1.37.2"}}); err == nil || !strings.Contains(err.Error(), "metrics") {
		t.Errorf("without metrics: %v", err)
	}
	if _, err := live(t, map[string]any{}); err == nil || !strings.Contains(err.Error(), "version") {
		t.Errorf("without an answer: %v", err)
	}
}
