//go:build rig

package rig_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/measure"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/prove/rig"
)

// TestMeasureRoundTrip drives a known load and measures the cluster meanwhile:
// the profile says what was driven, within a tenth.
func TestMeasureRoundTrip(t *testing.T) {
	r := start(t, rig.Options{Files: render(t, "one.cue")})
	driver, err := load.NewDriver(load.Options{Servers: []*rest.Config{r.Config("")}, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	nodes := &load.Nodes{Driver: driver, Count: 100, LeaseDuration: 16 * time.Second, StatusEvery: 20 * time.Second, Images: 10}
	sessions := &load.Churn{Driver: driver, Bytes: 5000, Cycles: 1, StatusWrites: 1, Pause: 500 * time.Millisecond}
	sessions.AtWrites(40)
	events := &load.Events{Driver: driver, PerSecond: 15}
	elections := &load.Elections{Driver: driver, Count: 20}
	objects := &load.Objects{Driver: driver, Custom: load.Set{Count: 400, Bytes: 4000}, Groups: []string{"dormant.seams.dev"},
		ConfigMaps: load.Set{Count: 600, Bytes: 3000}}
	loads := []load.Load{nodes, sessions, events, elections, objects}
	defer func() {
		if err := load.Cleanup(t.Context(), loads...); err != nil {
			t.Error(err)
		}
	}()
	if err := load.Prepare(t.Context(), loads...); err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	// What it costs to begin is over before the first look.
	const run, before, window = 110 * time.Second, 25 * time.Second, 70 * time.Second
	go func() {
		results, err := load.Together(t.Context(), run, loads...)
		for _, r := range results {
			if r != nil && len(r.DriverLimits)+len(r.Failures) > 0 {
				t.Logf("%s: %q, failures %v", r.Load, r.DriverLimits, r.Failures)
			}
		}
		ran <- err
	}()
	time.Sleep(before)
	p, doubts := measured(t, r.Config(""), window)
	if err := <-ran; err != nil {
		t.Fatal(err)
	}
	for _, f := range doubts {
		if f.Severity > finding.Info {
			t.Logf("finding: %s", f)
		}
	}
	lifecycle := float64(sessions.WritesPerSession())
	within(t, "nodes", float64(p.Nodes.Count), 100)
	within(t, "lease duration", float64(p.Nodes.LeaseDurationSeconds), 16)
	within(t, "status report interval", float64(p.Nodes.StatusReportSeconds), 20)
	within(t, "events", p.Churn.Events.PerSecond, 15)
	within(t, "elections", float64(p.Churn.LeaderElections), 22) // two are the components'
	within(t, "apiservers", float64(p.ControlPlane.Apiservers), 1)
	churn := churnOf(t, p, load.Group, "sessions")
	within(t, "writes of sessions", churn.WritesPerSecond(), sessions.PerSecond*lifecycle)
	within(t, "sessions created", churn.CreatesPerSecond, sessions.PerSecond)
	within(t, "sessions deleted", churn.DeletesPerSecond, sessions.PerSecond)
	within(t, "bytes of a session", float64(churn.ObjectBytes), 5000)
	dormant := stateOf(t, p, "dormant.seams.dev", objects.Resources()[0].Plural)
	within(t, "dormant objects", float64(dormant.Count), 400)
	within(t, "bytes of a dormant object", float64(dormant.Bytes), 4000)
	maps := stateOf(t, p, "", "configmaps")
	within(t, "config maps", float64(maps.Count), 600)
	within(t, "bytes of a config map", float64(maps.Bytes), 3000)
	if p.State.CRDs != 2 {
		t.Errorf("%d definitions, want those of sessions and of dormant objects", p.State.CRDs)
	}
}

// measured is the profile of a cluster, loaded as any other.
func measured(t *testing.T, config *rest.Config, window time.Duration) (*profile.Profile, []finding.Finding) {
	t.Helper()
	o, err := measure.Live(t.Context(), measure.Options{Config: config, Window: window, Sample: 50})
	if err != nil {
		t.Fatal(err)
	}
	o.Name = "rig"
	document, doubts, err := measure.Profile(o)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rig.yaml")
	if err := os.WriteFile(file, document.YAML(), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", document.YAML())
	loader, err := profile.NewLoader()
	if err != nil {
		t.Fatal(err)
	}
	loaded, problems, err := loader.Load(t.Context(), profile.Options{Path: file})
	if err != nil || finding.AtLeast(problems, finding.Error) {
		t.Fatal("the measured profile is none: ", err, problems)
	}
	return loaded[0].Profile, doubts
}

func within(t *testing.T, what string, got, want float64) {
	t.Helper()
	t.Logf("%s: measured %.4g, driven %.4g (%+.1f %%)", what, got, want, 100*(got-want)/want)
	if math.Abs(got-want) > 0.1*want {
		t.Errorf("%s: measured %v, driven %v", what, got, want)
	}
}

func churnOf(t *testing.T, p *profile.Profile, group, resource string) profile.ChurnResource {
	t.Helper()
	for _, c := range p.Churn.Resources {
		if c.Group == group && c.Resource == resource {
			return c
		}
	}
	t.Fatalf("%s/%s is not among what churns", group, resource)
	return profile.ChurnResource{}
}

func stateOf(t *testing.T, p *profile.Profile, group, resource string) profile.StateResource {
	t.Helper()
	for _, s := range p.State.Resources {
		if s.Group == group && s.Resource == resource {
			return s
		}
	}
	t.Fatalf("%s/%s is not among what is kept", group, resource)
	return profile.StateResource{}
}
