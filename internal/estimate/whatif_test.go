package estimate

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubeseams/seams/internal/profile"
)

func names(ws []WhatIf) (ns []string) {
	for _, w := range ws {
		ns = append(ns, w.Name)
	}
	return ns
}

func whatIf(t *testing.T, p *profile.Profile, l Layout, name string) WhatIf {
	t.Helper()
	ws := WhatIfs(p, l)
	i := slices.IndexFunc(ws, func(w WhatIf) bool { return w.Name == name })
	if i < 0 {
		t.Fatalf("%s is not offered; there are %v", name, names(ws))
	}
	return ws[i]
}

func TestWhatIfOffers(t *testing.T) {
	p := churning(keeping(base(3000), gr("example.dev", "reports"), 5000, 4000), gr("example.dev", "sessions"), 50, 3000)
	want := []string{"apiserver-plus-one", "events-store", "leases-store", "cache-off", "aggregated-tier", "longer-lease"}
	if got := names(WhatIfs(p, Stock(p))); !slices.Equal(got, want) {
		t.Errorf("offered %v, want %v", got, want)
	}
	done := Stock(p)
	done.EventsStore, done.LeasesStore, done.LeaseDurationSeconds = true, true, 160
	done.Aggregated = []TierGroups{{Name: "example-dev", Groups: []string{"example.dev"}, Replicas: 2}}
	if got := names(WhatIfs(p, done)); !slices.Equal(got, []string{"apiserver-plus-one"}) {
		t.Errorf("with everything done %v is offered, want one more apiserver only", got)
	}
	plain := base(3000)
	if got := names(WhatIfs(plain, Stock(plain))); slices.Contains(got, "aggregated-tier") || slices.Contains(got, "cache-off") {
		t.Errorf("%v is offered to a profile without resources of its own", got)
	}
}

// What the network of pods needs, and what everybody watches, stays.
func TestWhatIfLeavesAlone(t *testing.T) {
	p := base(100)
	for _, g := range neverCold {
		keeping(p, g, 10000, 5000)
	}
	keeping(p, gr("cilium.io", "ciliumnodes"), 10, 100)
	ws := WhatIfs(p, Stock(p))
	for _, w := range ws {
		if w.Name == "aggregated-tier" {
			t.Errorf("offered: %s", w.Change)
		}
		if w.Name == "cache-off" && w.Change != "cilium.io/ciliumnodes off the watch cache" {
			t.Errorf("offered: %s", w.Change)
		}
	}
	hot := keeping(base(100), gr("example.dev", "reports"), 10000, 5000)
	for name, heat := range map[string]func(){
		"listers": func() { hot.State.Resources[0].Listers = coldListers + 1 },
		"writes":  func() { churning(hot, gr("example.dev", "reports"), coldWrites+1, 5000) },
		"watchers": func() {
			churning(hot, gr("example.dev", "reports"), 0.1, 5000).Churn.Resources[0].Watchers = coldWatches + 1
		},
	} {
		hot.State.Resources[0].Listers, hot.Churn.Resources = 1, nil
		if !slices.Contains(names(WhatIfs(hot, Stock(hot))), "cache-off") {
			t.Fatal("a cold resource is not offered")
		}
		heat()
		if slices.Contains(names(WhatIfs(hot, Stock(hot))), "cache-off") {
			t.Errorf("offered in spite of its %s", name)
		}
	}
}

// The leases store of a host with one disk must be in memory to take commits off it.
func TestWhatIfLeasesStoreDisk(t *testing.T) {
	p := base(100000)
	one := whatIf(t, p, Stock(p), "leases-store")
	if !strings.Contains(one.Change, "in memory") {
		t.Errorf("one disk: %s", one.Change)
	}
	p.ControlPlane.EtcdDisks = 2
	two := whatIf(t, p, Stock(p), "leases-store")
	if strings.Contains(two.Change, "in memory") {
		t.Errorf("two disks: %s", two.Change)
	}
	l := Stock(p)
	l.LeasesStore = true
	for disks, shared := range map[int]bool{1: true, 2: false} {
		p.ControlPlane.EtcdDisks = disks
		e := Compute(p, l)
		i := slices.IndexFunc(e.Pressures[0].Ratios, func(f Figure) bool { return f.ID == "pressure.node.commits.main" })
		f := e.Pressures[0].Ratios[i]
		if got := f.Value > 1; got != shared {
			t.Errorf("%d disks: %s at %.2f", disks, f.Label, f.Value)
		}
		if has := slices.ContainsFunc(e.Findings, hasCode("same-disk-no-gain")); has != shared {
			t.Errorf("%d disks: same-disk-no-gain %v", disks, has)
		}
	}
}

