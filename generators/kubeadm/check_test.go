package kubeadm_test

import (
	"strings"
	"testing"

	"github.com/kubeseams/seams/generators/internal/plantest"
	"github.com/kubeseams/seams/generators/kubeadm"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/target"
)

func TestWhatKubeadmCannotDo(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*plan.Plan)
		want   string
	}{
		"as planned":               {func(*plan.Plan) {}, ""},
		"main on other ports":      {func(p *plan.Plan) { p.Stores[0].ClientPort = 4001 }, "error kubeadm-etcd-port-fixed"},
		"main on fewer hosts":      {func(p *plan.Plan) { p.Stores[0].Members = []string{"cp-1"} }, "warning kubeadm-etcd-on-every-host"},
		"no endpoint":              {func(p *plan.Plan) { p.ControlPlane.Endpoint = "" }, "error control-plane-endpoint-missing"},
		"store away from init":     {func(p *plan.Plan) { p.Stores[1].Members = []string{"cp-2"} }, "error store-not-on-first-host"},
		"store in memory":          {func(p *plan.Plan) { p.Stores[2].Durability = "ephemeral" }, "info store-data-in-memory"},
		"ports left to the target": {func(p *plan.Plan) { p.Stores[0].ClientPort, p.Stores[0].PeerPort = 0, 0 }, ""},
	} {
		p := plantest.EventsLeases(target.Target{Kubernetes: plantest.Version(37), Platform: target.Kubeadm}, 3)
		test.change(p)
		_, findings, err := kubeadm.Generate(p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := codes(findings); got != test.want {
			t.Errorf("%s: findings %q, want %q", name, got, test.want)
		}
		for _, f := range findings {
			if f.Severity == finding.Error && f.Fix == "" {
				t.Errorf("%s: an error without a fix", f.Code)
			}
		}
	}
}

func codes(all []finding.Finding) string {
	var list []string
	for _, f := range all {
		list = append(list, f.Severity.String()+" "+f.Code)
	}
	return strings.Join(list, ", ")
}

func TestContradictionIsAnError(t *testing.T) {
	p := plantest.EventsLeases(target.Target{Kubernetes: plantest.Version(37), Platform: target.Kubeadm}, 3)
	p.Routes[0].Store = "nowhere"
	if files, _, err := kubeadm.Generate(p); err == nil || files != nil {
		t.Errorf("%d files and error %v", len(files), err)
	}
}
