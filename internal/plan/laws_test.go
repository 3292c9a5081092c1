package plan

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/target"
)

// genCase draws a profile and rungs for it.
func genCase(t *rapid.T) (*profile.Profile, []string) {
	p := base()
	p.Kubernetes = rapid.SampledFrom([]string{"1.34", "1.35", "1.36", "1.37"}).Draw(t, "kubernetes")
	switch p.Platform.Kind = rapid.SampledFrom([]string{"kubeadm", "kind", "staticpod", "kops"}).Draw(t, "platform"); p.Platform.Kind {
	case "kops":
		onKops(p, rapid.SampledFrom([]string{"1.34.3", "1.35.2", "1.36.2"}).Draw(t, "kops"))
	}
	p.ControlPlane.Hosts = p.ControlPlane.Hosts[:rapid.IntRange(0, 3).Draw(t, "hosts")]
	for i := range rapid.IntRange(0, 9).Draw(t, "more hosts") {
		name := string(rune('d' + i))
		p.ControlPlane.Hosts = append(p.ControlPlane.Hosts, profile.Host{Name: name, Address: "10.0.1." + string(rune('0'+i))})
	}
	p.Nodes.Count = rapid.IntRange(1, 200000).Draw(t, "nodes")
	p.Nodes.PodChurnPerSecond = rapid.Float64Range(0, 200).Draw(t, "podChurn")
	p.ControlPlane.EtcdDisks = rapid.IntRange(1, 4).Draw(t, "disks")
	for i := range rapid.IntRange(0, 5).Draw(t, "groups") {
		hot(p, string(rune('a'+i))+".example.dev", rapid.Float64Range(0, 3000).Draw(t, "writes"))
	}
	for i := range rapid.IntRange(0, 5).Draw(t, "kinds") {
		p.State.Resources = append(p.State.Resources, profile.StateResource{
			GroupResource: profile.GroupResource{Group: string(rune('c'+i)) + ".example.dev", Resource: "things"}, Shape: "structured",
			Count: rapid.IntRange(0, 200000).Draw(t, "count"), Bytes: rapid.IntRange(1, 20000).Draw(t, "bytes"), Listers: rapid.IntRange(0, 5).Draw(t, "listers")})
	}
	var pins []string
	for _, r := range ladder.Rungs() {
		if rapid.IntRange(0, 9).Draw(t, r.ID) == 0 && !slices.ContainsFunc(pins, func(id string) bool {
			other, _ := ladder.Rung(id)
			return other.Axis == r.Axis && !other.Optional && !r.Optional
		}) {
			pins = append(pins, r.ID)
		}
	}
	return p, pins
}

// TestPlanLaws holds for every profile and every set of rungs.
func TestPlanLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, rungs := genCase(t)
		at, err := p.Target()
		if err != nil {
			t.Fatal(err)
		}
		r, _, err := ladder.Select(p, at, recipe.SelectOptions{Rungs: rungs})
		if err != nil {
			t.Fatal(err)
		}
		got, findings, err := Make(p, "sha256:profile", r, at)
		if err != nil {
			t.Fatal(err)
		}
		again, findingsAgain, err := Make(p, "sha256:profile", r, at)
		if err != nil || !cmp.Equal(got, again) || !cmp.Equal(findings, findingsAgain) {
			t.Fatalf("the same recipe gives another plan: %v\n%s", err, cmp.Diff(got, again))
		}
		checkStores(t, got)
		checkRoutes(t, got)
		checkServers(t, got)
		checkSharding(t, got)
		for i, s := range got.Rollout {
			if s.Title == "" || s.Why == "" || s.Check == "" || s.Expect == "" {
				t.Fatalf("step %d says too little: %+v", i, s)
			}
		}
	})
}

