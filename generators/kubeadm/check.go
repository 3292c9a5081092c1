package kubeadm

import (
	"fmt"

	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
)

// kubeadm's own ports of etcd, which it has no field for.
const (
	etcdClientPort = 2379
	etcdPeerPort   = 2380
)

// check says what of the plan kubeadm cannot carry out as it stands.
func check(p *plan.Plan) []finding.Finding {
	all := append(checkMain(p), checkStores(p)...)
	return append(all, controlplane.Findings(p)...)
}

func checkMain(p *plan.Plan) []finding.Finding {
	var all []finding.Finding
	main, _ := p.Store("main")
	if main.ClientPort != 0 && main.ClientPort != etcdClientPort || main.PeerPort != 0 && main.PeerPort != etcdPeerPort {
		all = append(all, finding.Finding{
			Code: "kubeadm-etcd-port-fixed", Severity: finding.Error, Path: "stores[main]",
			Message: fmt.Sprintf("kubeadm runs its etcd on ports %d and %d; the plan has %d and %d", etcdClientPort, etcdPeerPort, main.ClientPort, main.PeerPort),
			Fix:     "leave main on kubeadm's ports",
			Ref:     "kubernetes cmd/kubeadm/app/constants: EtcdListenClientPort",
		})
	}
	var hosts []string
	for _, h := range p.ControlPlane.Hosts {
		hosts = append(hosts, h.Name)
	}
	// With an even number the plan has one member less, and says so.
	if n := len(hosts) - len(main.Members); n > 1 || n != 0 && len(hosts)%2 == 1 {
		all = append(all, finding.Finding{
			Code: "kubeadm-etcd-on-every-host", Severity: finding.Warning, Path: "stores[main].members",
			Message: fmt.Sprintf("kubeadm runs a member of main on every control-plane host, here %d, not the plan's %d", len(hosts), len(main.Members)),
			Fix:     fmt.Sprintf("name %d control-plane hosts: each further member makes every commit slower", len(main.Members)),
		})
	}
	if len(hosts) > 1 && p.ControlPlane.Endpoint == "" {
		all = append(all, finding.Finding{
			Code: "control-plane-endpoint-missing", Severity: finding.Error, Path: "controlPlane.endpoint",
			Message: "a control plane of several hosts needs a stable endpoint, and kubeadm cannot add one later",
			Fix:     "set controlPlane.endpoint to the load balancer's host:port",
		})
	}
	return all
}

func checkStores(p *plan.Plan) []finding.Finding {
	var all []finding.Finding
	first := p.ControlPlane.Hosts[0].Name
	for _, s := range controlplane.ExtraStores(p) {
		path := "stores[" + s.Name + "]"
		if s.Members[0] != first {
			all = append(all, finding.Finding{
				Code: "store-not-on-first-host", Severity: finding.Error, Path: path + ".members",
				Message: fmt.Sprintf("store %s begins on %s, but kubeadm init runs on %s and waits there for /livez, which fails until every routed store answers", s.Name, s.Members[0], first),
				Fix:     "make the first control-plane host the store's first member",
				Ref:     "kubernetes cmd/kubeadm/app/util/apiclient: WaitForControlPlaneComponents",
			})
		}
	}
	return all
}
