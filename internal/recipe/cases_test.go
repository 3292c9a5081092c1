package recipe

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/target"
)

const casesDir = "../../e2e/cases/profiles"

// loadCase reads the profile of a real report.
func loadCase(t testing.TB, id string) *profile.Profile {
	t.Helper()
	l, err := profile.NewLoader()
	if err != nil {
		t.Fatal(err)
	}
	got, findings, err := l.Load(context.Background(), profile.Options{Path: filepath.Join(casesDir, id+".yaml")})
	if err != nil || len(got) != 1 {
		t.Fatalf("%s: %d profiles, %v, %v", id, len(got), findings, err)
	}
	return got[0].Profile
}

func selectFor(t testing.TB, l *Ladder, p *profile.Profile, rungs ...string) (*Recipe, []finding.Finding) {
	t.Helper()
	at, err := p.Target()
	if err != nil {
		t.Fatal(err)
	}
	r, findings, err := l.Select(p, at, SelectOptions{Rungs: rungs})
	if err != nil {
		t.Fatal(err)
	}
	return r, findings
}

// TestCases holds selection to the right answer for each report: the rungs, the
// groups that leave, and the axis that is past the ladder.
func TestCases(t *testing.T) {
	const stock = "node/stock churn/stock state/stock"
	l := mustLoad(t)
	for id, want := range map[string]struct {
		rungs string
		past  estimate.Axis
		moved string
	}{
		"43-leases":                  {rungs: "node/leases-store churn/stock state/stock"},
		"43b-long-lease-short-grace": {rungs: "node/leases-store churn/stock state/stock"},
		"43d-grace-equals-renew":     {rungs: stock},
		"44a-pod-churn-events":       {rungs: "node/stock churn/events-store state/stock"},
		"44b-fat-events":             {rungs: "node/stock churn/events-store state/stock"},
		"44c-tiny-quota":             {rungs: "node/stock churn/events-store state/stock"},
		"45a-admission-reports":      {rungs: "node/stock churn/stock state/partitioned", moved: "kyverno.io"},
		"45c-workflow-burst":         {rungs: "node/stock churn/aggregated-tier state/stock", moved: "argoproj.io"},
		"45d-kept-runs":              {rungs: "node/stock churn/stock state/partitioned", moved: "tekton.dev"},
		"45e-runaway-certs":          {rungs: stock},
		"47a-crd-schemas":            {rungs: "node/stock churn/stock state/range-residency", past: estimate.State},
		"47b-secrets-list-burst":     {rungs: stock},
		"47b2-huge-secrets":          {rungs: "node/stock churn/stock state/range-residency", past: estimate.State},
		"47d-restart-headroom":       {rungs: "node/ci-5k churn/stock state/stock"},
		"48a-past-ladder":            {rungs: "node/ci-5k churn/per-crd-storage state/stock", past: estimate.Churn, moved: "agents.x-k8s.io"},
		"48b-ordinary-claims":        {rungs: stock},
		"48b-node-wall":              {rungs: stock},
		"48d-slow-disk":              {rungs: stock},
	} {
		t.Run(id, func(t *testing.T) {
			p := loadCase(t, id)
			r, findings := selectFor(t, l, p)
			var rungs []string
			for _, c := range r.Choices {
				rungs = append(rungs, c.Rung.ID)
				if c.PastLadder != (c.Axis == want.past) {
					t.Errorf("the %s axis is past the ladder: %t", c.Axis, c.PastLadder)
				}
				checkChoice(t, c)
			}
			if got := strings.Join(rungs, " "); got != want.rungs {
				t.Errorf("chose %s, want %s", got, want.rungs)
			}
			var moved []string
			for _, tier := range r.Layout.Aggregated {
				moved = append(moved, tier.Groups...)
			}
			if got := strings.Join(moved, " "); got != want.moved {
				t.Errorf("moved the groups %q, want %q", got, want.moved)
			}
			if finding.AtLeast(findings, finding.Error) {
				t.Errorf("findings: %v", findings)
			}
			if r.Layout.Apiservers != p.ControlPlane.Apiservers {
				t.Errorf("the layout has %d apiservers, the profile %d: no rung may add one for memory", r.Layout.Apiservers, p.ControlPlane.Apiservers)
			}
			checkRoutes(t, r, p)
		})
	}
}

