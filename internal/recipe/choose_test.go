package recipe

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/quantity"
)

// TestQuiet: where nothing is near a ceiling nothing is to be done, whatever
// number is beyond an envelope; the rung that would cover it is named.
func TestQuiet(t *testing.T) {
	l := mustLoad(t)
	elected := base()
	elected.Churn.LeaderElections = 2041
	wide := base()
	wide.Nodes.Count, wide.Nodes.PodsPerNode, wide.ControlPlane.MemoryGiB = 3000, 5, 256
	for name, c := range map[string]struct {
		p        *profile.Profile
		axis     int
		covering string
	}{"many elections": {elected, 1, "churn/leases-store"}, "a few thousand nodes": {wide, 0, "node/ci-5k"}} {
		r, findings := selectFor(t, l, c.p)
		for _, choice := range r.Choices {
			if !choice.Quiet || !strings.HasSuffix(choice.Rung.ID, "/stock") || choice.PastLadder || len(choice.Rejected) > 0 {
				t.Errorf("%s: %s, quiet %t", name, choice.Rung.ID, choice.Quiet)
			}
		}
		if got := r.Choices[c.axis]; got.Covering != c.covering || len(got.Beyond) == 0 {
			t.Errorf("%s: covered by %q, beyond %v", name, got.Covering, got.Beyond)
		}
		if len(findings) > 0 {
			t.Errorf("%s: %v", name, findings)
		}
	}
	// Asked for, a rung is taken all the same.
	if r, _ := selectFor(t, l, wide, "node/ci-5k"); r.Choices[0].Rung.ID != "node/ci-5k" || r.Choices[0].Quiet || !r.Choices[1].Quiet {
		t.Errorf("pinned: %+v", r.Choices[0])
	}
}

// TestQuietAxis: beside an axis that needs something, churn and state that are
// nowhere near a ceiling do not.
func TestQuietAxis(t *testing.T) {
	p := base()
	p.Nodes.Count = 25000
	p.Churn.LeaderElections = 6000
	r, _ := selectFor(t, mustLoad(t), p)
	if r.Choices[0].Rung.ID != "node/leases-store" || r.Choices[1].Rung.ID != "churn/stock" || r.PastLadder() {
		t.Errorf("%s %s", r.Choices[0].Rung.ID, r.Choices[1].Rung.ID)
	}
}

// TestSameStoreSameLimits: the rungs of two axes that set up one leases store
// say the same of what it carries.
func TestSameStoreSameLimits(t *testing.T) {
	l := mustLoad(t)
	node, churn := l.byID["node/leases-store"].rung.Envelope, l.byID["churn/leases-store"].rung.Envelope
	for axis, name := range map[estimate.Axis]string{estimate.Node: "livenessWritesPerSecond", estimate.Churn: "leaderElectionWritesPerSecond"} {
		if a, b := node[axis][name], churn[axis][name]; a != b || a == 0 {
			t.Errorf("%s: %g and %g", name, a, b)
		}
	}
	if node[estimate.Node]["livenessWritesPerSecond"]+node[estimate.Churn]["leaderElectionWritesPerSecond"] >= 10000 {
		t.Error("together they are more than the weakest etcd commits")
	}
}

// TestContradictionIsNoWall: a rung of the user that contradicts the one the
// load needs is told as that, with both places, and the ladder is not past.
func TestContradictionIsNoWall(t *testing.T) {
	text := strings.NewReplacer("order:   15", "order:   5", `node.rungs."ci-5k".moves & {scheduler: flags: v: "2"}`,
		`{apiserver: flags: "max-mutating-requests-inflight": "999"}`,
		"import (\n\t\"github.com/kubeseams/seams/recipes/node\"\n", "import (\n").Replace(mine)
	l, findings := withRungs(t, map[string]string{"mine.cue": text})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	p := base()
	p.Nodes.Count = 7000
	p.Churn.Resources = []profile.ChurnResource{{GroupResource: profile.GroupResource{Group: "x.example.dev", Resource: "runs"},
		UpdatesPerSecond: 2000, ObjectBytes: 3000, Watchers: 1, Scope: "all", Shape: "structured"}}
	r, findings := selectFor(t, l, p)
	if r.Choices[0].Rung.ID != "node/eight-k" || r.Choices[1].Rung.ID != "churn/aggregated-tier" || r.PastLadder() {
		t.Errorf("chose %s, %s, past the ladder %t", r.Choices[0].Rung.ID, r.Choices[1].Rung.ID, r.PastLadder())
	}
	if len(findings) != 1 || findings[0].Code != "recipe-conflict" || findings[0].Severity != finding.Error {
		t.Fatalf("findings %v", findings)
	}
	for _, place := range []string{"mine/mine.cue:", "recipes/churn/events-store.cue:", `"999"`, `"400"`} {
		if !strings.Contains(findings[0].Message, place) {
			t.Errorf("%q does not say %s", findings[0].Message, place)
		}
	}
}

