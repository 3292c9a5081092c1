package validation_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubeseams/seams/generators/aggregated"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/recipe"
)

// label is one part of a DNS name, up to the longest that a name may have.
var label = rapid.StringMatching(`[a-z]([a-z0-9-]{0,30}[a-z0-9])?`)

// drawProfile draws profiles whose groups may go to tiers.
func drawProfile(t *rapid.T) *profile.Profile {
	p := &profile.Profile{
		Name: "drawn", Kubernetes: rapid.SampledFrom([]string{"1.34", "1.35", "1.36", "1.37"}).Draw(t, "kubernetes"),
		Platform: profile.Platform{Kind: rapid.SampledFrom([]string{"kubeadm", "staticpod", "kind"}).Draw(t, "platform")},
		Nodes: profile.Nodes{Count: 100, LeaseDurationSeconds: 40, MonitorGraceSeconds: 50, NodeBytes: 20000,
			PodsPerNode: 10, PodBytes: 5000, WatchesPerNode: 18},
		Churn: profile.Churn{Events: profile.Events{Bytes: 900, TTLSeconds: 3600}},
		ControlPlane: profile.ControlPlane{Apiservers: 3, CPU: 16, MemoryGiB: 64, Disk: "ssd", EtcdDisks: 4, EtcdQuotaGiB: 8,
			Endpoint: "10.0.0.100:6443"},
	}
	hosts := rapid.SampledFrom([]int{1, 3, 5}).Draw(t, "hosts")
	format := rapid.SampledFrom([]string{"10.0.0.%d", "fd00::%d"}).Draw(t, "addresses")
	for i := range hosts {
		p.ControlPlane.Hosts = append(p.ControlPlane.Hosts, profile.Host{Name: fmt.Sprintf("cp-%d", i+1), Address: fmt.Sprintf(format, i+11)})
	}
	p.ControlPlane.Apiservers = hosts
	if p.Platform.Kind != "kind" && rapid.Bool().Draw(t, "workload") {
		p.ControlPlane.Tiers.Form = plan.WorkloadForm
		p.ControlPlane.Tiers.StorageClass = rapid.SampledFrom([]string{"", "fast"}).Draw(t, "class")
	}
	p.ControlPlane.Tiers.Image = "registry.example.dev/apiextensions-apiserver:v0.37.2"
	for range rapid.IntRange(1, 12).Draw(t, "groups") {
		group := label.Draw(t, "first") + "." + label.Draw(t, "second") + ".example.dev"
		p.State.Resources = append(p.State.Resources, profile.StateResource{GroupResource: profile.GroupResource{Group: group, Resource: "things"},
			Shape: "structured", Count: rapid.IntRange(1, 300000).Draw(t, "count"), Bytes: rapid.IntRange(1, 20000).Draw(t, "bytes"), Listers: 2})
		p.Churn.Resources = append(p.Churn.Resources, profile.ChurnResource{GroupResource: profile.GroupResource{Group: group, Resource: "things"},
			Shape: "structured", Scope: "all", UpdatesPerSecond: rapid.Float64Range(0, 500).Draw(t, "updates"), ObjectBytes: 2000, Live: 100, Watchers: 1})
		p.ControlPlane.Tiers.Groups = append(p.ControlPlane.Tiers.Groups, profile.TierGroup{Group: group, Versions: []string{"v1", "v1beta1"}})
	}
	return p
}

// Whatever a profile has, upstream takes the objects of its tiers.
func TestTiersOfAnyProfile(t *testing.T) {
	ladder, _, err := recipe.Load(recipe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t)
		at, err := p.Target()
		if err != nil {
			t.Fatal(err)
		}
		rung := rapid.SampledFrom([]string{"churn/aggregated-tier", "churn/aggregated-shards", "state/partitioned"}).Draw(t, "rung")
		r, _, err := ladder.Select(p, at, recipe.SelectOptions{Rungs: []string{rung}})
		if err != nil {
			t.Fatal(err)
		}
		made, _, err := plan.Make(p, "sha256:profile", r, at)
		if err != nil {
			t.Fatal(err)
		}
		files, err := aggregated.Files(made)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !strings.HasSuffix(f.Path, ".yaml") {
				continue
			}
			if err := judge(f.Data, seen); err != nil {
				t.Fatalf("%s: %v\n%s", f.Path, err, f.Data)
			}
		}
	})
	for _, kind := range []string{"Pod", "Deployment", "StatefulSet", "Service", "EndpointSlice", "NetworkPolicy", "PodDisruptionBudget", "FlowSchema", "PriorityLevelConfiguration"} {
		if seen[kind] == 0 {
			t.Errorf("no profile drawn had a %s", kind)
		}
	}
	t.Logf("judged: %v", seen)
}

// A mistake in each kind that the program's own check only decodes is found.
func TestMistakesAreFound(t *testing.T) {
	for kind, text := range map[string]string{
		"PodDisruptionBudget":        "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a, namespace: b}, spec: {minAvailable: 1, maxUnavailable: 1}}",
		"NetworkPolicy":              "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a, namespace: b}, spec: {podSelector: {}, ingress: [{ports: [{port: 70000}]}]}}",
		"EndpointSlice":              "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: a, namespace: b}, addressType: IPv4, endpoints: [{addresses: [127.0.0.1]}]}",
		"FlowSchema":                 "{apiVersion: flowcontrol.apiserver.k8s.io/v1, kind: FlowSchema, metadata: {name: a}, spec: {matchingPrecedence: 20000, priorityLevelConfiguration: {name: x}}}",
		"PriorityLevelConfiguration": "{apiVersion: flowcontrol.apiserver.k8s.io/v1, kind: PriorityLevelConfiguration, metadata: {name: a}, spec: {type: Limited, limited: {limitResponse: {type: Queue}}}}",
		"unknown field":              "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a, namespace: b}, spec: {maxUnavailabel: 1}}",
	} {
		if err := judge([]byte(text), map[string]int{}); err == nil {
			t.Errorf("%s: upstream takes %s", kind, text)
		}
	}
}
