package recipe

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/target"
)

func mustLoad(t testing.TB) *Ladder {
	t.Helper()
	l, findings, err := Load(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(findings) > 0 {
		t.Fatalf("the embedded ladder has findings: %v", findings)
	}
	return l
}

func unify(t testing.TB, l *Ladder, ids ...string) unified {
	t.Helper()
	u, err := l.unify(l.in(ids))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestLadderShape holds the ladder to what it promises: stock first, the open
// rung last, and every built one with limits, hazards, a proof and evidence.
func TestLadderShape(t *testing.T) {
	l := mustLoad(t)
	for _, axis := range estimate.Axes {
		var rungs []Rung
		for _, r := range l.Rungs() {
			if r.Axis == axis && !r.Optional {
				rungs = append(rungs, r)
			}
		}
		if len(rungs) < 4 {
			t.Fatalf("%s has %d rungs", axis, len(rungs))
		}
		if first := rungs[0]; first.ID != string(axis)+"/stock" || first.Order != 0 {
			t.Errorf("%s begins with %s", axis, first.ID)
		}
		for i, r := range rungs {
			if last := i == len(rungs)-1; (r.Status == Open) != last {
				t.Errorf("%s is %s at place %d of %d: the last one, and only that, is open", r.ID, r.Status, i+1, len(rungs))
			}
			if r.Status == Validated {
				t.Errorf("%s says it is validated, and no proof of ours is recorded with it", r.ID)
			}
			checkTexts(t, r)
		}
	}
}

func checkTexts(t *testing.T, r Rung) {
	t.Helper()
	if r.Status == Open {
		if r.Proof != nil || len(r.Envelope) > 0 {
			t.Errorf("%s is open and has a proof or an envelope", r.ID)
		}
		return
	}
	if r.Proof == nil || len(r.Hazards) == 0 || !r.Optional && len(r.Envelope[r.Axis]) == 0 {
		t.Errorf("%s lacks a proof, a hazard, or a limit of its own axis", r.ID)
	}
	if strings.HasPrefix(r.Summary, " ") || strings.Contains(r.Summary, "\n") || strings.Contains(r.Summary, "\t") {
		t.Errorf("%s: the summary is not one paragraph: %q", r.ID, r.Summary)
	}
}

// TestEnvelopesGrow holds each rung to carry no less than the one below it, on
// its own axis.
func TestEnvelopesGrow(t *testing.T) {
	l := mustLoad(t)
	for _, axis := range estimate.Axes {
		below := map[string]float64{}
		for _, e := range l.of(axis) {
			if e.rung.Status == Open {
				continue
			}
			for name, limit := range e.rung.Envelope[axis] {
				if limit < below[name] {
					t.Errorf("%s: %s %g, and the rung below has %g", e.rung.ID, name, limit, below[name])
				}
				below[name] = limit
			}
		}
	}
}

// parents are the rungs that another one builds on. state/partitioned stands on
// cold-uncached: with the custom groups gone, a tier that keeps them for
// operators would keep nothing.
var parents = map[string]string{
	"node/leases-store":       "node/ci-5k",
	"node/node-tier":          "node/leases-store",
	"churn/leases-store":      "churn/events-store",
	"churn/aggregated-tier":   "churn/leases-store",
	"churn/aggregated-shards": "churn/aggregated-tier",
	"state/consumer-tiers":    "state/cold-uncached",
	"state/partitioned":       "state/cold-uncached",
}

// TestRungsAreCumulative unifies each rung's moves with its parent's: the
// outcome must be its own, so that it says everything that the parent says.
func TestRungsAreCumulative(t *testing.T) {
	l := mustLoad(t)
	for child, parent := range parents {
		c, p := l.byID[child], l.byID[parent]
		if c == nil || p == nil {
			t.Fatalf("%s or %s is not on the ladder", child, parent)
		}
		alone, both := unify(t, l, child), unify(t, l, parent, child)
		if diff := cmp.Diff(alone.settings, both.settings, cmpopts.EquateEmpty()); diff != "" || len(both.findings) > 0 {
			t.Errorf("%s does not include what %s moves: %v\n%s", child, parent, both.findings, diff)
		}
		for _, platform := range target.Platforms {
			for _, at := range targets(platform) {
				if len(p.rung.Requires.Unmet(at)) > 0 && len(c.rung.Requires.Unmet(at)) == 0 {
					t.Errorf("%s can be had where %s, which it includes, cannot: %+v", child, parent, at)
				}
			}
		}
	}
}

func targets(platform target.Platform) []target.Target {
	var ts []target.Target
	for _, v := range target.Minors() {
		at := target.Target{Kubernetes: v, Platform: platform}
		if platform == target.Kops {
			at.Kops, at.Cloud = v, "aws"
		}
		ts = append(ts, at)
	}
	return ts
}

// TestEveryCombinationUnifies tries each rung of an axis with each of the other
// axes, and with the optional ones: our own rungs never contradict each other.
func TestEveryCombinationUnifies(t *testing.T) {
	l := mustLoad(t)
	var optional []string
	for _, e := range l.entries {
		if e.rung.Optional {
			optional = append(optional, e.rung.ID)
		}
	}
	n := 0
	for _, node := range l.of(estimate.Node) {
		for _, churn := range l.of(estimate.Churn) {
			for _, state := range l.of(estimate.State) {
				ids := []string{node.rung.ID, churn.rung.ID, state.rung.ID}
				for _, set := range [][]string{ids, slices.Concat(ids, optional)} {
					n++
					u := unify(t, l, set...)
					for _, f := range u.findings {
						t.Errorf("%v: %s", set, f)
					}
					for route, store := range u.settings.Routes {
						if _, ok := u.settings.Stores[store]; !ok {
							t.Errorf("%v: %s goes to %s, which is not set up", set, route, store)
						}
					}
				}
			}
		}
	}
	if n < 200 {
		t.Errorf("only %d combinations were tried", n)
	}
}

// TestNamesAreUpstreams looks every flag, gate and route of the ladder up in
// the tables made from upstream's programs, in each minor that the rung may be
// used with.
func TestNamesAreUpstreams(t *testing.T) {
	l := mustLoad(t)
	for _, e := range l.entries {
		u := unify(t, l, e.rung.ID)
		for _, at := range targets(target.Kubeadm) {
			if len(e.rung.Requires.Unmet(at)) > 0 {
				continue
			}
			for component, s := range components(u.settings) {
				checkNames(t, e.rung.ID, at.Kubernetes, component, s)
			}
			for route := range u.settings.Routes {
				group, resource, _ := strings.Cut(route, "/")
				if r, ok := target.LookUp(at.Kubernetes, group, resource); !ok || r.Storage != target.Routable {
					t.Errorf("%s routes %s, which Kubernetes %s cannot", e.rung.ID, route, at.Kubernetes.Line())
				}
			}
		}
	}
}

func components(s Settings) map[string][]ComponentSettings {
	apiserver := []ComponentSettings{s.Apiserver}
	if s.NodeTier != nil {
		apiserver = append(apiserver, ComponentSettings{Flags: s.NodeTier.Flags})
	}
	for _, t := range s.ConsumerTiers {
		apiserver = append(apiserver, ComponentSettings{Flags: t.Flags})
	}
	return map[string][]ComponentSettings{
		target.KubeAPIServer:         apiserver,
		target.KubeControllerManager: {s.ControllerManager},
		target.KubeScheduler:         {s.Scheduler.ComponentSettings},
	}
}

func checkNames(t *testing.T, id string, v target.Version, component string, all []ComponentSettings) {
	t.Helper()
	table, ok := target.Flags(v, component)
	if !ok {
		t.Errorf("no table of %s for %s", component, v.Line())
		return
	}
	for _, s := range all {
		for flag := range s.Flags {
			if f, ok := table.Find(flag); !ok || f.Deprecated != "" {
				t.Errorf("%s sets %s of %s, which %s does not have or has deprecated: %s", id, flag, component, v.Line(), f.Deprecated)
			}
		}
		for gate := range s.FeatureGates {
			if g, ok := target.FindGate(v, gate); !ok || g.Locked {
				t.Errorf("%s sets the gate %s of %s, which %s does not have or has locked", id, gate, component, v.Line())
			}
		}
	}
}
