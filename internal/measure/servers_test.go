package measure_test

import (
	"math"
	"os"
	"testing"
	"time"

	"github.com/kubeseams/seams/internal/measure"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/scrape"
)

// savedLook reads two pages of an apiserver of a real control plane with two,
// 80 s apart, as e2e/rig's TestMeasureTwoServers saves them.
func savedLook(t *testing.T, name string) measure.Look {
	t.Helper()
	read := func(round string, at int64) *scrape.Snapshot {
		f, err := os.Open("testdata/two-servers/" + name + "-" + round + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s, err := scrape.Read(f, time.Unix(at, 0))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	return measure.Look{Name: name, Before: read("1", 0), After: read("2", 80)}
}

// TestTwoRealServers: what each apiserver counts of its own clients adds up,
// what both count of one etcd is taken once. 300 ConfigMaps, 50 nodes and 30
// writes of sessions a second were driven, half of them through each.
func TestTwoRealServers(t *testing.T) {
	observed := func(looks ...measure.Look) *measure.Observation {
		o, err := measure.FromMetrics(looks, nil)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	a, b := savedLook(t, "cp-1"), savedLook(t, "cp-2")
	first, second, both := observed(a), observed(b), observed(a, b)
	for gr, k := range both.Kinds {
		one, two := first.Kinds[gr], second.Kinds[gr]
		if one == nil {
			one = &measure.Kind{}
		}
		if two == nil {
			two = &measure.Kind{}
		}
		if k.Objects != math.Max(one.Objects, two.Objects) {
			t.Errorf("%v: %v objects by both, %v and %v by each", gr, k.Objects, one.Objects, two.Objects)
		}
		if math.Abs(k.Writes()-one.Writes()-two.Writes()) > 1e-6 {
			t.Errorf("%v: %v writes by both, %v and %v by each", gr, k.Writes(), one.Writes(), two.Writes())
		}
		for scope, n := range k.Watchers {
			if n != one.Watchers[scope]+two.Watchers[scope] {
				t.Errorf("%v: %v watchers of scope %s by both, %v and %v by each", gr, n, scope, one.Watchers[scope], two.Watchers[scope])
			}
		}
		if k.Bytes > math.Max(one.Bytes, two.Bytes) {
			t.Errorf("%v: %v bytes an object by both, %v and %v by each", gr, k.Bytes, one.Bytes, two.Bytes)
		}
	}
	sessions := both.Kinds[profile.GroupResource{Group: "prove.seams.dev", Resource: "sessions"}]
	if rate := sessions.Writes() / both.Seconds; rate < 27 || rate > 33 {
		t.Errorf("%.1f writes of sessions a second, 30 were driven", rate)
	}
	p, _, _ := profileOf(t, t.TempDir(), both)
	if p.Nodes.Count != 50 || p.ControlPlane.Apiservers != 2 {
		t.Errorf("%d nodes and %d apiservers", p.Nodes.Count, p.ControlPlane.Apiservers)
	}
	for _, s := range p.State.Resources {
		if s.Resource == "configmaps" && (s.Count < 300 || s.Count > 310) {
			t.Errorf("%d ConfigMaps, 300 and the cluster's own were there", s.Count)
		}
	}
}
