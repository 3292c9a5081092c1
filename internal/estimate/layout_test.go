package estimate

import (
	"maps"
	"slices"
	"testing"
)

func TestMeasuresAreComplete(t *testing.T) {
	want := map[Axis][]string{
		Node: {"databaseRatio", "livenessWritesPerSecond", "memoryRatio", "nodes"},
		Churn: {"builtinWritesPerSecond", "customBytesPerSecond", "customServerWritesPerSecond", "customWritesPerSecond",
			"databaseRatio", "eventDatabaseRatio", "eventWritesPerSecond", "leaderElectionWritesPerSecond", "seatsRatio", "tierMemoryRatio"},
		State: {"databaseRatio", "memoryRatio", "tierMemoryRatio", "typeBytes", "typeObjects"},
	}
	p := base(1)
	for _, l := range []Layout{{}, Stock(p), {Apiservers: 2, NodeTier: 2, ConsumerTiers: 2, EventsStore: true, LeasesStore: true}} {
		e := Compute(p, l)
		for _, a := range Axes {
			if got := slices.Sorted(maps.Keys(e.Measures[a])); !slices.Equal(got, want[a]) {
				t.Errorf("%s measures %v, want %v", a, got, want[a])
			}
		}
		if len(e.Pressures) != 3 {
			t.Errorf("%d pressures, want one an axis", len(e.Pressures))
		}
	}
}

func measure(t *testing.T, e *Estimate, a Axis, name string) float64 {
	t.Helper()
	f, ok := e.Measures[a][name]
	if !ok {
		t.Fatalf("no measure %s %s", a, name)
	}
	return f.Value
}

// Each store takes what is routed to it, and the sum stays.
func TestRoutes(t *testing.T) {
	p := churning(churning(base(10000), gr("example.dev", "sessions"), 300, 3000), gr("other.dev", "things"), 100, 1000)
	p.Nodes.PodChurnPerSecond, p.Churn.LeaderElections = 20, 40
	stock := Compute(p, Stock(p))
	l := Stock(p)
	l.EventsStore, l.LeasesStore, l.LeasesEphemeral = true, true, true
	l.Aggregated = []TierGroups{{Name: "example-dev", Groups: []string{"example.dev", "apps"}, Replicas: 2}}
	apart := Compute(p, l)
	for id, want := range map[string]float64{
		"store.events.writes":       20 * 2.9,
		"store.leases.writes":       1000 + 40*0.5 + 3*0.1,
		"store.example-dev.writes":  300,
		"store.main.writes":         10000.0/300 + 20*8 + 100 + 3*0.1,
		"store.leases.commits":      0,
		"store.example-dev.commits": 300,
	} {
		if f := fig(t, apart, id); !near(f.Value, want, 1e-9) {
			t.Errorf("%s = %v, want %v", id, f.Value, want)
		}
	}
	var sum float64
	for _, s := range []string{"main", "events", "leases", "example-dev"} {
		sum += fig(t, apart, "store."+s+".writes").Value
	}
	if all := fig(t, stock, "store.main.writes").Value; !near(sum, all, 1e-9) {
		t.Errorf("the stores take %v together, one takes %v", sum, all)
	}
	for name, want := range map[string][2]float64{
		"customWritesPerSecond":       {400, 400},
		"customServerWritesPerSecond": {400, 300},
		"customBytesPerSecond":        {300*3000 + 100*1000, 100 * 1000},
		"builtinWritesPerSecond":      {160, 160},
	} {
		if s, a := measure(t, stock, Churn, name), measure(t, apart, Churn, name); s != want[0] || a != want[1] {
			t.Errorf("%s: %v in stock and %v apart, want %v", name, s, a, want)
		}
	}
}

// A built-in group never leaves, whatever a layout says.
func TestBuiltInsDoNotAggregate(t *testing.T) {
	p := keeping(base(10), gr("apps", "replicasets"), 1000, 3000)
	l := Stock(p)
	l.Aggregated = []TierGroups{{Name: "apps", Groups: []string{"apps"}, Replicas: 1}}
	e := Compute(p, l)
	if f := fig(t, e, "store.apps.live"); f.Value != 0 {
		t.Errorf("an aggregated tier holds %v B of replica sets", f.Value)
	}
}

