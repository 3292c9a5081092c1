package estimate

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/target"
)

// all lists every figure an estimate has, the pressures' and the measures' too.
func all(e *Estimate) map[string]Figure {
	fs := map[string]Figure{}
	for _, f := range e.Figures {
		fs[f.ID] = f
	}
	for _, p := range e.Pressures {
		fs["pressure."+string(p.Axis)] = Figure{ID: "pressure." + string(p.Axis), Value: p.Value, Low: p.Low, High: p.High}
		for _, f := range p.Ratios {
			fs[f.ID] = f
		}
	}
	for _, ms := range e.Measures {
		for _, f := range ms {
			fs["measure."+f.ID] = f
		}
	}
	return fs
}

// notLower fails where a figure of before is lower after, value or band.
func notLower(t *rapid.T, before, after *Estimate, what string) {
	a := all(after)
	for id, b := range all(before) {
		f, ok := a[id]
		if !ok {
			t.Fatalf("%s: figure %s is gone", what, id)
		}
		for _, v := range [][2]float64{{b.Value, f.Value}, {b.Low, f.Low}, {b.High, f.High}} {
			if v[1] < v[0]*(1-1e-9) {
				t.Fatalf("%s lowers %s: %v (%v to %v) becomes %v (%v to %v)", what, id, b.Value, b.Low, b.High, f.Value, f.Low, f.High)
			}
		}
	}
}

func TestLawBands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t)
		e := Compute(p, drawLayout(t, p))
		for id, f := range all(e) {
			if !(0 <= f.Low && f.Low <= f.Value && f.Value <= f.High) || math.IsInf(f.High, 0) || math.IsNaN(f.Value) {
				t.Fatalf("%s: %v is not within %v to %v, finite and not negative", id, f.Value, f.Low, f.High)
			}
		}
	})
}

func TestLawFormulas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t)
		e := Compute(p, drawLayout(t, p))
		figures := all(e)
		for id, f := range figures {
			if f.Formula == "" && strings.HasPrefix(id, "pressure.") && strings.Count(id, ".") == 1 {
				continue // an axis' pressure, not a figure
			}
			v, err := evaluate(f.Formula, f.Inputs)
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			if math.Abs(v-f.Value) > 1e-9*math.Max(math.Abs(v), math.Abs(f.Value)) {
				t.Fatalf("%s = %v, but %s is %v", id, f.Value, f.Formula, v)
			}
			if f.Label == "" || f.Unit == "" || f.Source == "" {
				t.Fatalf("%s lacks a label, unit or source: %+v", id, f)
			}
			for _, in := range f.Inputs {
				name, isFigure := strings.CutPrefix(in.Source, "figure ")
				if isFigure && (name != in.Name || figures[name].Value != in.Value) {
					t.Fatalf("%s: input %s is %v, figure %s is %v", id, in.Name, in.Value, name, figures[name].Value)
				}
			}
		}
	})
}

func TestLawPure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t)
		l := drawLayout(t, p)
		pCopy := *p
		pCopy.Churn.Resources, pCopy.State.Resources = slices.Clone(p.Churn.Resources), slices.Clone(p.State.Resources)
		lCopy := l
		lCopy.Uncached, lCopy.Aggregated = slices.Clone(l.Uncached), slices.Clone(l.Aggregated)
		first := Compute(p, l)
		if second := Compute(p, l); !reflect.DeepEqual(first, second) {
			t.Fatal("two estimates of one profile differ")
		}
		ids := map[string]bool{}
		for _, f := range first.Figures {
			if ids[f.ID] {
				t.Fatalf("figure %s is there twice", f.ID)
			}
			ids[f.ID] = true
		}
		if !reflect.DeepEqual(WhatIfs(p, l), WhatIfs(p, l)) {
			t.Fatal("two runs of what-if differ")
		}
		if !reflect.DeepEqual(*p, pCopy) || !reflect.DeepEqual(l, lCopy) {
			t.Fatal("the profile or the layout was changed")
		}
	})
}

