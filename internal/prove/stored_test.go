package prove

import (
	"testing"

	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/scrape"
)

// The busiest tier over an even part, by what the stores of tiers say and by no
// other store.
func TestSpread(t *testing.T) {
	o := Observe(Seen{Prefix: "tier.a"}, Seen{Prefix: "tier.b"}, Seen{Prefix: "tier.b"}, Seen{Prefix: "store.main"})
	of := func(a, b float64) map[string]scrape.Figure {
		return map[string]scrape.Figure{
			"store.a.puts-per-second": {Value: a}, "store.b.puts-per-second": {Value: b}, "store.main.puts-per-second": {Value: 1000},
		}
	}
	if got, ok := o.spread(of(30, 10)); !ok || got != 1.5 {
		t.Errorf("30 and 10 a second: %v, %t", got, ok)
	}
	if got, ok := o.spread(of(20, 20)); !ok || got != 1 {
		t.Errorf("twice 20: %v, %t", got, ok)
	}
	if _, ok := o.spread(of(0, 0)); ok {
		t.Error("no writes have no spread")
	}
	if _, ok := Observe(Seen{Prefix: "store.main"}).spread(of(1, 1)); ok {
		t.Error("no tier has no spread")
	}
}

// What a kind weighs most is told of the process that holds most of it.
func TestLargest(t *testing.T) {
	o := Observe(Seen{Prefix: "apiserver.main"}, Seen{Prefix: "tier.a"}, Seen{Prefix: "tier.b"})
	for i, bytes := range []float64{100, 35000, 34000} {
		o.watched[i].weights = []scrape.Figure{{Name: "custom-heap-bytes-per-object", Value: bytes, Unit: scrape.Bytes}}
	}
	f, ok := scrape.Find(o.largest(), "largest.custom-heap-bytes-per-object")
	if !ok || f.Value != 35000 || f.Unit != scrape.Bytes {
		t.Errorf("%+v, %t", f, ok)
	}
}

// A layout may be rendered for more than is driven, and then is estimated for
// what is driven.
func TestRenderedForMore(t *testing.T) {
	ladder := mustLadder(t)
	d := Demand{Kind: KindObjects, Objects: 1000, ObjectBytes: 10000, Groups: 2, Listers: 2, Apiservers: 1}
	tiers := func(d Demand) (int, float64) {
		p, err := profilesOf(t.Context(), d, false, "1.37")
		if err != nil {
			t.Fatal(err)
		}
		l, err := layoutOf(ladder, p, []string{"node/stock", "churn/stock", "state/partitioned"})
		if err != nil {
			t.Fatal(err)
		}
		f, ok := l.Estimate.Figure("tier." + l.Plan.Aggregated[0].Name + ".heap")
		if !ok {
			t.Fatal("no estimate of the tier")
		}
		return len(l.Plan.Aggregated), f.Value
	}
	one, all := tiers(d)
	d.LayoutTimes = 60 // 600 MB, of which a tier is meant to hold 500
	two, half := tiers(d)
	if one != 1 || two != 2 || half >= all {
		t.Errorf("%d tiers, the first of %.0f bytes; for 60 times as much %d, of %.0f", one, all, two, half)
	}
}

// A keeper is a load of custom resources.
var (
	_ load.Keeper = (*load.Churn)(nil)
	_ load.Keeper = (*load.Objects)(nil)
)
