package prove

import (
	"context"
	"strings"
	"testing"

	"github.com/kubeseams/seams/internal/recipe"
)

func mustLadder(t testing.TB) *recipe.Ladder {
	t.Helper()
	l, findings, err := recipe.Load(recipe.Options{})
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	return l
}

// TestProofsCanBeRead reads the load of every rung's proof, and renders the
// rung and the stock layout for it.
func TestProofsCanBeRead(t *testing.T) {
	ladder := mustLadder(t)
	for _, r := range ladder.Rungs() {
		if r.Proof == nil {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			d, err := demandOf(r.Proof)
			if err != nil {
				t.Fatal(err)
			}
			p, err := profilesOf(context.Background(), d, Probed(r), "1.37")
			if err != nil {
				t.Fatal(err)
			}
			stock, err := layoutOf(ladder, p, stockRungs)
			if err != nil {
				t.Fatal(err)
			}
			rung, err := layoutOf(ladder, p, pins(r))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(strings.Join(rung.Rungs, " "), r.ID) {
				t.Errorf("the rung's layout is of %v", rung.Rungs)
			}
			if stockRung := r.Order == 0; (stock.Digest == rung.Digest) != stockRung {
				t.Errorf("digests of stock and rung are equal: %t", stock.Digest == rung.Digest)
			}
			if len(stock.Files) == 0 || len(rung.Files) == 0 {
				t.Error("nothing was rendered")
			}
		})
	}
}

func TestBadLoads(t *testing.T) {
	for _, c := range []struct {
		name string
		load map[string]any
		want string
	}{
		{"no kind", map[string]any{"nodes": 3}, "load.kind: want one of"},
		{"unknown kind", map[string]any{"kind": "storm"}, "got storm"},
		{"missing", map[string]any{"kind": "nodes", "nodes": 3}, "load.seconds: a load of kind nodes needs it"},
		{"unknown", map[string]any{"kind": "events", "eventsPerSecond": 3, "seconds": 1, "nodes": 3}, "load.nodes: a load of kind events has"},
		{"zero", map[string]any{"kind": "events", "eventsPerSecond": 0, "seconds": 1}, "load.eventsPerSecond: want more than 0"},
		{"a string", map[string]any{"kind": "nodes", "nodes": "many", "seconds": 1}, "cannot unmarshal string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := demandOf(&recipe.Proof{Load: c.load})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}
