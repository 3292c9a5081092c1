package kind_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/generators/internal/plantest"
	"github.com/kubeseams/seams/generators/kind"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/target"
)

func clusterOf(t *testing.T, p *plan.Plan) v1alpha4.Cluster {
	t.Helper()
	files, _, err := kind.Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Path != "kind.yaml" {
			continue
		}
		var c v1alpha4.Cluster
		if err := yaml.UnmarshalStrict(f.Data, &c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	t.Fatal("no kind.yaml")
	return v1alpha4.Cluster{}
}

func TestIPFamilyFollowsThePods(t *testing.T) {
	for cidr, want := range map[string]v1alpha4.ClusterIPFamily{"10.244.0.0/16": "", "fd00::/56": v1alpha4.IPv6Family, "10.244.0.0/16,fd00::/56": v1alpha4.DualStackFamily} {
		p := plantest.Stock(target.Target{Kubernetes: plantest.Version(37), Platform: target.Kind}, 1)
		p.ControlPlane.Network.PodCIDR = cidr
		if got := clusterOf(t, p).Networking.IPFamily; got != want {
			t.Errorf("%s: %q, want %q", cidr, got, want)
		}
	}
}

// No patch names a version: kind would leave out one that is not the node's.
func TestPatchesNameNoVersion(t *testing.T) {
	for _, minor := range []int{34, 35, 36, 37} {
		c := clusterOf(t, plantest.NodeTier(target.Target{Kubernetes: plantest.Version(minor), Platform: target.Kind}))
		patches := c.KubeadmConfigPatches
		for _, n := range c.Nodes {
			patches = append(patches, n.KubeadmConfigPatches...)
		}
		for _, patch := range patches {
			if strings.Contains(patch, "apiVersion:") || !strings.HasPrefix(patch, "kind: ") {
				t.Errorf("1.%d: %s", minor, patch)
			}
		}
		if len(patches) != 2+2*3 {
			t.Errorf("1.%d: %d patches", minor, len(patches))
		}
	}
}

// The plan that goes in is not changed by being made local.
func TestLocaliseLeavesThePlan(t *testing.T) {
	p := plantest.NodeTier(target.Target{Kubernetes: plantest.Version(37), Platform: target.Kind})
	local := kind.Localise(p)
	if p.ControlPlane.Hosts[0].Name != "cp-1" || p.Stores[1].Members[0] != "cp-1" || p.Tiers[1].Hosts[0] != "cp-1" {
		t.Error("the plan was changed")
	}
	for i, want := range []string{"shop-control-plane", "shop-control-plane2", "shop-control-plane3"} {
		if got := local.ControlPlane.Hosts[i]; got.Name != want || got.Address != want {
			t.Errorf("host %d is %+v", i, got)
		}
	}
}

func TestFindingsSayWhatKindNeeds(t *testing.T) {
	at := target.Target{Kubernetes: plantest.Version(35), Platform: target.Kind}
	for name, test := range map[string]struct {
		plan *plan.Plan
		want string
	}{
		"one host":      {plantest.EventsLeases(at, 1), "kind-image-version"},
		"several hosts": {plantest.EventsLeases(at, 3), "kind-image-version kind-members-join-later"},
		"stock":         {plantest.Stock(at, 3), "kind-image-version"},
	} {
		_, findings, err := kind.Generate(test.plan)
		if err != nil {
			t.Fatal(err)
		}
		var codes []string
		for _, f := range findings {
			codes = append(codes, f.Code)
		}
		if got := strings.Join(codes, " "); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestContradictionIsAnError(t *testing.T) {
	p := plantest.EventsLeases(target.Target{Kubernetes: plantest.Version(37), Platform: target.Kind}, 3)
	p.Stores[1].Members = []string{"cp-9"}
	if files, _, err := kind.Generate(p); err == nil || files != nil {
		t.Errorf("%d files and error %v", len(files), err)
	}
}