// checkChoice holds a choice to explaining itself.
func checkChoice(t *testing.T, c Choice) {
	t.Helper()
	for _, rejected := range c.Rejected {
		if rejected.ID == c.Rung.ID {
			t.Errorf("%s is both chosen and rejected", rejected.ID)
		}
		for _, reason := range rejected.Reasons {
			if !strings.Contains(reason, ">") && !strings.Contains(reason, "needs") && !strings.Contains(reason, "rendered") {
				t.Errorf("%s is rejected without a figure or a requirement: %q", rejected.ID, reason)
			}
		}
		if len(rejected.Reasons) == 0 {
			t.Errorf("%s is rejected without a reason", rejected.ID)
		}
	}
}

// checkRoutes holds routes to built-in resources.
func checkRoutes(t testing.TB, r *Recipe, p *profile.Profile) {
	t.Helper()
	at, err := p.Target()
	if err != nil {
		t.Fatal(err)
	}
	for route := range r.Settings.Routes {
		group, resource, _ := strings.Cut(route, "/")
		if !target.BuiltIn(at.Kubernetes, group, resource) {
			t.Errorf("%s is routed and is not built in", route)
		}
	}
	for _, uncached := range r.Layout.Uncached {
		if watchedByNodes[uncached.String()] {
			t.Errorf("%s is off the watch cache, and every node watches it", uncached)
		}
	}
}

// TestExamples holds the examples to what each of them is an example of.
func TestExamples(t *testing.T) {
	want := map[string]string{
		"training-15k":  "node/leases-store churn/stock state/stock",
		"training-100k": "node/node-tier churn/stock state/stock",
		"agents":        "node/ci-5k churn/aggregated-tier state/stock",
		"platform":      "node/stock churn/stock state/partitioned",
	}
	l := mustLoad(t)
	pl, err := profile.NewLoader()
	if err != nil {
		t.Fatal(err)
	}
	for name, rungs := range want {
		got, _, err := pl.Load(context.Background(), profile.Options{Path: "../../recipes/examples/" + name + ".cue"})
		if err != nil || len(got) != 1 {
			t.Fatal(name, err)
		}
		r, findings := selectFor(t, l, got[0].Profile)
		var chosen []string
		for _, c := range r.Choices {
			chosen = append(chosen, c.Rung.ID)
		}
		if strings.Join(chosen, " ") != rungs || r.PastLadder() || len(findings) > 0 {
			t.Errorf("%s: chose %v, want %s; findings %v", name, chosen, rungs, findings)
		}
		checkRoutes(t, r, got[0].Profile)
	}
}

// TestEventsAloneAreNoFixForLiveness: on a cluster whose trouble is heartbeats
// the rung with an etcd for Events and none for leases is rejected, with the
// liveness rate as the reason.
func TestEventsAloneAreNoFixForLiveness(t *testing.T) {
	r, _ := selectFor(t, mustLoad(t), loadCase(t, "43-leases"))
	i := slices.IndexFunc(r.Choices[0].Rejected, func(x Rejection) bool { return x.ID == "node/ci-5k" })
	if i < 0 {
		t.Fatal("node/ci-5k is not among the rejected")
	}
	if want := "liveness up to 2,625/s (estimate 2,583/s) > 600/s"; !slices.Contains(r.Choices[0].Rejected[i].Reasons, want) {
		t.Errorf("reasons %q, want %q among them", r.Choices[0].Rejected[i].Reasons, want)
	}
}
