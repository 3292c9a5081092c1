package cluster

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/scrape"
)

// storm is a rung whose load is custom resources alone, with one limit on what
// clients see and one on a store.
func storm(f *fake) Options {
	return Options{
		Config: f.config(), Jobs: 3, Image: "load:1", Version: "test", Today: time.Now(), Log: f.t.Output(),
		Rung: recipe.Rung{ID: "churn/stock", Axis: "churn", Proof: &recipe.Proof{
			Load: map[string]any{"kind": "custom-writes", "writesPerSecond": 90, "objectBytes": 800, "seconds": 3},
			Limits: []recipe.ProofLimit{
				{Metric: "write-p99-seconds", Op: "<=", Value: 5, Against: "absolute"},
				{Metric: "store.main.puts-per-second", Op: "<=", Value: 1000, Against: "absolute"},
			},
		}},
	}
}

func ladder(t *testing.T) *recipe.Ladder {
	t.Helper()
	l, findings, err := recipe.Load(recipe.Options{})
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	return l
}

// From plan to record: three parts drive what one would, what is not seen
// leaves it undecided, and nothing is left.
func TestRun(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	o := storm(f)
	o.Ladder = ladder(t)
	plan, err := Make(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.left()) > 0 || !strings.Contains(plan.Text(), "Namespace seams-prove-2") || !strings.Contains(plan.Text(), "figures of store are not seen") {
		t.Errorf("the plan made %v:\n%s", f.left(), plan.Text())
	}
	r, err := plan.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	figures := r.Levels[0].Figures
	for name, want := range map[string][2]float64{"writes-due": {267, 273}, "writes-failed": {0, 0}, "writes-asked-per-second": {89.9, 90.1}} {
		if got, ok := scrape.Find(figures, name); !ok || got.Value < want[0] || got.Value > want[1] {
			t.Errorf("%s is %g, want %v", name, got.Value, want)
		}
	}
	if rate, ok := scrape.Find(figures, "apiserver.main.requests-per-second"); !ok || rate.Value < 60 || rate.Value > 110 {
		t.Errorf("the apiserver saw %g requests a second of 90", rate.Value)
	}
	if !r.Undecided || r.Pass || !r.Limits[0].Pass || !strings.HasPrefix(r.Limits[1].Problem, "not seen") {
		t.Errorf("undecided %t, limits %+v", r.Undecided, r.Limits)
	}
	if r.Machine.CPUs != 4 || r.Versions["kube-apiserver"] != "1.37.2" || !strings.HasPrefix(r.Machine.Description, "existing cluster") {
		t.Errorf("%+v %v", r.Machine, r.Versions)
	}
	if left := f.left(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A part that fails ends the run with its reason, and nothing is left.
func TestRunFails(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.fail = func(r *http.Request) bool {
		return r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/namespaces/seams-prove-1/sessions")
	}
	plan, err := Make(t.Context(), storm(f))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "part 1: prepare churn") {
		t.Errorf("%v", err)
	}
	if left := f.left(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// So does an interruption, at any time.
func TestRunInterrupted(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, 300 * time.Millisecond, 7 * time.Second} {
		f := newFake(t)
		plan, err := Make(t.Context(), storm(f))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), after)
		_, err = plan.Run(ctx)
		cancel()
		if err == nil {
			t.Errorf("after %s it went on", after)
		}
		if left := f.left(); len(left) > 0 {
			t.Errorf("after %s: %v", after, left)
		}
	}
}

// What cannot be removed is named, with the way to try again.
func TestRunTellsWhatIsLeft(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	plan, err := Make(t.Context(), storm(f))
	if err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	f.fail = func(r *http.Request) bool {
		return r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "clusterroles/"+partName)
	}
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := plan.Run(ctx); err == nil || !strings.Contains(err.Error(), "clusterroles/"+partName) || !strings.Contains(err.Error(), "--clean-up") {
		t.Errorf("%v", err)
	}
	if left := f.left(); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

// Whatever is there under a name that a run needs ends it before it begins, and
// all of it is told.
func TestNamesThatAreTaken(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for _, at := range []string{namespaces + "/seams-prove-1", rbacPath + "/clusterroles/" + loadName, "/api/v1/nodes/seams-hollow-0-00000"} {
		f.put(at, map[string]any{"metadata": map[string]any{"name": at[strings.LastIndex(at, "/")+1:]}})
	}
	_, err := Make(t.Context(), storm(f))
	for _, want := range []string{"Namespace seams-prove-1", "ClusterRole seams-prove-load", "1 nodes, the first of them seams-hollow-0-00000"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not told: %v", want, err)
		}
	}
	if len(f.left()) > 0 {
		t.Error("something was made")
	}
}

// A version that the ladder does not know, and an open rung, end it too.
func TestWhatCannotBeProven(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	o := storm(f)
	o.Rung.Proof = nil
	if _, err := Make(t.Context(), o); err == nil || !strings.Contains(err.Error(), "no proof") {
		t.Errorf("%v", err)
	}
	o = storm(f)
	delete(f.objects, "/api/v1/nodes/worker-1")
	if _, err := Make(t.Context(), o); err == nil || !strings.Contains(err.Error(), "no node") {
		t.Errorf("%v", err)
	}
}
