package load

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Content takes exactly the room that it is asked to take, in every shape.
func TestContentIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom([]Shape{Maps, Opaque, ""}).Draw(t, "shape")
		n := rapid.IntRange(0, 5000).Draw(t, "n")
		d := &Driver{opts: Options{Seed: rapid.Uint64().Draw(t, "seed")}}
		size := func(n int) int {
			b, err := json.Marshal(s.fill(d.random("x"), n))
			if err != nil {
				t.Fatal(err)
			}
			return len(b)
		}
		if got := size(n) - size(0); got != n {
			t.Fatalf("%d bytes, want %d", got, n)
		}
	})
}

func TestSizingNameIsAsLong(t *testing.T) {
	if len(sizingName) != len(objectName(0)) {
		t.Errorf("%q and %q differ in length", sizingName, objectName(0))
	}
}

func TestFit(t *testing.T) {
	for _, tt := range []struct {
		name      string
		want, got int
		stored    func(pad int) int
		fails     bool
	}{
		{"linear", 500, 500, func(p int) int { return 100 + p }, false},
		{"a longer length from 128 on", 400, 400, func(p int) int {
			if p > 127 {
				return 102 + p
			}
			return 100 + p
		}, false},
		{"a size that cannot be had", 229, 230, func(p int) int {
			if p >= 128 {
				return 102 + p
			}
			return 101 + p
		}, false},
		{"too small", 50, 100, func(p int) int { return 100 + p }, true},
	} {
		_, got, err := fit(tt.want, func(p int) (int, error) { return tt.stored(p), nil })
		if (err != nil) != tt.fails || !tt.fails && (got < tt.want-4 || got > tt.want+4) || tt.want == tt.got && got != tt.want {
			t.Errorf("%s: %d, %v", tt.name, got, err)
		}
	}
}

