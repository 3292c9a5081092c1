package recipe

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/target"
)

// base is a profile as the loader fills it in, of a small quiet cluster.
func base() *profile.Profile {
	return &profile.Profile{
		Name: "base", Kubernetes: "1.37", Platform: profile.Platform{Kind: "kubeadm"},
		Nodes: profile.Nodes{Count: 100, LeaseDurationSeconds: 40, MonitorGraceSeconds: 50, NodeBytes: 20000,
			PodsPerNode: 10, PodBytes: 5000, WatchesPerNode: 18},
		Churn: profile.Churn{Events: profile.Events{Bytes: 900, TTLSeconds: 3600}, LeaderElections: 2},
		State: profile.State{RBACObjects: 200},
		ControlPlane: profile.ControlPlane{Apiservers: 3, CPU: 16, MemoryGiB: 64, Disk: "ssd", EtcdDisks: 1, EtcdQuotaGiB: 8,
			Hosts: []profile.Host{{Name: "a", Address: "10.0.0.1"}, {Name: "b", Address: "10.0.0.2"}, {Name: "c", Address: "10.0.0.3"}}},
	}
}

func onKops(p *profile.Profile, version string) *profile.Profile {
	p.Platform = profile.Platform{Kind: "kops", Kops: &profile.Kops{Version: version, Cloud: "aws"}}
	p.Kubernetes = "1.35"
	return p
}

func codes(fs []finding.Finding) []string {
	var cs []string
	for _, f := range fs {
		cs = append(cs, f.Code)
	}
	return cs
}

// TestRequirementStandsInTheWay: the load fits a rung that this kOps cannot
// have. That is no wall, and the finding says what would help.
func TestRequirementStandsInTheWay(t *testing.T) {
	p := onKops(base(), "1.35.2")
	p.Nodes.Count = 25000
	r, findings := selectFor(t, mustLoad(t), p)
	if !r.Choices[0].PastLadder {
		t.Errorf("chose %s", r.Choices[0].Rung.ID)
	}
	i := slices.IndexFunc(findings, func(f finding.Finding) bool { return f.Code == "rung-requirement" })
	if i < 0 || findings[i].Severity != finding.Error || !strings.Contains(findings[i].Message, "needs kOps 1.36 or later, not 1.35.2") {
		t.Errorf("findings %v", findings)
	}
	// What is left to render is the highest rung that can be had.
	if r.Settings.Scheduler.QPS != 100 || r.Layout.LeasesStore {
		t.Errorf("settings are not those of node/ci-5k: %+v", r.Settings)
	}
	p.Platform.Kops.Version = "1.36.2"
	if r, findings = selectFor(t, mustLoad(t), p); r.Choices[0].Rung.ID != "node/leases-store" || len(findings) > 0 {
		t.Errorf("with kOps 1.36: %s, %v", r.Choices[0].Rung.ID, findings)
	}
}

// TestPins forces a rung on each axis, and an optional one besides.
func TestPins(t *testing.T) {
	l, p := mustLoad(t), base()
	pins := []string{"state/client-shards", "churn/leases-store", "node/node-tier", "node/longer-lease"}
	r, findings := selectFor(t, l, p, pins...)
	if got := r.Choices[0].Rung.ID + " " + r.Choices[1].Rung.ID + " " + r.Choices[2].Rung.ID; got != "node/node-tier churn/leases-store state/stock" {
		t.Errorf("chose %s", got)
	}
	if len(r.With) != 2 || r.With[0].ID != "node/longer-lease" || r.With[1].ID != "state/client-shards" {
		t.Errorf("with %v", r.With)
	}
	if len(findings) > 0 {
		t.Errorf("findings %v", findings)
	}
	if !r.Layout.LeasesEphemeral || r.Layout.LeaseDurationSeconds != 160 || r.Settings.Sharding == nil {
		t.Errorf("the pinned rungs' moves are missing: %+v", r.Layout)
	}
	reordered, _ := selectFor(t, l, p, pins[3], pins[1], pins[0], pins[2])
	if r.Digest != reordered.Digest {
		t.Error("the digest depends on the order of the pins")
	}
}

func TestPinsThatDoNotFit(t *testing.T) {
	l := mustLoad(t)
	big := base()
	big.Nodes.Count = 25000
	for name, c := range map[string]struct {
		p     *profile.Profile
		rungs []string
		code  string
	}{
		"too low for the load":        {big, []string{"node/ci-5k"}, "rung-pinned-beyond"},
		"not for the platform":        {onKops(base(), "1.36.2"), []string{"node/node-tier"}, "rung-requirement"},
		"optional, not in this minor": {onKops(base(), "1.36.2"), []string{"state/client-shards"}, "rung-requirement"},
	} {
		_, findings := selectFor(t, l, c.p, c.rungs...)
		if !slices.Contains(codes(findings), c.code) {
			t.Errorf("%s: findings %v, want %s", name, findings, c.code)
		}
	}
	at, _ := big.Target()
	for _, rungs := range [][]string{{"node/nowhere"}, {"node/stock", "node/ci-5k"}} {
		if _, _, err := l.Select(big, at, SelectOptions{Rungs: rungs}); err == nil {
			t.Errorf("%v is accepted", rungs)
		}
	}
	r, _ := selectFor(t, l, big, "node/absorbed-liveness")
	if !r.PastLadder() || !r.Layout.LeasesEphemeral {
		t.Errorf("the pinned open rung: past %t, layout %+v", r.PastLadder(), r.Layout)
	}
}

