package controlplane_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/server/options"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"pgregory.net/rapid"

	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/generators/internal/plantest"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/target"
)

// routed draws a plan whose routes go to stores in any order, several to one
// store too, and some to main.
func routed(t *rapid.T) *plan.Plan {
	at := target.Target{Kubernetes: plantest.Version(37), Platform: target.Kubeadm}
	p := plantest.Stock(at, rapid.SampledFrom([]int{1, 3}).Draw(t, "hosts"))
	stores := rapid.IntRange(1, 5).Draw(t, "stores")
	for i := range stores {
		p.Stores = append(p.Stores, plan.Store{Name: fmt.Sprintf("s%d", i), Members: p.Stores[0].Members, ClientPort: 3000 + i,
			ServesLiveness: rapid.Bool().Draw(t, "serves liveness")})
	}
	for i := range rapid.IntRange(0, 8).Draw(t, "routes") {
		to := rapid.IntRange(0, stores).Draw(t, "store")
		p.Routes = append(p.Routes, plan.Route{GroupResource: profile.GroupResource{Group: "g", Resource: fmt.Sprintf("r%d", i)}, Store: p.Stores[to].Name})
	}
	return p
}

// checks are the names of the health checks that upstream adds for a value of
// the flag: those of /livez, and those of /readyz.
func checks(t *rapid.T, overrides string) (live, ready []string) {
	o := options.NewEtcdOptions(storagebackend.NewDefaultConfig("/registry", nil))
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.AddFlags(flags)
	args := []string{"--etcd-servers=http://127.0.0.1:1"}
	if overrides != "" {
		args = append(args, "--etcd-servers-overrides="+overrides)
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	if errs := o.Validate(); len(errs) > 0 {
		t.Fatal(errs)
	}
	scheme := runtime.NewScheme()
	config := server.NewConfig(serializer.NewCodecFactory(scheme))
	factory := serverstorage.NewDefaultStorageFactory(o.StorageConfig, "", serializer.NewCodecFactory(scheme),
		serverstorage.NewDefaultResourceEncodingConfig(scheme), serverstorage.NewResourceConfig(), map[schema.GroupResource]string{})
	if err := o.ApplyWithStorageFactoryTo(factory, config); err != nil {
		t.Fatal(err)
	}
	return names(config.LivezChecks), names(config.ReadyzChecks)
}

func names(checks []healthz.HealthChecker) []string {
	var all []string
	for _, c := range checks {
		if strings.Contains(c.Name(), "etcd-override") {
			all = append(all, c.Name())
		}
	}
	return all
}

// The probes exclude exactly the checks of the stores that may be lost, by the
// numbers that upstream gives them, and every check that they name exists.
func TestProbesExcludeUpstreamsChecks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := routed(t)
		value := controlplane.Overrides(p)
		parsed, err := options.ParseEtcdServersOverrides(split(t, value))
		if err != nil {
			t.Fatalf("%q: %v", value, err)
		}
		live, ready := checks(t, value)
		paths := controlplane.Probes(p)
		for _, path := range []struct {
			path string
			have []string
		}{{paths.Live, live}, {paths.Ready, ready}} {
			for name := range strings.SplitSeq(path.path, "exclude=") {
				if name = strings.TrimSuffix(name, "&"); strings.HasPrefix(name, "etcd") && !slices.Contains(path.have, name) {
					t.Fatalf("%s excludes %s, which is not among %v", path.path, name, path.have)
				}
			}
		}
		numbers := map[string]int{}
		for _, o := range parsed {
			key := strings.Join(o.Servers, ";")
			if _, ok := numbers[key]; !ok {
				numbers[key] = len(numbers)
			}
			s := storeAt(t, p, o.Servers[0])
			check := fmt.Sprintf("exclude=etcd-override-%d", numbers[key])
			if excluded := contains(paths.Live, check); excluded == s.ServesLiveness {
				t.Fatalf("store %s serves liveness %t and %s is excluded %t in %s", s.Name, s.ServesLiveness, check, excluded, paths.Live)
			}
		}
		if len(live) != len(numbers) {
			t.Fatalf("upstream has the checks %v for %d server sets", live, len(numbers))
		}
	})
}

// contains looks for a whole parameter of a query.
func contains(path, parameter string) bool {
	_, query, _ := strings.Cut(path, "?")
	return slices.Contains(strings.Split(query, "&"), parameter)
}

// split reads the value as the flag does.
func split(t *rapid.T, value string) []string {
	var items []string
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringSliceVar(&items, "f", nil, "")
	if value == "" {
		return nil
	}
	if err := flags.Parse([]string{"--f=" + value}); err != nil {
		t.Fatal(err)
	}
	return items
}

func storeAt(t *rapid.T, p *plan.Plan, url string) plan.Store {
	for _, s := range p.Stores {
		if strings.HasSuffix(url, fmt.Sprintf(":%d", s.ClientPort)) {
			return s
		}
	}
	t.Fatalf("no store at %s", url)
	return plan.Store{}
}

// Every apiserver of a plan has the same overrides, whatever its tier.
func TestTiersAgreeAboutStores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := routed(t)
		p.Tiers = append(p.Tiers, plan.Tier{Name: "nodes", Port: 7443, Hosts: p.Tiers[0].Hosts})
		want := controlplane.TierFlags(p, p.Tiers[0])["etcd-servers-overrides"]
		if got := controlplane.TierFlags(p, p.Tiers[1])["etcd-servers-overrides"]; got != want {
			t.Fatalf("%q and %q", want, got)
		}
	})
}
