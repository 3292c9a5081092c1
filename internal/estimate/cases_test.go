package estimate

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/profile"
)

// caseDir has the profiles of real user reports.
const caseDir = "../../e2e/cases/profiles"

// load reads one profile file by the program's own loader.
func load(t testing.TB, path string) *profile.Profile {
	t.Helper()
	l, err := profile.NewLoader()
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := l.Load(context.Background(), profile.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 {
		t.Fatalf("%s has %d profiles, want 1", path, len(got))
	}
	return got[0].Profile
}

func caseProfile(t testing.TB, name string) *profile.Profile {
	t.Helper()
	return load(t, filepath.Join(caseDir, name+".yaml"))
}

func TestCases(t *testing.T) {
	for _, tt := range []struct {
		name    string
		binding Axis // empty where the class does not depend on it
		class   class
		subject string
		codes   []string // findings that must be there
	}{
		{"43-leases", Node, heartbeat, "coordination.k8s.io/leases", nil},
		{"43b-long-lease-short-grace", Node, heartbeat, "coordination.k8s.io/leases", nil},
		{"43d-grace-equals-renew", "", comfortably, "", nil},
		{"44a-pod-churn-events", Churn, events, "/events", []string{"event-ttl", "event-rate-limit"}},
		{"44b-fat-events", Churn, events, "/events", []string{"fat-events", "event-ttl"}},
		{"44c-tiny-quota", Churn, events, "/events", []string{"event-ttl"}},
		{"45a-admission-reports", State, crChurn, "kyverno.io/admissionreports", []string{"source-side-fix", "restart-headroom", "quota-over-8gib"}},
		{"45c-workflow-burst", Churn, crChurn, "argoproj.io/workflows", []string{"source-side-fix"}},
		{"45d-kept-runs", State, crChurn, "tekton.dev/taskruns", []string{"source-side-fix"}},
		{"45e-runaway-certs", "", runaway, "cert-manager.io/certificaterequests", []string{"runaway-controller-first"}},
		{"47a-crd-schemas", State, crdSchemas, "apiextensions.k8s.io/customresourcedefinitions", []string{"crd-schemas-fewer", "restart-headroom"}},
		{"47b-secrets-list-burst", State, listBurst, "/secrets", []string{"list-burst-object-size"}},
		{"47b2-huge-secrets", State, listBurst, "/secrets", []string{"list-burst-object-size"}},
		{"47d-restart-headroom", "", residentState, "/pods", []string{"restart-headroom"}},
		{"48a-past-ladder", Churn, crChurn, "agents.x-k8s.io/sandboxes", []string{"source-side-fix"}},
		{"48b-ordinary-claims", "", comfortably, "", nil},
		{"48b-node-wall", "", dataplane, "nodes.podChurnPerSecond", []string{"kubelet-bound"}},
		{"48d-slow-disk", "", slowDisk, "controlPlane.fsyncP99Ms", []string{"slow-disk-first"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := caseProfile(t, tt.name)
			e := Compute(p, Stock(p))
			if e.Class != string(tt.class) || e.Subject != tt.subject {
				t.Errorf("class %s about %q, want %s about %q", e.Class, e.Subject, tt.class, tt.subject)
			}
			if tt.binding != "" && e.Binding != tt.binding {
				t.Errorf("%s binds, want %s", e.Binding, tt.binding)
			}
			for _, code := range tt.codes {
				if !slices.ContainsFunc(e.Findings, func(f finding.Finding) bool { return f.Code == code }) {
					t.Errorf("finding %s is missing; there are %v", code, e.Findings)
				}
			}
			for _, w := range WhatIfs(p, Stock(p)) {
				checkWhatIf(t, e, w)
			}
		})
	}
}

// checkWhatIf asserts what must not be said of any case.
func checkWhatIf(t *testing.T, e *Estimate, w WhatIf) {
	t.Helper()
	writes, _ := e.Figure("store.main.writes")
	heap, _ := e.Figure("apiserver.heap")
	switch w.Name {
	case "apiserver-plus-one":
		if w.MainWrites.Value < writes.Value || w.HeapPerApiserver.Value < heap.Value || w.Advised {
			t.Errorf("one more apiserver: writes %v to %v, heap %v to %v, advised %v",
				writes.Value, w.MainWrites.Value, heap.Value, w.HeapPerApiserver.Value, w.Advised)
		}
		if !strings.Contains(w.Verdict, "no relief") || !strings.Contains(w.Verdict, "iB resident") {
			t.Errorf("one more apiserver: %q must say what it costs", w.Verdict)
		}
	case "events-store":
		if w.Advised != (e.Class == string(events)) {
			t.Errorf("class %s, events store advised %v: %s", e.Class, w.Advised, w.Verdict)
		}
	case "aggregated-tier":
		if w.Advised != (e.Class == string(crChurn)) {
			t.Errorf("class %s, aggregated tier advised %v: %s", e.Class, w.Advised, w.Verdict)
		}
	}
	switch class(e.Class) {
	case slowDisk, runaway, dataplane, comfortably:
		if w.Advised {
			t.Errorf("class %s, and %s is advised", e.Class, w.Name)
		}
	}
}

// Pressure below 1 where the case says that it is ordinary, over it where it is not.
func TestCasePressures(t *testing.T) {
	for _, tt := range []struct {
		name string
		over bool
	}{
		{"43-leases", false}, {"44b-fat-events", true}, {"45a-admission-reports", true}, {"45c-workflow-burst", true}, {"45d-kept-runs", true},
		{"47b-secrets-list-burst", true}, {"47b2-huge-secrets", true}, {"48a-past-ladder", true}, {"48b-ordinary-claims", false}, {"48b-node-wall", false},
	} {
		p := caseProfile(t, tt.name)
		e := Compute(p, Stock(p))
		for _, x := range e.Pressures {
			if x.Axis == e.Binding && x.Value >= 1 != tt.over {
				t.Errorf("%s: %s at %.2f, want over 1: %v", tt.name, x.Axis, x.Value, tt.over)
			}
		}
	}
}

// No finding without a fix and a reference, and no code but words with dashes.
func TestFindingsAreComplete(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(caseDir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal("no case profiles:", err)
	}
	for _, f := range files {
		if strings.Contains(f, "event-ttl-zero") {
			continue // refused by the loader
		}
		p := load(t, f)
		apart := Stock(p)
		apart.EventsStore, apart.LeasesStore, apart.QuotaGiB = true, true, 20
		for _, l := range []Layout{Stock(p), apart} {
			for _, x := range Compute(p, l).Findings {
				if x.Fix == "" || x.Ref == "" || x.Message == "" || strings.Trim(x.Code, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
					t.Errorf("%s: incomplete finding %+v", f, x)
				}
			}
		}
	}
}