func value(t *rapid.T, e *Estimate, id string) float64 {
	f, ok := e.Figure(id)
	if !ok {
		t.Fatalf("no figure %s", id)
	}
	return f.Value
}

func TestLawMoreApiservers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t)
		l := drawLayout(t, p)
		before := Compute(p, l)
		more := l
		more.Apiservers += rapid.IntRange(1, 20).Draw(t, "more")
		after := Compute(p, more)
		for _, f := range before.Figures {
			if strings.HasSuffix(f.ID, ".writes") || strings.HasSuffix(f.ID, ".commits") || strings.HasSuffix(f.ID, ".heap") || strings.HasSuffix(f.ID, ".rss") {
				if v := value(t, after, f.ID); v < f.Value {
					t.Fatalf("more apiservers lower %s from %v to %v", f.ID, f.Value, v)
				}
			}
		}
		if b, a := value(t, before, "resident.total"), value(t, after, "resident.total"); a <= b {
			t.Fatalf("more apiservers do not raise resident memory: %v, %v", b, a)
		}
	})
}

func TestLawEventsStoreLeavesLeases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t)
		l := drawLayout(t, p)
		l.EventsStore = false
		before := Compute(p, l)
		l.EventsStore = true
		after := Compute(p, l)
		if !reflect.DeepEqual(before.Measures[Node], after.Measures[Node]) {
			t.Fatal("an events store changes the node axis' measures")
		}
		for _, id := range []string{"liveness.writes", "liveness.leases.writes", "elections.writes"} {
			if value(t, before, id) != value(t, after, id) {
				t.Fatalf("an events store changes %s", id)
			}
		}
		if b, a := before.Pressures[0].Value, after.Pressures[0].Value; a < b {
			t.Fatalf("an events store lowers the pressure on node from %v to %v", b, a)
		}
		for _, w := range WhatIfs(p, Stock(p)) {
			if w.Name == "events-store" && Compute(p, Stock(p)).Binding == Node && (w.Advised || !strings.HasPrefix(w.Verdict, "no relief for node")) {
				t.Fatalf("node binds, and an events store is said to be: %s", w.Verdict)
			}
		}
	})
}

// An override routes built-in resources only, so no change that rests on one
// may move a custom resource, and none is advised for it.
func TestLawNoOverrideForCustom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t)
		l := drawLayout(t, p)
		version, err := target.ParseVersion(p.Kubernetes)
		if err != nil {
			t.Fatal(err)
		}
		stock := Compute(p, Stock(p))
		apart := Stock(p)
		apart.EventsStore, apart.LeasesStore = true, true
		routed := Compute(p, apart)
		for _, id := range []string{"customWritesPerSecond", "customServerWritesPerSecond", "customBytesPerSecond"} {
			if stock.Measures[Churn][id].Value != routed.Measures[Churn][id].Value {
				t.Fatalf("overrides change %s", id)
			}
		}
		custom := false
		for _, r := range gather(p) {
			custom = custom || !r.builtIn
			if r.builtIn != target.BuiltIn(version, r.Group, r.Resource) {
				t.Fatalf("%s: built-in %v, upstream's table says otherwise", r, r.builtIn)
			}
			m := newModel(p, l)
			if s := m.storeOf(r); r.custom() && (s == eventsStore || s == leasesStore) {
				t.Fatalf("%s is routed to %s", r, s)
			}
		}
		for _, w := range WhatIfs(p, l) {
			if w.Name == "aggregated-tier" && !custom {
				t.Fatal("an aggregated tier is offered without a custom resource")
			}
		}
	})
}

func TestLawDoublingNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t)
		l := drawLayout(t, p)
		twice := *p
		twice.Nodes.Count *= 2
		twice.Nodes.TargetCount *= 2
		notLower(t, Compute(p, l), Compute(&twice, l), "doubling nodes")
	})
}

