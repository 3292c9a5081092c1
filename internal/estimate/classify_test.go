package estimate

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/profile"
)

func hasCode(code string) func(finding.Finding) bool {
	return func(f finding.Finding) bool { return f.Code == code }
}

func TestClassRules(t *testing.T) {
	for _, tt := range []struct {
		name    string
		p       *profile.Profile
		edit    func(*profile.Profile)
		class   class
		subject string
	}{
		{"quiet", base(100), nil, comfortably, ""},
		{"spinning disk", base(100), func(p *profile.Profile) { p.ControlPlane.Disk = "hdd" }, slowDisk, "controlPlane.disk"},
		{"spinning disk, measured fast", base(100), func(p *profile.Profile) { p.ControlPlane.Disk, p.ControlPlane.FsyncP99Ms = "hdd", 8 }, comfortably, ""},
		{"fast disk, measured slow", base(100), func(p *profile.Profile) { p.ControlPlane.Disk, p.ControlPlane.FsyncP99Ms = "nvme", 11 }, slowDisk, "controlPlane.fsyncP99Ms"},
		{"status as often as leases", base(20000), func(p *profile.Profile) { p.Nodes.StatusUpdateSeconds = 5 }, heartbeat, "/nodes"},
		{"pods come and go", base(2000), func(p *profile.Profile) {
			p.Nodes.PodChurnPerSecond, p.Churn.Events.PerSecond = 300, 1
		}, builtInChurn, "/pods"},
		{"built-in churn of a row", churning(base(100), gr("discovery.k8s.io", "endpointslices"), 1500, 5000), nil, builtInChurn, "discovery.k8s.io/endpointslices"},
		{"many small groups", base(100), func(p *profile.Profile) {
			for _, g := range []string{"a.dev", "b.dev", "c.dev", "d.dev"} {
				keeping(p, gr(g, "things"), 40000, 12000)
			}
			p.State.Resources[2].Bytes += 100
		}, residentState, "c.dev/things"},
		{"one group of several kinds", base(100), func(p *profile.Profile) {
			for _, r := range []string{"as", "bs", "cs", "ds"} {
				keeping(p, gr("one.dev", r), 40000, 12000)
			}
			p.State.Resources[1].Bytes += 100
		}, crChurn, "one.dev/bs"},
		{"built-ins, small and many", keeping(base(100), gr("", "configmaps"), 160000, 2000), nil, residentState, "/configmaps"},
		{"built-ins, large and listed", keeping(base(100), gr("", "configmaps"), 8000, 300000), nil, listBurst, "/configmaps"},
		{"pods beyond the kubelets and beyond the control plane", base(200), func(p *profile.Profile) { p.Nodes.PodChurnPerSecond = 1000 }, builtInChurn, "/pods"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.edit != nil {
				tt.edit(tt.p)
			}
			e := Compute(tt.p, Stock(tt.p))
			if e.Class != string(tt.class) || e.Subject != tt.subject {
				t.Errorf("class %s about %q, want %s about %q; %s binds by %s", e.Class, e.Subject, tt.class, tt.subject,
					e.Binding, e.Pressures[slices.Index(Axes, e.Binding)].Limit)
			}
		})
	}
}

