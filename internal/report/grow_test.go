package report

import (
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/recipe"
)

func sampleProfile() *profile.Profile {
	return &profile.Profile{
		Name: "p", Kubernetes: "1.37",
		Nodes: profile.Nodes{Count: 1000, TargetCount: 2000, LeaseDurationSeconds: 40, NodeBytes: 20000, PodsPerNode: 30, PodBytes: 5000, PodChurnPerSecond: 4, WatchesPerNode: 18},
		Churn: profile.Churn{
			Resources: []profile.ChurnResource{{GroupResource: profile.GroupResource{Group: "a.example.dev", Resource: "things"}, UpdatesPerSecond: 100,
				Sessions: &profile.Sessions{PerMinute: 60, WritesPerSession: 10}, ObjectBytes: 2000, Live: 500, Watchers: 2, Scope: "all", Shape: "structured"}},
			Events: profile.Events{PerSecond: 20, Bytes: 900, TTLSeconds: 3600}, LeaderElections: 7,
		},
		State: profile.State{Resources: []profile.StateResource{{GroupResource: profile.GroupResource{Resource: "configmaps"}, Count: 4000, Bytes: 3000, Listers: 1, Shape: "opaque"}},
			CRDs: 30, RBACObjects: 900},
		ControlPlane: profile.ControlPlane{Apiservers: 3, CPU: 16, MemoryGiB: 64, Disk: "ssd", EtcdDisks: 1, EtcdQuotaGiB: 8},
	}
}

// An axis grows alone: the others' demand is what it was, and the profile too.
func TestAxesGrowApart(t *testing.T) {
	p, untouched := sampleProfile(), sampleProfile()
	demands := func(q *profile.Profile) (all []float64) {
		e := estimate.Compute(q, estimate.Stock(q))
		for _, axis := range estimate.Axes {
			v, _ := demandOf(axis, e)
			all = append(all, v)
		}
		return all
	}
	before := demands(p)
	for i, axis := range estimate.Axes {
		after := demands(grown(p, axis, 4))
		for j := range estimate.Axes {
			want := before[j]
			if i == j {
				want *= 4
			}
			if !near(after[j], want) {
				t.Errorf("%s grown fourfold: the demand of %s is %v, want %v", axis, estimate.Axes[j], after[j], want)
			}
		}
	}
	if !reflect.DeepEqual(p, untouched) {
		t.Error("growing changed the profile")
	}
}

// At a wall the pressure is 1, before it less, and its band's ends surround it.
func TestWallsAreWherePressureIsOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := sampleProfile()
		p.Nodes.Count = rapid.IntRange(10, 30000).Draw(t, "nodes")
		p.Churn.Resources[0].UpdatesPerSecond = rapid.Float64Range(0, 3000).Draw(t, "updates")
		p.State.Resources[0].Count = rapid.IntRange(0, 300000).Draw(t, "objects")
		axis := rapid.SampledFrom(estimate.Axes).Draw(t, "axis")
		track := newTrack(p, estimate.Stock(p), axis)
		w := track.wall()
		if w.earliest > w.at || w.at > w.latest {
			t.Fatalf("the wall at %v is not between %v and %v", w.at, w.earliest, w.latest)
		}
		if w.at == 0 || math.IsInf(w.at, 1) {
			return
		}
		if at, before := track.at(w.at).pressure.Value, track.at(w.at*0.98).pressure.Value; at < 1 || at > 1.05 || before >= 1 {
			t.Fatalf("%v at the wall %v, %v before it", at, w.at, before)
		}
	})
}

// Names lie within the plot and do not touch each other.
func TestNamesStayClear(t *testing.T) {
	for _, k := range []float64{0.01, 0.1, 1, 10, 100} {
		for _, axis := range estimate.Axes {
			p := grown(grown(grown(sampleProfile(), estimate.Node, k), estimate.Churn, k), estimate.State, k)
			l := estimate.Stock(p)
			l.EventsStore, l.LeasesStore, l.LeasesEphemeral = true, true, true
			g := newGrowth(axis, []*track{newTrack(p, estimate.Stock(p), axis), newTrack(p, l, axis)}, recipe.Choice{Axis: axis}, false)
			for i, c := range g.Chart.Curves {
				right := c.LabelX + letterWidth*float64(len([]rune(c.Label)))
				if c.LabelX < plotLeft || right > plotRight || c.LabelY < plotTop || c.LabelY > plotBottom {
					t.Errorf("×%v %s: %q at %v, %v leaves the plot", k, axis, c.Label, c.LabelX, c.LabelY)
				}
				for _, d := range g.Chart.Curves[i+1:] {
					if math.Abs(c.LabelY-d.LabelY) < 11 && c.LabelX < d.LabelX+letterWidth*float64(len([]rune(d.Label))) && d.LabelX < right {
						t.Errorf("×%v %s: %q and %q touch", k, axis, c.Label, d.Label)
					}
				}
			}
		}
	}
}

func TestClip(t *testing.T) {
	for _, text := range []string{"", "short", "exactly-twelve", "a-very-long-group.with.many.labels.example.dev"} {
		got := []rune(clip(text, 12))
		if len(got) > 12 || len([]rune(text)) <= 12 && string(got) != text {
			t.Errorf("%q is clipped to %q", text, string(got))
		}
	}
}