// Raising any one demand never lowers any figure.
func TestLawMonotone(t *testing.T) {
	raise := map[string]func(*profile.Profile, float64) bool{
		"nodes.nodeBytes":          func(p *profile.Profile, k float64) bool { return scale(&p.Nodes.NodeBytes, k) },
		"nodes.podsPerNode":        func(p *profile.Profile, k float64) bool { return scale(&p.Nodes.PodsPerNode, k) },
		"nodes.podBytes":           func(p *profile.Profile, k float64) bool { return scale(&p.Nodes.PodBytes, k) },
		"nodes.watchesPerNode":     func(p *profile.Profile, k float64) bool { return scale(&p.Nodes.WatchesPerNode, k) },
		"nodes.podChurnPerSecond":  func(p *profile.Profile, k float64) bool { p.Nodes.PodChurnPerSecond *= k; return true },
		"churn.events.perSecond":   func(p *profile.Profile, k float64) bool { p.Churn.Events.PerSecond *= k; return true },
		"churn.events.bytes":       func(p *profile.Profile, k float64) bool { return scale(&p.Churn.Events.Bytes, k) },
		"churn.events.ttlSeconds":  func(p *profile.Profile, k float64) bool { return scale(&p.Churn.Events.TTLSeconds, k) },
		"churn.leaderElections":    func(p *profile.Profile, k float64) bool { return scale(&p.Churn.LeaderElections, k) },
		"state.crds":               func(p *profile.Profile, k float64) bool { return scale(&p.State.CRDs, k) },
		"state.rbacObjects":        func(p *profile.Profile, k float64) bool { return scale(&p.State.RBACObjects, k) },
		"churn.resources.creates":  onChurn(func(c *profile.ChurnResource, k float64) { c.CreatesPerSecond *= k }),
		"churn.resources.updates":  onChurn(func(c *profile.ChurnResource, k float64) { c.UpdatesPerSecond *= k }),
		"churn.resources.bytes":    onChurn(func(c *profile.ChurnResource, k float64) { scale(&c.ObjectBytes, k) }),
		"churn.resources.live":     onChurn(func(c *profile.ChurnResource, k float64) { scale(&c.Live, k) }),
		"churn.resources.watchers": onChurn(func(c *profile.ChurnResource, k float64) { scale(&c.Watchers, k) }),
		"state.resources.count":    onState(func(s *profile.StateResource, k float64) { scale(&s.Count, k) }),
		"state.resources.bytes":    onState(func(s *profile.StateResource, k float64) { scale(&s.Bytes, k) }),
		"state.resources.listers":  onState(func(s *profile.StateResource, k float64) { scale(&s.Listers, k) }),
	}
	var names []string
	for name := range raise {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p := drawProfile(t)
				l := drawLayout(t, p)
				more := *p
				more.Churn.Resources, more.State.Resources = slices.Clone(p.Churn.Resources), slices.Clone(p.State.Resources)
				if !raise[name](&more, rapid.Float64Range(1, 4).Draw(t, "factor")) {
					t.Skip("nothing to raise")
				}
				notLower(t, Compute(p, l), Compute(&more, l), "raising "+name)
			})
		})
	}
}

func scale(n *int, k float64) bool {
	*n = int(math.Ceil(float64(*n) * k))
	return true
}

func onChurn(f func(*profile.ChurnResource, float64)) func(*profile.Profile, float64) bool {
	return func(p *profile.Profile, k float64) bool {
		for i := range p.Churn.Resources {
			f(&p.Churn.Resources[i], k)
		}
		return len(p.Churn.Resources) > 0
	}
}

func onState(f func(*profile.StateResource, float64)) func(*profile.Profile, float64) bool {
	return func(p *profile.Profile, k float64) bool {
		for i := range p.State.Resources {
			f(&p.State.Resources[i], k)
		}
		return len(p.State.Resources) > 0
	}
}

// A stated size of leases within the band of the known one: more bytes, and no
// figure's high end falls to the stated size.
func TestStatedSizeKeepsTheBand(t *testing.T) {
	high := func(bytes int) float64 {
		p := keeping(base(10), grLeases, 50, bytes)
		return fig(t, Compute(p, Stock(p)), "apiserver.heap.node").High
	}
	if less, more := high(394), high(526); more < less {
		t.Errorf("leases of 526 B instead of 394 lower the high end from %v to %v", less, more)
	}
}