func checkStores(t *rapid.T, p *Plan) {
	ports, dirs, tokens, names := map[int]string{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i, s := range p.Stores {
		if (i == 0) != (s.Name == "main") || names[s.Name] || dirs[s.DataDir] || tokens[s.Token] || s.DataDir == "" || s.Token == "" {
			t.Fatalf("stores %+v", p.Stores)
		}
		names[s.Name], dirs[s.DataDir], tokens[s.Token] = true, true, true
		for _, port := range []int{s.ClientPort, s.PeerPort, s.MetricsPort} {
			if port <= 0 || ports[port] != "" {
				t.Fatalf("port %d of %s is taken by %s", port, s.Name, ports[port])
			}
			ports[port] = s.Name
		}
		if len(s.Members)%2 != 1 || len(s.Members) > maxMembers || s.QuotaBytes <= 0 {
			t.Fatalf("store %+v", s)
		}
		for _, m := range s.Members {
			if _, ok := p.Host(m); !ok {
				t.Fatalf("%s has a member on %s, which is no host", s.Name, m)
			}
		}
		if s.Durability == "ephemeral" && s.ServesLiveness {
			t.Fatalf("%s may be lost and serves liveness", s.Name)
		}
	}
	for _, tier := range p.Tiers {
		if ports[tier.Port] != "" {
			t.Fatalf("port %d of tier %s is taken by %s", tier.Port, tier.Name, ports[tier.Port])
		}
		ports[tier.Port] = tier.Name
	}
	for _, a := range p.Aggregated {
		if ports[a.Port] != "" {
			t.Fatalf("port %d of %s is taken by %s", a.Port, a.Name, ports[a.Port])
		}
		ports[a.Port] = a.Name
	}
}

func checkRoutes(t *rapid.T, p *Plan) {
	for i, r := range p.Routes {
		if _, ok := p.Store(r.Store); !ok || r.Store == "main" {
			t.Fatalf("%s goes to %s", r.GroupResource, r.Store)
		}
		if found, ok := target.LookUp(p.Target.Kubernetes, r.Group, r.Resource); !ok || found.Storage != target.Routable {
			t.Fatalf("%s cannot be routed", r.GroupResource)
		}
		if i > 0 && p.Routes[i-1].String() >= r.String() {
			t.Fatalf("routes are not sorted: %v", p.Routes)
		}
	}
}

func checkServers(t *rapid.T, p *Plan) {
	if p.Tiers[0].Name != "main" {
		t.Fatalf("tiers %+v", p.Tiers)
	}
	moved := map[string]string{}
	for _, a := range p.Aggregated {
		if _, ok := p.Store(a.Store); !ok || a.Replicas < 1 || len(a.Groups) == 0 || !slices.IsSorted(a.Groups) {
			t.Fatalf("tier %+v", a)
		}
		for _, g := range a.Groups {
			if moved[g] != "" {
				t.Fatalf("%s is in %s and %s", g, moved[g], a.Name)
			}
			moved[g] = a.Name
		}
	}
	for _, tier := range p.Tiers {
		for _, flag := range []string{"etcd-servers-overrides", "watch-cache-sizes", "feature-gates"} {
			if tier.Flags[flag] != "" {
				t.Fatalf("tier %s sets %s beside what it follows from", tier.Name, flag)
			}
		}
		if tier.Flags["goaway-chance"] != "" && tier.Replicas < 2 {
			t.Fatalf("tier %s is one process and sends its clients away", tier.Name)
		}
		for _, u := range tier.Uncached {
			if moved[u.Group] != "" {
				t.Fatalf("tier %s turns the cache of %s off, which it does not have", tier.Name, u)
			}
		}
		if p.Target.Platform == target.Kops && tier.Name != "main" {
			t.Fatalf("kOps has the tier %s", tier.Name)
		}
		if len(tier.Hosts) == 0 || tier.Replicas < len(tier.Hosts) {
			t.Fatalf("tier %+v", tier)
		}
	}
}

func checkSharding(t *rapid.T, p *Plan) {
	if p.Sharding == nil {
		return
	}
	if got := cmp.Diff(ShardRanges(p.Sharding.Field, len(p.Sharding.Ranges)), p.Sharding.Ranges); got != "" {
		t.Fatal(got)
	}
	owner := map[string]string{}
	for _, g := range p.ControllerGroups {
		for _, c := range g.Controllers {
			if owner[c] != "" {
				t.Fatalf("%s is in %s and %s", c, owner[c], g.Name)
			}
			owner[c] = g.Name
			if !slices.Contains(target.Controllers(p.Target.Kubernetes), c) || c == target.ServiceAccountTokens {
				t.Fatalf("the group %s has %s", g.Name, c)
			}
		}
	}
}