// TestBeyond says where the evidence of a rung ends on another axis.
func TestBeyond(t *testing.T) {
	p := base()
	p.Nodes.Count = 25000
	p.Churn.Resources = []profile.ChurnResource{{GroupResource: profile.GroupResource{Group: "x.example.dev", Resource: "runs"},
		UpdatesPerSecond: 2000, ObjectBytes: 3000, Watchers: 1, Scope: "all", Shape: "structured"}}
	r, _ := selectFor(t, mustLoad(t), p)
	if r.Choices[1].Rung.ID != "churn/aggregated-tier" {
		t.Fatalf("chose %s", r.Choices[1].Rung.ID)
	}
	// The node axis' own rung carries what this one's evidence does not reach.
	if len(r.Choices[1].Beyond) > 0 {
		t.Errorf("beyond %q", r.Choices[1].Beyond)
	}
	r, _ = selectFor(t, mustLoad(t), p, "node/ci-5k")
	want := []string{"liveness up to 2,625/s (estimate 2,583/s) > 600/s", "nodes 25,000 > 5,000"}
	if r.Choices[1].Rung.ID != "churn/aggregated-tier" || !cmp.Equal(want[1:], r.Choices[1].Beyond) || !cmp.Equal(want, r.Choices[0].Beyond) {
		t.Errorf("%s beyond %q, want %q", r.Choices[1].Rung.ID, r.Choices[1].Beyond, want)
	}
}

// genProfile draws profiles over the whole range that the schema allows.
func genProfile(t *rapid.T) *profile.Profile {
	p := base()
	p.Kubernetes = rapid.SampledFrom([]string{"1.34", "1.35", "1.36", "1.37"}).Draw(t, "kubernetes")
	p.Platform.Kind = rapid.SampledFrom([]string{"kubeadm", "kind", "staticpod", "kops"}).Draw(t, "platform")
	if p.Platform.Kind == "kops" {
		p.Platform.Kops = &profile.Kops{Version: rapid.SampledFrom([]string{"1.34.3", "1.35.2", "1.36.2"}).Draw(t, "kops"), Cloud: "gce"}
	}
	p.Nodes.Count = rapid.IntRange(1, 200000).Draw(t, "nodes")
	p.Nodes.PodChurnPerSecond = rapid.Float64Range(0, 300).Draw(t, "podChurn")
	p.Churn.LeaderElections = rapid.IntRange(0, 3000).Draw(t, "elections")
	for i := range rapid.IntRange(0, 6).Draw(t, "rows") {
		gr := profile.GroupResource{
			Group:    rapid.SampledFrom([]string{"", "apps", "a.example.dev", "b.example.dev", "c.x-k8s.io", "cilium.io"}).Draw(t, "group"),
			Resource: rapid.SampledFrom([]string{"pods", "secrets", "deployments", "widgets", "runs"}).Draw(t, "resource"),
		}
		if i%2 == 0 {
			p.Churn.Resources = append(p.Churn.Resources, profile.ChurnResource{GroupResource: gr, Scope: "all", Shape: "structured",
				UpdatesPerSecond: rapid.Float64Range(0, 8000).Draw(t, "updates"), ObjectBytes: rapid.IntRange(1, 100000).Draw(t, "bytes"),
				Live: rapid.IntRange(0, 10000).Draw(t, "live"), Watchers: rapid.IntRange(0, 20).Draw(t, "watchers")})
			continue
		}
		p.State.Resources = append(p.State.Resources, profile.StateResource{GroupResource: gr, Shape: "structured",
			Count: rapid.IntRange(0, 300000).Draw(t, "count"), Bytes: rapid.IntRange(1, 20000).Draw(t, "bytes"), Listers: rapid.IntRange(0, 9).Draw(t, "listers")})
	}
	p.ControlPlane.MemoryGiB = rapid.SampledFrom([]float64{4, 16, 64, 256}).Draw(t, "memory")
	return p
}