func TestObjects(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	o := &Objects{
		Driver: f.driver(Options{Seed: 7}), Groups: []string{"a.test", "b.test"}, Custom: Set{20, 3000}, Namespaces: 3,
		ConfigMaps: Set{9, 1000}, Secrets: Set{8, 1001}, Roles: Set{7, 600}, RoleBindings: Set{6, 700},
		ListEvery: 100 * time.Millisecond, UpdatesPerSecond: 40,
	}
	if err := o.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	for plural, n := range map[string]int{"dormants": 40, "configmaps": 9, "secrets": 8, "roles": 7, "rolebindings": 6} {
		if got := f.left(plural); got != n {
			t.Errorf("%d %s, want %d", got, plural, n)
		}
	}
	// Again is no error, after a run that was broken off.
	if err := o.Prepare(t.Context()); err != nil || f.left("dormants") != 40 {
		t.Fatalf("%d dormants, %v", f.left("dormants"), err)
	}
	// What etcd would hold of every custom resource.
	f.mu.Lock()
	for path, object := range f.objects {
		if strings.Contains(path, "|dormants|") {
			raw, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := storedJSON(raw); err != nil || n != 3000 {
				t.Errorf("%s takes %d bytes, %v", path, n, err)
			}
		}
	}
	f.mu.Unlock()
	f.took()
	r, err := o.Run(t.Context(), 500*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	calls := f.took()
	want(t, r, map[string]float64{
		"objects": 70, "updates": 20, "lists": 5, "stored-bytes-dormants.a.test": 60000, "stored-bytes-dormants.b.test": 60000,
		"stored-bytes-configmaps": 9000, "stored-bytes-secrets": 8008, "stored-bytes-roles": 4200, "stored-bytes-rolebindings": 4200,
	})
	if calls["PATCH dormants/status"] != 20 || calls["GET dormants"] != 5 {
		t.Errorf("calls %v", calls)
	}
	if err := o.Cleanup(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, plural := range []string{"dormants", "configmaps", "secrets", "roles", "rolebindings", "customresourcedefinitions"} {
		if n := f.left(plural); n != 0 {
			t.Errorf("%d %s left", n, plural)
		}
	}
}

// The same seed makes the same objects, and another makes others.
func TestSeedFixesObjects(t *testing.T) {
	t.Parallel()
	bodies := func(seed uint64) map[string]string {
		f := newFake(t)
		o := &Objects{Driver: f.driver(Options{Seed: seed, Parallel: 7}), Custom: Set{30, 1500}, Secrets: Set{10, 900}}
		if err := o.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		return f.bodies
	}
	a := bodies(1)
	if b := bodies(1); !maps.Equal(a, b) {
		t.Error("the same seed made other objects")
	}
	if maps.Equal(a, bodies(2)) {
		t.Error("another seed made the same objects")
	}
}

// Every write of a life is made, in order, and none besides.
func TestChurnWrites(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	var mu sync.Mutex
	lives := map[string][]string{}
	f.on(func(_ http.ResponseWriter, r *http.Request, what string) bool {
		if strings.HasSuffix(what, "sessions") || strings.HasSuffix(what, "sessions/status") {
			name := placeOf(r.URL.Path).name
			if name == "" {
				return false // creations and lists
			}
			mu.Lock()
			lives[name] = append(lives[name], strings.TrimPrefix(what, "dry "))
			mu.Unlock()
		}
		return false
	})
	c := &Churn{
		Driver: f.driver(Options{}), PerSecond: 20, Bytes: 2000, Cycles: 1, StatusWrites: 2, Pause: 20 * time.Millisecond,
		Groups: []string{"a.test", "b.test"},
	}
	if got := c.WritesPerSession(); got != 10 {
		t.Fatalf("%d writes a session, want create, suspend, resume with 2 status writes each, and destroy: 10", got)
	}
	r := ran(t, c, time.Second)
	want(t, r, map[string]float64{
		"begun": 20, "writes-failed": 0, "writes-missed": 0, "writes-skipped": 0, "object-bytes": 2000, "writes-asked-per-second": 200,
	})
	// Sessions stand at the start: the rate is there from the first second on.
	within(t, r, "writes-due", 195, 205)
	done, _ := r.Value("writes")
	due, _ := r.Value("writes-due")
	if done != due {
		t.Errorf("%v of %v writes", done, due)
	}
	life := []string{
		"PATCH sessions/status", "PATCH sessions/status", "PATCH sessions", "PATCH sessions/status", "PATCH sessions/status",
		"PATCH sessions", "PATCH sessions/status", "PATCH sessions/status", "DELETE sessions",
	}
	whole := 0
	for name, did := range lives {
		switch {
		case slices.Equal(did, life):
			whole++
		case len(did) >= len(life): // those that the run's ends cut are shorter
			t.Errorf("%s: %v", name, did)
		}
	}
	if whole < 10 {
		t.Errorf("only %d whole lives seen", whole)
	}
	if f.left("sessions") != 0 || f.left("customresourcedefinitions") != 0 {
		t.Error("sessions or definitions left")
	}
}

// A step that waits for the one before is late from when it was due.
func TestStepsWaitInOrder(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on(func(_ http.ResponseWriter, _ *http.Request, what string) bool {
		if what == "POST sessions" {
			time.Sleep(400 * time.Millisecond)
		}
		return false
	})
	c := &Churn{Driver: f.driver(Options{}), PerSecond: 10, StatusWrites: 1, Pause: 50 * time.Millisecond}
	r := ran(t, c, time.Second)
	want(t, r, map[string]float64{"writes-failed": 0})
	within(t, r, "create-p50-seconds", 0.39, 3)
	// Due 50 ms after the creation, which took 400.
	within(t, r, "status-p90-seconds", 0.33, 3)
}

// Every write that was due is counted once, whatever happens to it.
func TestWritesAddUp(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{"capped": {MaxInFlight: 3}, "hung": {Timeout: 100 * time.Millisecond}, "refused": {}} {
		f := newFake(t)
		c := &Churn{Driver: f.driver(o), PerSecond: 30, StatusWrites: 1, Pause: 20 * time.Millisecond}
		if err := c.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		n := 0
		f.on(func(w http.ResponseWriter, r *http.Request, what string) bool {
			f.mu.Lock()
			n++
			odd := n%3 == 0
			f.mu.Unlock()
			switch {
			case name == "capped":
				time.Sleep(150 * time.Millisecond)
			case name == "hung" && odd:
				<-r.Context().Done()
				return true
			case name == "refused" && odd:
				refuse(w, http.StatusForbidden, "Forbidden")
				return true
			}
			return false
		})
		r, err := c.Run(t.Context(), time.Second)
		if err != nil {
			t.Fatal(err)
		}
		v := func(name string) float64 { x, _ := r.Value(name); return x }
		if sum := v("writes") + v("writes-failed") + v("writes-missed") + v("writes-skipped"); sum != v("writes-due") || v("writes") == sum {
			t.Errorf("%s: %v done, %v failed, %v missed, %v skipped of %v", name, v("writes"), v("writes-failed"), v("writes-missed"), v("writes-skipped"), v("writes-due"))
		}
	}
}

func TestPods(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	p := &Pods{Driver: f.driver(Options{}), PerSecond: 20, Bytes: 2000, StatusWrites: 2, Pause: 20 * time.Millisecond, Nodes: []string{"n1", "n2"}}
	r := ran(t, p, time.Second)
	want(t, r, map[string]float64{"begun": 20, "writes-failed": 0, "object-bytes": 2000})
	calls := f.took()
	if p.WritesPerPod() != 5 || calls["POST pods/binding"] < 18 || calls["PATCH pods/status"] < 36 || calls["DELETE pods"] < 18 {
		t.Errorf("%d writes a pod, calls %v", p.WritesPerPod(), calls)
	}
	if f.left("pods") != 0 {
		t.Error("pods left")
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	r := ran(t, &Probe{Driver: f.driver(Options{}), PerSecond: 50}, time.Second)
	want(t, r, map[string]float64{"core-calls-due": 50, "core-calls": 50, "core-calls-failed": 0})
	for _, name := range []string{"core-read", "core-write", "core-get-configmap", "core-put-configmap", "core-post-pod", "core-delete-pod", "core-list-nodes"} {
		within(t, r, name+"-p99-seconds", 0, 5)
	}
	if f.left("pods")+f.left("configmaps") != 0 {
		t.Error("objects left")
	}
}