// The node tier takes nodes' watches off the general apiservers and shares
// them out; what is off its cache it does not hold.
func TestNodeTier(t *testing.T) {
	p := keeping(base(20000), gr("example.dev", "reports"), 50000, 5000)
	stock := Compute(p, Stock(p))
	l := Stock(p)
	l.NodeTier = 4
	four := Compute(p, l)
	if a, b := fig(t, stock, "apiserver.heap").Value, fig(t, four, "apiserver.heap").Value; b >= a {
		t.Errorf("a node tier leaves the general heap at %v, from %v", b, a)
	}
	l.NodeTier = 8
	eight := Compute(p, l)
	w4, w8 := fig(t, four, "nodetier.watches"), fig(t, eight, "nodetier.watches")
	if w8.Value != w4.Value/2 || w4.High > 20000*18*watchHeap.high || w4.Low <= 0 {
		t.Errorf("watches on one process: %v with four, %v with eight", w4.Value, w8.Value)
	}
	if a, b := fig(t, four, "resident.total").Value, fig(t, eight, "resident.total").Value; b <= a {
		t.Errorf("four more processes take no memory: %v, %v", a, b)
	}
	l.UncachedNodeTier = append(l.UncachedNodeTier, gr("example.dev", "reports"))
	slim := Compute(p, l)
	less := fig(t, eight, "nodetier.heap").Value - fig(t, slim, "nodetier.heap").Value
	if want := fig(t, eight, "resource.reports.example.dev.cached").Value; !near(less, want, 1e-9) {
		t.Errorf("taking reports off the tier's cache saves %v, want %v", less, want)
	}
	if fig(t, slim, "apiserver.heap").Value != fig(t, eight, "apiserver.heap").Value {
		t.Error("the node tier's cache setting changes the general apiservers")
	}
}

// Off the cache, RBAC still has the authorizer's copy: 0.9 kB an object as
// published, 1.7 as measured.
func TestRBACFloor(t *testing.T) {
	p := base(10)
	p.State.RBACObjects = 100000
	p = keeping(keeping(p, gr(rbacGroup, "roles"), 40000, 400), gr(rbacGroup, "rolebindings"), 60000, 400)
	stock := Compute(p, Stock(p))
	l := Stock(p)
	l.Uncached = append(l.Uncached, gr(rbacGroup, "roles"), gr(rbacGroup, "rolebindings"))
	closed := Compute(p, l)
	empty := base(10)
	empty.State.RBACObjects = 0
	floor := fig(t, closed, "apiserver.heap").Value - fig(t, Compute(empty, Stock(empty)), "apiserver.heap").Value
	if perObject := (floor - 2*busiestShare.value*watchHeap.value) / 100000; perObject < 900 || perObject > 1700 {
		t.Errorf("%v B an object stay, want 900 to 1700", perObject)
	}
	if fig(t, closed, "apiserver.heap").Value >= fig(t, stock, "apiserver.heap").Value {
		t.Error("the cache that was closed still takes memory")
	}
	// Said in all and by resource is said twice, and counted once.
	p.State.RBACObjects = 0
	if a, b := fig(t, stock, "rbac.authorizer").Value, fig(t, Compute(p, Stock(p)), "rbac.authorizer").Value; a != b {
		t.Errorf("100,000 in all and by row: %v, by row only: %v", a, b)
	}
}

// Events are off the watch cache by default.
func TestEventsAreNotCached(t *testing.T) {
	p := base(100)
	p.Churn.Events.PerSecond = 1000
	quiet := base(100)
	if a, b := fig(t, Compute(p, Stock(p)), "apiserver.heap").Value, fig(t, Compute(quiet, Stock(quiet)), "apiserver.heap").Value; a != b {
		t.Errorf("a thousand events a second change the heap from %v to %v", b, a)
	}
}

// A measured fsync outweighs the disk's class, and slower is never better.
func TestDiskCeiling(t *testing.T) {
	for _, tt := range []struct {
		disk  string
		fsync float64
		want  float64
	}{
		{"nvme", 0, 10000}, {"ssd", 0, 10000}, {"network", 0, 5000}, {"hdd", 0, 1000},
		{"hdd", 2, 10000}, {"nvme", 10, 10000}, {"nvme", 20, 5000}, {"nvme", 80, 1250},
	} {
		p := base(1)
		p.ControlPlane.Disk, p.ControlPlane.FsyncP99Ms = tt.disk, tt.fsync
		if got := newModel(p, Stock(p)).diskCeiling().value; !near(got, tt.want, 1e-9) {
			t.Errorf("%s at %v ms: %v commits/s, want %v", tt.disk, tt.fsync, got, tt.want)
		}
	}
}

// One resource's fan-out by scope.
func TestFanout(t *testing.T) {
	for _, tt := range []struct {
		scope    string
		watchers int
		want     float64
	}{
		{"all", 40, 4000}, {"namespace", 40, 400}, {"namespace", 3, 100}, {"node", 5000, 100}, {"single", 5000, 100}, {"all", 0, 100},
	} {
		p := churning(base(10), gr("example.dev", "things"), 100, 1000)
		p.Churn.Resources[0].Scope, p.Churn.Resources[0].Watchers = tt.scope, tt.watchers
		if f := fig(t, Compute(p, Stock(p)), "resource.things.example.dev.fanout"); f.Value != tt.want {
			t.Errorf("%d watchers of scope %s: %v events/s, want %v", tt.watchers, tt.scope, f.Value, tt.want)
		}
	}
	p := base(5000)
	if f := fig(t, Compute(p, Stock(p)), "watches.connections"); f.Value != 90000 {
		t.Errorf("%v connections, want 18 a node", f.Value)
	}
}
