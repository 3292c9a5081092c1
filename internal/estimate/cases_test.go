package estimate

import (
	"testing"

	"github.com/kubeseams/seams/internal/profile"
)

// base is a profile with upstream's defaults, on three hosts.
func base(name string, nodes int) *profile.Profile {
	return &profile.Profile{
		Name: name, Kubernetes: "1.37", Platform: profile.Platform{Kind: "kubeadm"},
		Nodes: profile.Nodes{
			Count: nodes, LeaseDurationSeconds: 40, MonitorGraceSeconds: 50, NodeBytes: 20000,
			PodsPerNode: 30, PodBytes: 5000, WatchesPerNode: 18,
		},
		Churn: profile.Churn{Events: profile.Events{Bytes: 900, TTLSeconds: 3600}, LeaderElections: 4},
		State: profile.State{RBACObjects: 300},
		ControlPlane: profile.ControlPlane{
			Apiservers: 3, CPU: 16, MemoryGiB: 64, Disk: "nvme", EtcdDisks: 1, EtcdQuotaGiB: 8,
		},
	}
}

func gr(group, resource string) profile.GroupResource {
	return profile.GroupResource{Group: group, Resource: resource}
}

// updates is a churn row of a write rate and a size.
func updates(g profile.GroupResource, perSecond float64, bytes int) profile.ChurnResource {
	return profile.ChurnResource{GroupResource: g, UpdatesPerSecond: perSecond, ObjectBytes: bytes, Scope: "all", Shape: "structured"}
}

func rows(g profile.GroupResource, count, bytes, listers int) profile.StateResource {
	return profile.StateResource{GroupResource: g, Count: count, Bytes: bytes, Listers: listers, Shape: "structured"}
}

type caseOf struct {
	name    string
	profile *profile.Profile
	binding Axis
	class   string
	subject string
}