func TestWhatIfVerdicts(t *testing.T) {
	liveness := base(100000)
	liveness.Nodes.PodsPerNode, liveness.Nodes.WatchesPerNode = 0, 1
	for _, tt := range []struct {
		name     string
		p        *profile.Profile
		advised  bool
		contains []string
	}{
		{"apiserver-plus-one", liveness, false, []string{"no relief for node", "+", "GiB resident"}},
		{"events-store", liveness, false, []string{"no relief for node"}},
		{"leases-store", liveness, true, []string{"helps node", "writes/s off the main etcd"}},
		{"longer-lease", liveness, true, []string{"helps node", "7,500 writes/s off the main etcd", "a dead node is noticed after 200 s"}},
		{"aggregated-tier", churning(base(100), gr("example.dev", "sessions"), 1200, 3000), true, []string{"helps churn", "1,200 writes/s off the main etcd"}},
		{"aggregated-tier", churning(base(100), gr("example.dev", "sessions"), 100, 3000), false, []string{"not called for (churn"}},
		{"cache-off", keeping(base(100), gr("example.dev", "reports"), 100000, 14000), false, []string{"no relief for state (stored bytes of example.dev/reports stays", "-"}},
		{"cache-off", keeping(keeping(base(100), gr("one.dev", "reports"), 50000, 14000), gr("two.dev", "reports"), 70000, 14000), false,
			[]string{"no relief for state (memory of one kube-apiserver", "but stored bytes of two.dev/reports at 0.65"}},
		{"cache-off", keeping(keeping(base(100), gr("one.dev", "reports"), 60000, 10000), gr("two.dev", "reports"), 70000, 10000), true, []string{"helps state", "-"}},
	} {
		w := whatIf(t, tt.p, Stock(tt.p), tt.name)
		if w.Advised != tt.advised {
			t.Errorf("%s: advised %v: %s", tt.name, w.Advised, w.Verdict)
		}
		for _, s := range tt.contains {
			if !strings.Contains(w.Verdict, s) {
				t.Errorf("%s: %q does not say %q", tt.name, w.Verdict, s)
			}
		}
	}
}

// More apiservers do relieve one thing, request capacity, and the verdict says at what price.
func TestWhatIfSeats(t *testing.T) {
	p := churning(base(100), gr("example.dev", "a"), 1300, 500)
	for i := range 20 {
		churning(p, gr("example.dev", "b"+string(rune('a'+i))), 1300, 500)
	}
	p.ControlPlane.EtcdQuotaGiB, p.ControlPlane.Apiservers = 100, 1
	e := Compute(p, Stock(p))
	if e.Pressures[1].Limit != "commits of main etcd" && e.Pressures[1].Limit != "request seats" {
		t.Fatalf("%s is nearest", e.Pressures[1].Limit)
	}
	w := whatIf(t, p, Stock(p), "apiserver-plus-one")
	if w.MainWrites.Value < fig(t, e, "store.main.writes").Value || !strings.Contains(w.Verdict, "request seats") || !strings.Contains(w.Verdict, "GiB resident") {
		t.Errorf("%q", w.Verdict)
	}
}

// A what-if's numbers are those of an estimate of the changed layout.
func TestWhatIfIsAnEstimate(t *testing.T) {
	p := keeping(base(5000), gr("example.dev", "reports"), 50000, 14000)
	w := whatIf(t, p, Stock(p), "aggregated-tier")
	l := Stock(p)
	l.Aggregated = []TierGroups{{Name: "example-dev", Groups: []string{"example.dev"}, Replicas: 2}}
	e := Compute(p, l)
	if w.MainWrites.Value != fig(t, e, "store.main.writes").Value || w.ResidentTotal.Value != fig(t, e, "resident.total").Value ||
		w.HeapPerApiserver.Value != fig(t, e, "apiserver.heap").Value || w.Pressures[2].Value != e.Pressures[2].Value {
		t.Errorf("%+v is not the estimate of %+v", w, l)
	}
	if fig(t, e, "tier.example-dev.heap").Value <= fig(t, Compute(p, Stock(p)), "resource.reports.example.dev.cached").Value {
		t.Error("the tier must hold the group that left the main apiservers")
	}
}

func BenchmarkCompute(b *testing.B) {
	for _, name := range []string{"43-leases", "45e-runaway-certs"} {
		p := caseProfile(b, name)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Compute(p, Stock(p))
			}
		})
	}
	p := base(500)
	for i := range 24 {
		keeping(p, gr("g"+string(rune('a'+i))+".example.dev", "things"), 1000, 5000)
	}
	b.Run("24 resources", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Compute(p, Stock(p))
		}
	})
}

func BenchmarkWhatIfs(b *testing.B) {
	p := caseProfile(b, "45c-workflow-burst")
	for b.Loop() {
		WhatIfs(p, Stock(p))
	}
}

// The cheapest thing to do about a full database is offered where the database
// is what is nearest, and nowhere else.
func TestWhatIfQuota(t *testing.T) {
	p := base(15000)
	p.ControlPlane.EtcdQuotaGiB = 2
	w := whatIf(t, p, Stock(p), "quota-8gib")
	if !w.Advised || !strings.Contains(w.Verdict, "helps node") || !strings.Contains(w.Verdict, "to start") {
		t.Errorf("advised %v: %s", w.Advised, w.Verdict)
	}
	p.ControlPlane.EtcdQuotaGiB = 8
	if slices.Contains(names(WhatIfs(p, Stock(p))), "quota-8gib") {
		t.Error("offered at 8 GiB")
	}
	fast := churning(base(100), gr("example.dev", "sessions"), 2000, 100)
	fast.ControlPlane.EtcdQuotaGiB = 4
	if slices.Contains(names(WhatIfs(fast, Stock(fast))), "quota-8gib") {
		t.Error("offered where no database is the ceiling")
	}
}

// A recipe is compared as every other change is.
func TestCompare(t *testing.T) {
	p := base(15000)
	p.ControlPlane.EtcdQuotaGiB = 2
	l := Stock(p)
	l.LeasesStore, l.QuotaGiB = true, 8
	w := Compare(p, "recipe", "the recipe", l)
	if after := Compute(p, l); w.Name != "recipe" || !w.Advised || w.Pressures[0].Value != after.Pressures[0].Value {
		t.Errorf("%+v", w)
	}
	if same := Compare(p, "recipe", "the recipe", Stock(p)); same.Advised || !strings.Contains(same.Verdict, "no relief") {
		t.Errorf("%+v", same)
	}
}
