package prove

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/scrape"
)

// All parts of a load together are the load, none is empty of what the load
// has, and they differ by one at most.
func TestPartsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		groups := rapid.IntRange(1, 4).Draw(t, "groups")
		d := Demand{
			Nodes: rapid.IntRange(0, 5000).Draw(t, "nodes"), Elections: rapid.IntRange(0, 500).Draw(t, "elections"), Groups: groups,
			Objects: groups * rapid.IntRange(0, 3000).Draw(t, "objects"), RBACObjects: rapid.IntRange(0, 300).Draw(t, "rbac"),
			WritesPerSecond: rapid.Float64Range(0, 5000).Draw(t, "writes"), Seconds: 60,
		}
		n := d.Parts(rapid.IntRange(1, 40).Draw(t, "n"))
		var sum Demand
		for i := range n {
			p := d.Part(i, n)
			sum.Nodes, sum.Elections, sum.Objects, sum.RBACObjects = sum.Nodes+p.Nodes, sum.Elections+p.Elections, sum.Objects+p.Objects, sum.RBACObjects+p.RBACObjects
			sum.WritesPerSecond += p.WritesPerSecond
			for whole, part := range map[int]int{d.Nodes: p.Nodes, d.Elections: p.Elections, d.RBACObjects: p.RBACObjects} {
				if part < whole/n || part > whole/n+1 || whole > 0 && part == 0 {
					t.Fatalf("part %d of %d has %d of %d", i, n, part, whole)
				}
			}
			if p.Seconds != d.Seconds || p.Objects%groups != 0 {
				t.Fatalf("part %+v of %+v", p, d)
			}
		}
		if sum.Nodes != d.Nodes || sum.Elections != d.Elections || sum.Objects != d.Objects || sum.RBACObjects != d.RBACObjects {
			t.Fatalf("%d parts make %+v of %+v", n, sum, d)
		}
		if diff := sum.WritesPerSecond - d.WritesPerSecond; diff > 1e-6 || diff < -1e-6 {
			t.Fatalf("%g of %g writes a second", sum.WritesPerSecond, d.WritesPerSecond)
		}
	})
}

// The timetables of parts interleave: parts of a rate start one interval of the
// whole apart.
func TestLag(t *testing.T) {
	d := Demand{Kind: KindEvents, EventsPerSecond: 100}
	if got := d.Lag(3); got != 30*time.Millisecond {
		t.Errorf("the fourth part starts after %s", got)
	}
	if got := (Demand{Kind: KindNodes, Nodes: 5}).Lag(3); got != 0 {
		t.Errorf("nodes have a jitter of their own, and no lag of %s", got)
	}
}

// What cannot be cut is the first part's alone.
func TestStepsOfParts(t *testing.T) {
	d := Demand{Kind: KindShards, Groups: 1, Objects: 10, Shards: 2, WritesPerSecond: 4, Seconds: 5}
	for first, want := range map[bool][]string{true: {"objects", "watchers", "probe"}, false: {"objects"}} {
		steps, err := d.Steps(&load.Driver{}, Place{Namespace: "n"}, first, true)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range steps {
			names = append(names, s.Name())
		}
		if len(names) != len(want) || names[0] != want[0] || names[len(names)-1] != want[len(want)-1] {
			t.Errorf("first %t: %v, want %v", first, names, want)
		}
	}
}

func TestJudgeSeen(t *testing.T) {
	limit := func(metric, against string) recipe.ProofLimit {
		return recipe.ProofLimit{Metric: metric, Op: "<=", Value: 1, Against: against}
	}
	seen := []scrape.Figure{{Name: "low", Value: 0.5}, {Name: "high", Value: 2}}
	why := func(metric string) string { return metric + " is dark" }
	for _, c := range []struct {
		name            string
		limits          []recipe.ProofLimit
		pass, undecided bool
		problem         string // of the last
	}{
		{"all seen and met", []recipe.ProofLimit{limit("low", "absolute")}, true, false, ""},
		{"one not met", []recipe.ProofLimit{limit("high", "absolute")}, false, false, ""},
		{"one not seen", []recipe.ProofLimit{limit("low", "absolute"), limit("store.main.puts", "absolute")}, false, true, "not seen: store.main.puts is dark"},
		{"against stock", []recipe.ProofLimit{limit("low", "stock")}, false, true, "not seen: there is no stock layout beside an existing cluster"},
		{"a failure decides", []recipe.ProofLimit{limit("high", "absolute"), limit("dark", "absolute")}, false, false, "not seen: dark is dark"},
	} {
		lines, undecided := JudgeSeen(c.limits, seen, why)
		if Passed(lines) != c.pass || undecided != c.undecided || lines[len(lines)-1].Problem != c.problem {
			t.Errorf("%s: pass %t, undecided %t, %q", c.name, Passed(lines), undecided, lines[len(lines)-1].Problem)
		}
	}
}
