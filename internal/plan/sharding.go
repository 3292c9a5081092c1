package plan

import (
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

// shardingGate is the feature gate of KEP-5866.
const shardingGate = "ShardedListAndWatch"

// firstGroupPort is the first secure port of further controller managers; the
// first one has 10257, the scheduler 10259.
const firstGroupPort = 10267

// sharding publishes the ranges and splits the controller manager.
func (m *maker) sharding() {
	s := m.settings.Sharding
	if s == nil {
		return
	}
	m.plan.Sharding = &Sharding{Gate: shardingGate, Field: s.Field, Ranges: ShardRanges(s.Field, s.Shards)}
	if len(s.SplitControllers) == 0 {
		return
	}
	if m.kops() {
		m.say(finding.Finding{
			Code: "kops-one-controller-manager", Severity: finding.Warning, Path: "sharding.splitControllers",
			Message: "kOps runs one controller manager on a host, so its controllers stay together; the ranges for clients are not touched by that",
			Fix:     "use kubeadm or static pods where the controller manager's memory is what hurts",
		})
		return
	}
	m.plan.ControllerGroups = m.controllerGroups(s.SplitControllers)
}

// ShardRanges cuts the 64-bit hash space into n ranges that cover it once. The
// apiserver's parser wants 16 hexadecimal digits, and 17 for the end of the
// space, which no 64-bit number reaches.
func ShardRanges(field string, n int) []ShardRange {
	space := new(big.Int).Lsh(big.NewInt(1), 64)
	bound := func(i int) string {
		b := new(big.Int).Mul(space, big.NewInt(int64(i)))
		return fmt.Sprintf("0x%016x", b.Div(b, big.NewInt(int64(n))))
	}
	ranges := make([]ShardRange, n)
	for i := range n {
		start, end := bound(i), bound(i+1)
		ranges[i] = ShardRange{Start: start, End: end, Selector: fmt.Sprintf("shardRange(%s, '%s', '%s')", field, start, end)}
	}
	return ranges
}

// controllerGroups lists the controller managers besides the first, which
// keeps every controller that no group names ("*,-NAME,…"). A controller in two
// groups would run twice, each under its own lock, so the first group has it.
func (m *maker) controllerGroups(split map[string][]string) []ControllerGroup {
	known := target.Controllers(m.target.Kubernetes)
	owner := map[string]string{}
	var groups []ControllerGroup
	for i, name := range slices.Sorted(maps.Keys(split)) {
		g := ControllerGroup{Name: name, Port: firstGroupPort + i}
		for _, c := range slices.Sorted(slices.Values(split[name])) {
			switch {
			case !slices.Contains(known, c):
				m.say(finding.Finding{
					Code: "controller-unknown", Severity: finding.Error, Path: "sharding.splitControllers." + name,
					Message: fmt.Sprintf("Kubernetes %s has no controller %s, and kube-controller-manager would not start", m.target.Kubernetes.Line(), c),
					Ref:     "kubernetes/kubernetes cmd/kube-controller-manager/names",
				})
			case c == target.ServiceAccountTokens:
				m.say(finding.Finding{
					Code: "controller-not-movable", Severity: finding.Error, Path: "sharding.splitControllers." + name,
					Message: c + " is started before all others, whatever --controllers says, and belongs to the first controller manager",
					Ref:     "kubernetes/kubernetes cmd/kube-controller-manager/app/controllermanager.go, BuildControllers",
				})
			case owner[c] != "":
				m.say(finding.Finding{
					Code: "controller-in-two-groups", Severity: finding.Error, Path: "sharding.splitControllers." + name,
					Message: fmt.Sprintf("%s is in the groups %s and %s: two processes would run it at once", c, owner[c], name),
				})
			default:
				owner[c] = name
				g.Controllers = append(g.Controllers, c)
			}
		}
		if len(g.Controllers) > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}
