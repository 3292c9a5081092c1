package recipe

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/target"
)

// drawGroups draws few groups, so that the best spread can be searched for.
func drawGroups(t *rapid.T) []group {
	var groups []group
	for i, bytes := range rapid.SliceOfN(rapid.IntRange(0, 1000), 1, 8).Draw(t, "bytes") {
		groups = append(groups, group{name: fmt.Sprintf("g%d.example.dev", i), bytes: float64(bytes)})
	}
	return groups
}

func heaviest(bins [][]group) float64 {
	var most float64
	for _, bin := range bins {
		var sum float64
		for _, g := range bin {
			sum += g.bytes
		}
		most = max(most, sum)
	}
	return most
}

// best is the lowest heaviest tier of all ways to spread the groups.
func best(groups []group, loads []float64) float64 {
	if len(groups) == 0 {
		return slices.Max(loads)
	}
	lowest := -1.0
	for i := range loads {
		loads[i] += groups[0].bytes
		if found := best(groups[1:], loads); lowest < 0 || found < lowest {
			lowest = found
		}
		loads[i] -= groups[0].bytes
	}
	return lowest
}

// No tier is more than a third above the best there is, every group is in one
// tier, and the order of the profile does not matter.
func TestSpreadLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		groups, n := drawGroups(t), rapid.IntRange(1, 4).Draw(t, "tiers")
		bins := spread(groups, n, byBytes)
		if got, limit := heaviest(bins), best(groups, make([]float64, n))*4/3; got > limit+1e-9 {
			t.Fatalf("the heaviest tier has %g, the best is %g: %v", got, limit*3/4, bins)
		}
		var all []string
		for _, bin := range bins {
			if len(bin) == 0 {
				t.Fatal("an empty tier")
			}
			for _, g := range bin {
				all = append(all, g.name)
			}
		}
		slices.Sort(all)
		if len(all) != len(groups) || len(slices.Compact(all)) != len(groups) {
			t.Fatalf("%v of %d groups", all, len(groups))
		}
		mixed := rapid.Permutation(groups).Draw(t, "order")
		if diff := cmp.Diff(fmt.Sprint(bins), fmt.Sprint(spread(mixed, n, byBytes))); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Groups without weight are spread by what they store, whatever the others weigh.
func TestSpreadWithoutWeight(t *testing.T) {
	groups := []group{
		{name: "a", heap: 90, bytes: 1}, {name: "b", heap: 100, bytes: 1},
		{name: "c", bytes: 50}, {name: "d", bytes: 40}, {name: "e", bytes: 30}, {name: "f", bytes: 20},
	}
	want := [][]string{{"b", "c", "f"}, {"a", "d", "e"}}
	var got [][]string
	for _, bin := range spread(groups, 2, byHeap) {
		var names []string
		for _, g := range bin {
			names = append(names, g.name)
		}
		got = append(got, names)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A partition is even in what its servers hold in memory, as the estimate has
// it: no server's caches are more than a third above the best there is.
func TestPartitionIsEvenInMemory(t *testing.T) {
	at := target.Version{Major: 1, Minor: 37}
	rapid.Check(t, func(t *rapid.T) {
		p := base()
		for i := range rapid.IntRange(1, 7).Draw(t, "groups") {
			p.State.Resources = append(p.State.Resources, profile.StateResource{
				GroupResource: profile.GroupResource{Group: fmt.Sprintf("g%d.example.dev", i), Resource: "things"},
				Shape:         rapid.SampledFrom([]string{"structured", "opaque"}).Draw(t, "shape"),
				Count:         rapid.IntRange(1, 300000).Draw(t, "count"), Bytes: rapid.IntRange(1, 20000).Draw(t, "bytes"),
				Listers: rapid.IntRange(0, 9).Draw(t, "listers"),
			})
		}
		s := &Settings{
			Aggregated: &AggregatedSettings{Select: "partition", MaxTiers: rapid.IntRange(1, 4).Draw(t, "tiers"), Replicas: 2},
			ColdCache:  &ColdCacheSettings{MaxListers: 1, MinBytes: 1 << 20},
		}
		l := LayoutOf(s, p, at)
		e := estimate.Compute(p, l)
		var groups []group
		for name, heap := range estimate.GroupHeap(p, l) {
			if isCustom(name, at) {
				groups = append(groups, group{name: name, bytes: heap})
			}
		}
		limit := best(groups, make([]float64, s.Aggregated.MaxTiers)) * 4 / 3
		empty, _ := estimate.Compute(&profile.Profile{}, estimate.Layout{Apiservers: 1, Aggregated: []estimate.TierGroups{{Name: "empty", Replicas: 1}}}).Figure("tier.empty.heap")
		for _, tier := range l.Aggregated {
			f, ok := e.Figure("tier." + tier.Name + ".heap")
			if !ok || f.Value-empty.Value > limit*(1+1e-9)+1 {
				t.Fatalf("%s has %g over the base, the best is %g: %+v", tier.Name, f.Value-empty.Value, limit*3/4, l.Aggregated)
			}
		}
	})
}
