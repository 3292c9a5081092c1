package recipe

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawGroups draws few groups, so that the best spread can be searched for.
func drawGroups(t *rapid.T) []group {
	var groups []group
	for i, bytes := range rapid.SliceOfN(rapid.IntRange(0, 1000), 1, 8).Draw(t, "bytes") {
		groups = append(groups, group{name: fmt.Sprintf("g%d.example.dev", i), bytes: float64(bytes)})
	}
	return groups
}

func byBytes(g group) float64 { return g.bytes }

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