func TestRunaway(t *testing.T) {
	certs := func(requests, certificates int) *profile.Profile {
		return keeping(keeping(base(40), gr("cert-manager.io", "certificaterequests"), requests, 8000), gr("cert-manager.io", "certificates"), certificates, 3000)
	}
	loop := func(updates float64, live int, creates float64) *profile.Profile {
		p := churning(base(40), gr("example.dev", "things"), updates, 1000)
		p.Churn.Resources[0].Live, p.Churn.Resources[0].CreatesPerSecond = live, creates
		return p
	}
	for _, tt := range []struct {
		name string
		p    *profile.Profile
		want string
	}{
		{"requests pile up", certs(25000, 2), "cert-manager.io/certificaterequests"},
		{"a few for each certificate", certs(25000, 6000), ""},
		{"few altogether", certs(900, 1), ""},
		{"by name, another group", keeping(keeping(base(40), gr("backup.example.dev", "restorerequests"), 5000, 900), gr("backup.example.dev", "restores"), 3, 900), "backup.example.dev/restorerequests"},
		{"parent unknown", keeping(base(40), gr("backup.example.dev", "restorerequests"), 5000, 900), ""},
		{"orders belong to certificates", keeping(keeping(base(40), gr("acme.cert-manager.io", "orders"), 3000, 900), gr("cert-manager.io", "certificates"), 10, 900), "acme.cert-manager.io/orders"},
		{"signing requests belong to nodes", keeping(base(40), gr("certificates.k8s.io", "certificatesigningrequests"), 10000, 2000), "certificates.k8s.io/certificatesigningrequests"},
		{"signing requests of many nodes", keeping(base(5000), gr("certificates.k8s.io", "certificatesigningrequests"), 10000, 2000), ""},
		{"replica sets of one deployment", keeping(keeping(base(40), gr("apps", "replicasets"), 4000, 3000), gr("apps", "deployments"), 20, 3000), "apps/replicasets"},
		{"runs are many for each task by design", keeping(keeping(base(40), gr("tekton.dev", "taskruns"), 120000, 2000), gr("tekton.dev", "tasks"), 10, 2000), ""},
		{"rewritten in a loop", loop(50, 20, 0), "example.dev/things"},
		{"rewritten slowly", loop(50, 2000, 0), ""},
		{"elections by another object", loop(15, 30, 0), ""},
		{"short lives", loop(50, 20, 30), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := Compute(tt.p, Stock(tt.p))
			got := ""
			if e.Class == string(runaway) {
				got = e.Subject
			}
			if got != tt.want {
				t.Errorf("runaway %q, want %q", got, tt.want)
			}
			if has := slices.ContainsFunc(e.Findings, hasCode("runaway-controller-first")); has != (tt.want != "") {
				t.Errorf("runaway-controller-first: %v, want %v", has, tt.want != "")
			}
		})
	}
}

// The findings that hold whatever the class.
func TestAdvice(t *testing.T) {
	l := func(edit func(*Layout)) Layout {
		l := Layout{Apiservers: 3}
		if edit != nil {
			edit(&l)
		}
		return l
	}
	for _, tt := range []struct {
		name string
		p    *profile.Profile
		l    Layout
		code string
		want bool
		path string
	}{
		{"several stores, one disk", base(300), l(func(l *Layout) { l.EventsStore = true }), "same-disk-no-gain", true, "controlPlane.etcdDisks"},
		{"ephemeral store, one disk", base(300), l(func(l *Layout) { l.LeasesStore, l.LeasesEphemeral = true, true }), "same-disk-no-gain", false, ""},
		{"one store", base(300), l(nil), "same-disk-no-gain", false, ""},
		{"a layout's quota over 8", base(300), l(func(l *Layout) { l.QuotaGiB = 20 }), "quota-over-8gib", true, "controlPlane.etcdQuotaGiB"},
		{"a layout's quota of 8", base(300), l(func(l *Layout) { l.QuotaGiB = 8 }), "quota-over-8gib", false, ""},
		{"a database over 8", keeping(base(300), gr("example.dev", "things"), 1000000, 9000), l(nil), "quota-over-8gib", true, "controlPlane.etcdQuotaGiB"},
		{"slow pods", base(20), l(nil), "kubelet-bound", false, ""},
		{"usual events", base(20), l(nil), "fat-events", false, ""},
		{"few definitions", base(20), l(nil), "crd-schemas-fewer", false, ""},
		{"many definitions on a large host", withCRDs(base(20), 600), l(nil), "crd-schemas-fewer", true, "state.crds"},
		{"room to restart", base(20), l(nil), "restart-headroom", false, ""},
		{"custom resources that are no trouble", churning(base(20), gr("example.dev", "things"), 5, 500), l(nil), "source-side-fix", false, ""},
		{"a hot group without advice of its own", churning(base(20), gr("example.dev", "things"), 2000, 3000), l(nil), "source-side-fix", true, "churn.resources[0]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fs := Compute(tt.p, tt.l).Findings
			i := slices.IndexFunc(fs, hasCode(tt.code))
			if (i >= 0) != tt.want {
				t.Fatalf("%s: %v, want %v", tt.code, i >= 0, tt.want)
			}
			if i >= 0 && fs[i].Path != tt.path {
				t.Errorf("path %q, want %q", fs[i].Path, tt.path)
			}
		})
	}
}

func withCRDs(p *profile.Profile, n int) *profile.Profile {
	p.State.CRDs = n
	return p
}

