package plan

import (
	"math/big"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/sharding"
	"k8s.io/controller-manager/app"

	"github.com/kubeseams/seams/internal/target"
)

// TestSelectorsParse gives every selector to upstream's parser, and sees that
// the ranges cover the space once.
func TestSelectorsParse(t *testing.T) {
	for n := 2; n <= 64; n++ {
		for _, field := range []string{"object.metadata.uid", "object.metadata.namespace"} {
			end := new(big.Int)
			for i, r := range ShardRanges(field, n) {
				selector, err := sharding.Parse(r.Selector)
				if err != nil {
					t.Fatalf("%s: %v", r.Selector, err)
				}
				if got := selector.String(); got != r.Selector {
					t.Errorf("upstream reads %s as %s", r.Selector, got)
				}
				start := number(t, r.Start)
				if start.Cmp(end) != 0 {
					t.Errorf("%d shards: range %d begins at %s, the one before it ends at %s", n, i, start, end)
				}
				end = number(t, r.End)
				if end.Cmp(start) <= 0 {
					t.Errorf("%d shards: range %d is empty", n, i)
				}
			}
			if want := new(big.Int).Lsh(big.NewInt(1), 64); end.Cmp(want) != 0 {
				t.Errorf("%d shards end at %s", n, end)
			}
		}
	}
}

func number(t *testing.T, hex string) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(strings.TrimPrefix(hex, "0x"), 16)
	if !ok || len(hex) < 18 {
		t.Fatalf("%q is not a bound", hex)
	}
	return n
}

// TestEveryControllerRunsOnce asks upstream's own rule which process runs each
// controller: the first, with everything but what the groups name, or a group.
func TestEveryControllerRunsOnce(t *testing.T) {
	p, _ := makePlan(t, base(), "state/client-shards")
	if len(p.ControllerGroups) < 2 {
		t.Fatalf("groups %+v", p.ControllerGroups)
	}
	offByDefault := sets.NewString("bootstrap-signer-controller", "token-cleaner-controller", "selinux-warning-controller")
	first := []string{"*"}
	for _, g := range p.ControllerGroups {
		for _, c := range g.Controllers {
			first = append(first, "-"+c)
		}
	}
	for _, c := range target.Controllers(p.Target.Kubernetes) {
		runs := 0
		for _, list := range append([][]string{first}, groups(p)...) {
			if app.IsControllerEnabled(c, offByDefault, list) {
				runs++
			}
		}
		want := 1
		if offByDefault.Has(c) {
			want = 0
		}
		if runs != want {
			t.Errorf("%s runs in %d processes, want %d", c, runs, want)
		}
	}
}

func groups(p *Plan) [][]string {
	var lists [][]string
	for _, g := range p.ControllerGroups {
		lists = append(lists, g.Controllers)
	}
	return lists
}