// cases are the profiles of real user reports.
func cases() []caseOf {
	mk := func(name string, nodes int, edit func(*profile.Profile)) *profile.Profile {
		p := base(name, nodes)
		if edit != nil {
			edit(p)
		}
		return p
	}
	small := func(p *profile.Profile) { p.ControlPlane.MemoryGiB = 8 }
	return []caseOf{
		{"43-leases", mk("43", 25000, nil), Node, "heartbeat", "coordination.k8s.io/leases"},
		{"44a-pod-churn-events", mk("44a", 100, func(p *profile.Profile) {
			p.Churn.Resources = []profile.ChurnResource{{GroupResource: grPods, CreatesPerSecond: 170, DeletesPerSecond: 170, ObjectBytes: 5000}}
			p.Churn.Events.PerSecond = 490
		}), Churn, "events", "/events"},
		{"44b-fat-events", mk("44b", 300, func(p *profile.Profile) {
			p.Churn.Events.PerSecond, p.Churn.Events.Bytes = 30, 76000
		}), Churn, "events", "/events"},
		{"44c-tiny-quota", mk("44c", 1, func(p *profile.Profile) {
			p.Churn.Events.PerSecond = 1.2
			p.ControlPlane.Apiservers, p.ControlPlane.MemoryGiB, p.ControlPlane.EtcdQuotaGiB = 1, 4, 0.035
		}), Churn, "events", "/events"},
		{"45a-admission-reports", mk("45a", 200, func(p *profile.Profile) {
			p.State.Resources = []profile.StateResource{rows(gr("kyverno.io", "admissionreports"), 1601408, 5900, 0)}
		}), State, "cr-churn", "kyverno.io/admissionreports"},
		{"45c-workflow-burst", mk("45c", 60, func(p *profile.Profile) {
			p.Churn.Resources = []profile.ChurnResource{updates(gr("argoproj.io", "workflows"), 600, 40000)}
			p.State.Resources = []profile.StateResource{rows(gr("argoproj.io", "workflows"), 13000, 40000, 0)}
		}), Churn, "cr-churn", "argoproj.io/workflows"},
		{"45d-kept-runs", mk("45d", 80, func(p *profile.Profile) {
			p.Churn.Resources = []profile.ChurnResource{updates(gr("tekton.dev", "taskruns"), 40, 20000)}
			p.State.Resources = []profile.StateResource{rows(gr("tekton.dev", "taskruns"), 120000, 20000, 0)}
		}), State, "cr-churn", "tekton.dev/taskruns"},
		{"45e-runaway-certs", mk("45e", 40, func(p *profile.Profile) {
			p.Churn.Resources = []profile.ChurnResource{updates(gr("cert-manager.io", "certificaterequests"), 6, 8000)}
			p.State.Resources = []profile.StateResource{rows(gr("cert-manager.io", "certificaterequests"), 25000, 8000, 0),
				rows(gr("cert-manager.io", "certificates"), 2, 3000, 0)}
		}), "", "runaway-controller", "cert-manager.io/certificaterequests"},
		{"47a-crd-schemas", mk("47a", 20, func(p *profile.Profile) { small(p); p.State.CRDs = 900 }),
			State, "crd-schemas", "apiextensions.k8s.io/customresourcedefinitions"},
		{"47b-secrets-list-burst", mk("47b", 200, func(p *profile.Profile) {
			small(p)
			p.State.Resources = []profile.StateResource{rows(gr("", "secrets"), 90796, 5700, 6)}
		}), State, "list-burst", "/secrets"},
		{"47b2-huge-secrets", mk("47b2", 50, func(p *profile.Profile) {
			p.State.Resources = []profile.StateResource{rows(gr("", "secrets"), 10000, 400000, 0)}
		}), State, "list-burst", "/secrets"},
		{"47d-restart-headroom", mk("47d", 5000, func(p *profile.Profile) {
			p.ControlPlane.MemoryGiB = 32
			p.State.Resources = []profile.StateResource{rows(grPods, 150000, 5000, 0)}
		}), State, "resident-state", "/pods"},
		{"48a-past-ladder", mk("48a", 2000, func(p *profile.Profile) {
			p.Churn.Resources = []profile.ChurnResource{updates(gr("agents.x-k8s.io", "sandboxes"), 33000, 3000)}
		}), Churn, "cr-churn", "agents.x-k8s.io/sandboxes"},
		{"48b-ordinary-claims", mk("48b", 40, func(p *profile.Profile) {
			p.Churn.Resources = []profile.ChurnResource{updates(gr("agents.x-k8s.io", "sandboxes"), 400, 3000)}
		}), "", "comfortable", ""},
		{"48b-node-wall", mk("48bn", 20, func(p *profile.Profile) {
			p.Nodes.PodChurnPerSecond = 90
			p.ControlPlane.FsyncP99Ms = 1.5
		}), "", "dataplane", "nodes.podChurnPerSecond"},
		{"48d-slow-disk", mk("48d", 100, func(p *profile.Profile) { p.ControlPlane.FsyncP99Ms = 80 }),
			"", "slow-disk", "controlPlane.fsyncP99Ms"},
	}
}

func TestCases(t *testing.T) {
	for _, c := range cases() {
		e := Compute(c.profile, Stock(c.profile))
		if e.Class != c.class || e.Subject != c.subject || c.binding != "" && e.Binding != c.binding {
			t.Errorf("%s: %s %q, %s binds; want %s %q, %s", c.name, e.Class, e.Subject, e.Binding, c.class, c.subject, c.binding)
		}
		t.Logf("%s: %s %q", c.name, e.Class, e.Subject)
		for _, p := range e.Pressures {
			t.Logf("   %s %.2f (%.2f-%.2f) %s", p.Axis, p.Value, p.Low, p.High, p.Limit)
			for _, r := range p.Ratios[:min(4, len(p.Ratios))] {
				t.Logf("        %.3f %.3f %.3f %s", r.Value, r.Low, r.High, r.Label)
			}
		}
		for _, f := range e.Findings {
			t.Logf("   %s", f)
		}
		for _, w := range WhatIfs(c.profile, Stock(c.profile)) {
			t.Logf("   %v %s: %s: %s", w.Advised, w.Name, w.Change, w.Verdict)
		}
	}
}
