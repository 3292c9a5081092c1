package plan

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubeseams/seams/internal/golden"
	"github.com/kubeseams/seams/internal/profile"
)

// TestRolloutGolden keeps the steps for each platform, to be read.
func TestRolloutGolden(t *testing.T) {
	kind, static := base(), base()
	kind.Platform.Kind, static.Platform.Kind = "kind", "staticpod"
	two := base()
	two.ControlPlane.Hosts = two.ControlPlane.Hosts[:1]
	for name, c := range map[string]struct {
		p     *profile.Profile
		rungs []string
	}{
		"kubeadm-events":    {base(), []string{"churn/events-store"}},
		"kubeadm-node-tier": {base(), []string{"node/node-tier", "node/longer-lease", "state/client-shards"}},
		"kubeadm-one-host":  {two, []string{"node/leases-store"}},
		"kubeadm-hot-group": {hot(base(), "agents.example.dev", 1500), nil},
		"staticpod-leases":  {static, []string{"node/node-tier"}},
		"kind-leases":       {kind, []string{"churn/leases-store"}},
		"kops-leases":       {onKops(base(), "1.36.2"), []string{"node/leases-store"}},
		"kops-events":       {onKops(base(), "1.36.2"), []string{"churn/events-store"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := makePlan(t, c.p, c.rungs...)
			golden.File(t, filepath.Join("testdata", "rollout-"+name+".txt"), write(p.Rollout))
		})
	}
}

func write(steps []Step) string {
	var b strings.Builder
	for i, s := range steps {
		fmt.Fprintf(&b, "%d. %s\n   why: %s\n", i+1, s.Title, s.Why)
		for _, c := range s.Commands {
			fmt.Fprintf(&b, "   $ %s\n", c)
		}
		fmt.Fprintf(&b, "   check: %s\n   expect: %s\n   hazard: %s\n   undo: %s\n", s.Check, s.Expect, s.Hazard, s.Undo)
	}
	return b.String()
}

// order gives the places of the steps whose titles begin with each text.
func order(t *testing.T, p *Plan, titles ...string) []int {
	t.Helper()
	var places []int
	for _, title := range titles {
		i := slices.IndexFunc(p.Rollout, func(s Step) bool { return strings.HasPrefix(s.Title, title) })
		if i < 0 {
			t.Fatalf("no step %q in:\n%s", title, write(p.Rollout))
		}
		places = append(places, i)
	}
	return places
}

// TestLeasesSwitchOrder: nobody who acts on leases runs while apiservers can
// disagree about them, and the old ones go last.
func TestLeasesSwitchOrder(t *testing.T) {
	p, _ := makePlan(t, base(), "node/node-tier", "node/longer-lease", "state/client-shards")
	got := order(t, p, "Back up", "Merge", "Copy", "Start the etcd events", "Start the etcd leases", "Give the members of leases",
		"Stop controller managers", "Switch all apiservers together", "Start controller manager and scheduler", "Restart what elects",
		"Start the apiservers of the tier nodes", "Change the kubelets", "Start the controller managers of the group", "See that every apiserver filters",
		"Delete the old leases")
	if !slices.IsSorted(got) {
		t.Errorf("places %v in:\n%s", got, write(p.Rollout))
	}
	commands := p.Rollout[len(p.Rollout)-1].Commands
	last := commands[len(commands)-1]
	if !strings.Contains(last, "etcd-cp-1 --") || !strings.Contains(last, ":2379") || !strings.HasSuffix(last, "del --prefix /registry/leases/") {
		t.Errorf("the deletion is not of the main etcd's leases alone: %s", last)
	}
}

// TestEventsSwitchInTurn: without a route for leases the apiservers go one by
// one, and nothing is stopped.
func TestEventsSwitchInTurn(t *testing.T) {
	p, _ := makePlan(t, base(), "churn/events-store")
	got := order(t, p, "Start the etcd events", "Switch the apiserver on cp-1", "Switch the apiserver on cp-2", "Switch the apiserver on cp-3")
	if !slices.IsSorted(got) {
		t.Errorf("places %v", got)
	}
	if text := write(p.Rollout); strings.Contains(text, "controller manager") || strings.Contains(text, "del --prefix") {
		t.Error("the rollout stops or deletes something, for Events")
	}
}

// TestTierInOrder: rights before servers, keys before etcd, etcd before servers,
// and a group's CRDs in the tier before its
// APIServices.
func TestTierInOrder(t *testing.T) {
	of := hot(base(), "agents.example.dev", 1500)
	of.ControlPlane.Tiers.Groups = []profile.TierGroup{{Group: "agents.example.dev", Versions: []string{"v1"}}}
	p, _ := makePlan(t, of)
	got := order(t, p, "Prepare for the aggregated tiers", "Make the keys of agents-example-dev", "Start the etcd agents-example-dev",
		"Start the servers of agents-example-dev", "Move the group agents.example.dev")
	if !slices.IsSorted(got) {
		t.Errorf("places %v", got)
	}
	commands := strings.Join(p.Rollout[got[4]].Commands, "\n")
	services, crds := strings.Index(commands, "apiservices.sh"), strings.Index(commands, "tier crds")
	if crds < 0 || services < crds {
		t.Errorf("APIServices %d, CRDs %d in:\n%s", services, crds, commands)
	}
	if keys := strings.Join(p.Rollout[got[1]].Commands, "\n"); strings.Count(keys, "pki.sh init") != 1 || strings.Count(keys, "tar -C /etc/kubernetes -cf -") != 2 {
		t.Errorf("the authorities are not made once and carried to the two others:\n%s", keys)
	}
}

// TestKopsLeasesTogether: kOps replaces instances one by one, which for leases
// is the one thing that must not be done.
func TestKopsLeasesTogether(t *testing.T) {
	p, _ := makePlan(t, onKops(base(), "1.36.2"), "node/leases-store")
	step := p.Rollout[order(t, p, "Replace all control-plane instances together")[0]]
	if !strings.Contains(step.Commands[0], "--cloudonly") || step.Hazard == "" {
		t.Errorf("%+v", step)
	}
	p, _ = makePlan(t, onKops(base(), "1.36.2"), "churn/events-store")
	step = p.Rollout[order(t, p, "Replace the control-plane instances one by one")[0]]
	if strings.Contains(step.Commands[0], "--cloudonly") {
		t.Errorf("%+v", step)
	}
}