// TestQuotaIsNotLowered: a quota that is larger than a rung's stays.
func TestQuotaIsNotLowered(t *testing.T) {
	p := base()
	p.ControlPlane.EtcdQuotaGiB = 16
	if r, _ := selectFor(t, mustLoad(t), p, "node/ci-5k"); r.Layout.QuotaGiB != 0 {
		t.Errorf("the layout's quota is %g GiB", r.Layout.QuotaGiB)
	}
	p.ControlPlane.EtcdQuotaGiB = 2
	if r, _ := selectFor(t, mustLoad(t), p, "node/ci-5k"); r.Layout.QuotaGiB != 8 {
		t.Errorf("the layout's quota is %g GiB", r.Layout.QuotaGiB)
	}
}

// TestReasons reads the high end first, and bytes as bytes.
func TestReasons(t *testing.T) {
	p := base()
	p.Churn.Resources = []profile.ChurnResource{{GroupResource: profile.GroupResource{Group: "x.example.dev", Resource: "runs"},
		UpdatesPerSecond: 20, ObjectBytes: 500000, Watchers: 1, Scope: "all", Shape: "structured"}}
	r, _ := selectFor(t, mustLoad(t), p)
	var reasons []string
	for _, x := range r.Choices[1].Rejected {
		reasons = append(reasons, x.Reasons...)
	}
	if !slices.Contains(reasons, "custom bytes into the main etcd 10 MB/s > 2 MB/s") {
		t.Errorf("%q", reasons)
	}
}

// TestNoWallInSilence holds for every profile: an axis at or over its wall that
// ends on a rung that moves nothing comes with a warning, unless the rungs of
// the other axes took it from the wall; and what is comfortable is never past
// the ladder and needs nothing.
func TestNoWallInSilence(t *testing.T) {
	l := mustLoad(t)
	rapid.Check(t, func(t *rapid.T) {
		p := genProfile(t)
		p.ControlPlane.EtcdQuotaGiB = rapid.SampledFrom([]float64{0.5, 2, 8, 64}).Draw(t, "quota")
		p.ControlPlane.CPU = rapid.SampledFrom([]int{2, 16, 96}).Draw(t, "cpu")
		for i := range p.Churn.Resources {
			p.Churn.Resources[i].Watchers = rapid.SampledFrom([]int{1, 20, 5000}).Draw(t, "manyWatchers")
		}
		at, err := p.Target()
		if err != nil {
			t.Skip(err)
		}
		stock := estimate.Compute(p, estimate.Stock(p))
		r, findings, err := l.Select(p, at, SelectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		after := estimate.Compute(p, r.Layout)
		warned := finding.AtLeast(slices.Concat(stock.Findings, findings), finding.Warning)
		for i, c := range r.Choices {
			if stock.Class == "comfortable" && (c.PastLadder || !l.byID[c.Rung.ID].still) {
				t.Fatalf("comfortable, and the %s axis is on %s", c.Axis, c.Rung.ID)
			}
			if stock.Pressures[i].Value >= 1 && !c.PastLadder && l.byID[c.Rung.ID].still && after.Pressures[i].Value >= 1 && !warned {
				t.Fatalf("the %s axis is at %s (%s), stays on %s, and nothing is said", c.Axis,
					quantity.Ratio(stock.Pressures[i].Value), stock.Pressures[i].Limit, c.Rung.ID)
			}
			if after.Pressures[i].Value >= 1 && !c.PastLadder && !tells(slices.Concat(after.Findings, findings), string(c.Axis)) {
				t.Fatalf("the %s axis stays at %s (%s) with %s, and no finding is about it: %v", c.Axis,
					quantity.Ratio(after.Pressures[i].Value), after.Pressures[i].Limit, c.Rung.ID, findings)
			}
		}
	})
}

// tells reports whether a finding is about an axis' wall.
func tells(fs []finding.Finding, axis string) bool {
	return slices.ContainsFunc(fs, func(f finding.Finding) bool {
		return f.Severity >= finding.Warning &&
			(f.Code == "axis-over-wall" && f.Path == axis || f.Code == "fan-out" && axis == "churn" || f.Code == "slow-disk-first")
	})
}

// TestDatabaseFullTogether: three axes that each leave room can still fill one
// etcd, which is said.
func TestDatabaseFullTogether(t *testing.T) {
	p := base()
	p.ControlPlane.EtcdQuotaGiB = 2
	p.Nodes.Count, p.Nodes.PodsPerNode, p.Nodes.NodeBytes = 1000, 100, 60000
	p.Churn.Resources = []profile.ChurnResource{{GroupResource: profile.GroupResource{Group: "apps", Resource: "deployments"},
		UpdatesPerSecond: 300, ObjectBytes: 4500, Watchers: 1, Scope: "all", Shape: "structured"}}
	p.State.Resources = []profile.StateResource{{GroupResource: profile.GroupResource{Resource: "secrets"}, Count: 100000, Bytes: 10000, Listers: 1, Shape: "opaque"}}
	r, findings := selectFor(t, mustLoad(t), p)
	e := estimate.Compute(p, r.Layout)
	db, _ := e.Figure("store.main.db")
	if full := db.Value >= 2<<30; full != slices.Contains(codes(findings), "database-over-quota") || !full {
		t.Errorf("%s in main, rungs %v, findings %v", quantity.Bytes(db.Value), r.Choices[0].Rung.ID+" "+r.Choices[1].Rung.ID, findings)
	}
}
