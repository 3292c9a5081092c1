package estimate

import (
	"testing"

	"github.com/kubeseams/seams/internal/profile"
)

// base is a profile with upstream's defaults on three hosts, as the loader
// fills them in.
func base(nodes int) *profile.Profile {
	return &profile.Profile{
		Name: "test", Kubernetes: "1.37", Platform: profile.Platform{Kind: "kubeadm"},
		Nodes: profile.Nodes{
			Count: nodes, LeaseDurationSeconds: 40, MonitorGraceSeconds: 50, NodeBytes: 20000,
			PodsPerNode: 30, PodBytes: 5000, WatchesPerNode: 18,
		},
		Churn: profile.Churn{Events: profile.Events{Bytes: 900, TTLSeconds: 3600}, LeaderElections: 2},
		State: profile.State{RBACObjects: 200},
		ControlPlane: profile.ControlPlane{
			Apiservers: 3, CPU: 16, MemoryGiB: 64, Disk: "ssd", EtcdDisks: 1, EtcdQuotaGiB: 8,
		},
	}
}

func gr(group, resource string) profile.GroupResource {
	return profile.GroupResource{Group: group, Resource: resource}
}

// churning adds a churn row.
func churning(p *profile.Profile, g profile.GroupResource, updates float64, bytes int) *profile.Profile {
	p.Churn.Resources = append(p.Churn.Resources, profile.ChurnResource{
		GroupResource: g, UpdatesPerSecond: updates, ObjectBytes: bytes, Watchers: 1, Scope: "all", Shape: "structured"})
	return p
}

// keeping adds a state row.
func keeping(p *profile.Profile, g profile.GroupResource, count, bytes int) *profile.Profile {
	p.State.Resources = append(p.State.Resources, profile.StateResource{
		GroupResource: g, Count: count, Bytes: bytes, Listers: 1, Shape: "structured"})
	return p
}

// fig returns a figure of an estimate that must have it.
func fig(t testing.TB, e *Estimate, id string) Figure {
	t.Helper()
	f, ok := e.Figure(id)
	if !ok {
		t.Fatalf("no figure %s", id)
	}
	return f
}

func near(got, want, relative float64) bool {
	return got >= want*(1-relative) && got <= want*(1+relative)
}