// Advice for a custom resource never is an override: the one place that
// mentions the flag says that it does not reach it.
func TestAdviceNeverOverridesCustom(t *testing.T) {
	for _, name := range []string{"45a-admission-reports", "45c-workflow-burst", "45d-kept-runs", "48a-past-ladder"} {
		p := caseProfile(t, name)
		e := Compute(p, Stock(p))
		i := slices.IndexFunc(e.Findings, hasCode("source-side-fix"))
		if i < 0 {
			t.Fatalf("%s: no advice at the source", name)
		}
		f := e.Findings[i]
		if strings.Contains(f.Fix, "override") || !strings.Contains(f.Message, "does not reach custom resources") {
			t.Errorf("%s: %s", name, f)
		}
		group, _, _ := strings.Cut(e.Subject, "/")
		if !strings.Contains(f.Fix, "aggregated tier for "+group) {
			t.Errorf("%s: %q does not name the tier for %s", name, f.Fix, group)
		}
	}
	if p := caseProfile(t, "45d-kept-runs"); !strings.Contains(Compute(p, Stock(p)).Findings[0].Fix, "pruner") &&
		!slices.ContainsFunc(Compute(p, Stock(p)).Findings, func(f finding.Finding) bool { return strings.Contains(f.Fix, "pruner") }) {
		t.Error("kept runs: nothing about the pruner")
	}
}

// Watch fan-out is a class of its own: no store or tier relieves it, one more
// apiserver does, and the finding says both.
func TestFanOutIsNoRung(t *testing.T) {
	p := churning(base(300), gr("example.dev", "sessions"), 400, 2000)
	p.Churn.Resources[0].Watchers = 2000
	e := Compute(p, Stock(p))
	if e.Class != string(fanOut) || e.Subject != "example.dev/sessions" {
		t.Fatalf("class %s about %q", e.Class, e.Subject)
	}
	i := slices.IndexFunc(e.Findings, hasCode("fan-out"))
	if i < 0 {
		t.Fatal("no finding")
	}
	f := e.Findings[i]
	if f.Severity != finding.Warning || f.Path != "churn.resources[0]" || !strings.Contains(f.Message, "no rung mends it") || !strings.Contains(f.Fix, "another apiserver does spread it") {
		t.Errorf("%+v", f)
	}
	for _, w := range WhatIfs(p, Stock(p)) {
		if w.Advised != (w.Name == "apiserver-plus-one") {
			t.Errorf("%s: advised %v: %s", w.Name, w.Advised, w.Verdict)
		}
	}
	// Beside a nearer ceiling it is said all the same.
	p.ControlPlane.EtcdQuotaGiB = 0.1
	if e := Compute(p, Stock(p)); e.Class != string(crChurn) || !slices.ContainsFunc(e.Findings, hasCode("fan-out")) {
		t.Errorf("class %s, findings %v", e.Class, e.Findings)
	}
	quiet := base(300)
	if slices.ContainsFunc(Compute(quiet, Stock(quiet)).Findings, hasCode("fan-out")) {
		t.Error("a quiet cluster is told of fan-out")
	}
}

// Each measure counts what its own axis causes: history of churn is no state,
// neither in main nor in a tier, and nodes are neither.
func TestMeasuresAreOfTheirAxis(t *testing.T) {
	p := base(300)
	l := Stock(p)
	l.Aggregated = []TierGroups{{Name: "example-dev", Groups: []string{"example.dev"}, Replicas: 2}}
	before := Compute(p, l)
	churning(churning(p, gr("batch", "jobs"), 1000, 20000), gr("example.dev", "sessions"), 1000, 20000)
	after := Compute(p, l)
	for _, a := range []Axis{Node, State} {
		for name := range before.Measures[a] {
			if b, n := measure(t, before, a, name), measure(t, after, a, name); n > b*1.0001 {
				t.Errorf("churn raises %s %s from %v to %v", a, name, b, n)
			}
		}
	}
	for _, name := range []string{"databaseRatio", "tierMemoryRatio"} {
		if measure(t, after, Churn, name) <= measure(t, before, Churn, name) {
			t.Errorf("churn does not raise its own %s", name)
		}
	}
	more := Compute(base(30000), l)
	if measure(t, more, State, "databaseRatio") != measure(t, before, State, "databaseRatio") || measure(t, more, Churn, "databaseRatio") != measure(t, before, Churn, "databaseRatio") {
		t.Error("nodes raise what other axes keep")
	}
	if measure(t, more, Node, "databaseRatio") <= measure(t, before, Node, "databaseRatio") {
		t.Error("nodes do not raise their own databaseRatio")
	}
}