// TestSelectLaws holds for every profile: one choice for each axis, in order;
// what is chosen covers its own axis or is open; the same input gives the same
// recipe; no custom resource is routed, no group is in two tiers.
func TestSelectLaws(t *testing.T) {
	l := mustLoad(t)
	rapid.Check(t, func(t *rapid.T) {
		p := genProfile(t)
		at, err := p.Target()
		if err != nil {
			t.Skip(err)
		}
		r, findings, err := l.Select(p, at, SelectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		again, findingsAgain, err := l.Select(p, at, SelectOptions{})
		if err != nil || !cmp.Equal(r, again) || !cmp.Equal(findings, findingsAgain) {
			t.Fatalf("two runs differ: %v %s", err, cmp.Diff(r, again))
		}
		for i, c := range r.Choices {
			if c.Axis != estimate.Axes[i] || c.PastLadder != (c.Rung.Status == Open) || c.Rung.Optional {
				t.Fatalf("choice %d is %s, past %t", i, c.Rung.ID, c.PastLadder)
			}
			if len(c.Rung.Requires.Unmet(at)) > 0 {
				t.Fatalf("%s cannot be had here", c.Rung.ID)
			}
		}
		checkTiers(t, r, at)
		for route := range r.Settings.Routes {
			if group, resource, _ := strings.Cut(route, "/"); !target.BuiltIn(at.Kubernetes, group, resource) {
				t.Fatalf("%s is routed", route)
			}
		}
	})
}

func checkTiers(t *rapid.T, r *Recipe, at target.Target) {
	seen, names := map[string]bool{}, map[string]bool{}
	for _, tier := range r.Layout.Aggregated {
		if names[tier.Name] || len(tier.Name) > maxTierName || tier.Replicas < 1 {
			t.Fatalf("tier %+v", tier)
		}
		names[tier.Name] = true
		for _, g := range tier.Groups {
			if seen[g] || g == "" || g == "apps" || StaysForBootstrap(g) {
				t.Fatalf("the group %q is moved twice or must not move", g)
			}
			seen[g] = true
		}
	}
	for _, u := range slices.Concat(r.Layout.Uncached, r.Layout.UncachedNodeTier) {
		if watchedByNodes[u.String()] {
			t.Fatalf("%s is off the watch cache", u)
		}
	}
}

// TestMoreNodesNeverLower: with everything else equal, more nodes never lead to
// a lower rung on the node axis.
func TestMoreNodesNeverLower(t *testing.T) {
	l := mustLoad(t)
	order := -1
	for _, nodes := range []int{1, 500, 999, 1000, 1001, 2000, 5000, 5001, 30000, 30001, 120000, 120001, 500000} {
		p := base()
		p.Nodes.Count = nodes
		r, _ := selectFor(t, l, p)
		if r.Choices[0].Rung.Order < order {
			t.Errorf("%d nodes: %s is lower than with fewer", nodes, r.Choices[0].Rung.ID)
		}
		order = r.Choices[0].Rung.Order
	}
	if order != 40 {
		t.Errorf("500,000 nodes end at order %d, want the open rung", order)
	}
}

// TestMemoryStaysFlat runs a thousand different profiles through one ladder:
// what is kept grows with the sets of rungs, not with the profiles.
func TestMemoryStaysFlat(t *testing.T) {
	l := mustLoad(t)
	run := func(from, to int) {
		for i := from; i < to; i++ {
			p := base()
			p.Name = fmt.Sprintf("p%d", i)
			p.Nodes.Count = 1 + i*37%20000
			p.State.Resources = []profile.StateResource{{GroupResource: profile.GroupResource{Group: "x.example.dev", Resource: "things"}, Count: i * 100, Bytes: 5000, Shape: "structured"}}
			selectFor(t, l, p)
		}
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	run(0, 200)
	before, sets := heap(), len(l.cache)
	run(200, 1200)
	after := heap()
	if grown := int64(after) - int64(before); grown > 4<<20 {
		t.Errorf("the heap grew by %d KiB over 1,000 profiles (%d, then %d sets of rungs)", grown>>10, sets, len(l.cache))
	}
	runtime.KeepAlive(l)
}

func BenchmarkSelect(b *testing.B) {
	l := mustLoad(b)
	for name, p := range map[string]*profile.Profile{"quiet": base(), "45c": loadCase(b, "45c-workflow-burst"), "45a": loadCase(b, "45a-admission-reports")} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				selectFor(b, l, p)
			}
		})
	}
}

// TestSelectConcurrently: a ladder serves several goroutines, and each gets
// what it would get alone.
func TestSelectConcurrently(t *testing.T) {
	p := base()
	p.Nodes.Count = 50000
	want, _ := selectFor(t, mustLoad(t), p)
	l := mustLoad(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			at, _ := p.Target()
			got, _, err := l.Select(p, at, SelectOptions{})
			if err != nil || !cmp.Equal(want, got) {
				t.Errorf("%v\n%s", err, cmp.Diff(want, got))
			}
		})
	}
	wg.Wait()
}
