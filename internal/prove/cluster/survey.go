package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	apps "k8s.io/api/apps/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"

	"github.com/kubeseams/seams/internal/prove"
)

// survey is what a cluster shows of itself before anything is done to it.
type survey struct {
	// version of the apiserver that answered: "v1.37.2".
	version string
	nodes   []node
	// taken are nodes called as hollow ones are.
	taken []string
	// apiservers that are alive by their Leases; 0 where they keep none.
	apiservers int
	// endpoints of the kubernetes Service, as host:port.
	endpoints []string
	// control are the Pods of the control plane, where it runs as such.
	control []core.Pod
	// daemons tolerate everything, hollow nodes too.
	daemons []string
}

// node is a node that was there before.
type node struct {
	Status struct {
		Capacity core.ResourceList `json:"capacity"`
		NodeInfo struct {
			OS   string `json:"operatingSystem"`
			Arch string `json:"architecture"`
		} `json:"nodeInfo"`
	} `json:"status"`
	meta
}

func look(ctx context.Context, a *api) (*survey, error) {
	s := &survey{}
	var version struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := a.get(ctx, "/version", &version); err != nil {
		return nil, fmt.Errorf("ask for the version: %w", err)
	}
	s.version = version.GitVersion
	err := list(ctx, a, "/api/v1/nodes", "", func(n node) {
		if isHollow(n.Metadata.Name) {
			s.taken = append(s.taken, n.Metadata.Name)
			return
		}
		s.nodes = append(s.nodes, n)
	})
	if err != nil {
		return nil, err
	}
	if len(s.nodes) == 0 {
		return nil, fmt.Errorf("the cluster has no node, so that no Pod of the load would run")
	}
	return s, s.lookAtControlPlane(ctx, a)
}

// identityLeases are kept by apiservers, each its own.
const identityLeases = "apiserver.kubernetes.io/identity=kube-apiserver"

// alive is how old the last renewal of a living apiserver's Lease can be; it
// renews every 10 s.
const alive = time.Minute

func (s *survey) lookAtControlPlane(ctx context.Context, a *api) error {
	err := list(ctx, a, inNamespace("/apis/coordination.k8s.io/v1", "kube-system", "leases"), identityLeases, func(l coordination.Lease) {
		if l.Spec.RenewTime != nil && time.Since(l.Spec.RenewTime.Time) < alive {
			s.apiservers++
		}
	})
	if err != nil {
		return err
	}
	slices := inNamespace("/apis/discovery.k8s.io/v1", "default", "endpointslices")
	err = list(ctx, a, slices, discovery.LabelServiceName+"=kubernetes", func(e discovery.EndpointSlice) {
		for _, endpoint := range e.Endpoints {
			for _, address := range endpoint.Addresses {
				for _, port := range e.Ports {
					if port.Port != nil {
						s.endpoints = append(s.endpoints, fmt.Sprintf("%s:%d", bracketed(address), *port.Port))
					}
				}
			}
		}
	})
	if err != nil {
		return err
	}
	err = list(ctx, a, inNamespace("/api/v1", "kube-system", "pods"), "tier=control-plane", func(p core.Pod) { s.control = append(s.control, p) })
	if err != nil {
		return err
	}
	return list(ctx, a, "/apis/apps/v1/daemonsets", "", func(d apps.DaemonSet) {
		for _, t := range d.Spec.Template.Spec.Tolerations {
			if t.Key == "" && t.Operator == core.TolerationOpExists && (t.Effect == "" || t.Effect == core.TaintEffectNoSchedule) {
				s.daemons = append(s.daemons, d.Namespace+"/"+d.Name)
				break
			}
		}
	})
}

func bracketed(address string) string {
	if strings.Contains(address, ":") {
		return "[" + address + "]"
	}
	return address
}

// kubernetes is the version without what a distribution adds: "1.37.2".
func (s *survey) kubernetes() string {
	v := strings.TrimPrefix(s.version, "v")
	if i := strings.IndexAny(v, "+-"); i >= 0 {
		v = v[:i]
	}
	return v
}

// machine describes the cluster in a record, by all its nodes together.
func (s *survey) machine() prove.Machine {
	m := prove.Machine{OS: s.nodes[0].Status.NodeInfo.OS, Arch: s.nodes[0].Status.NodeInfo.Arch}
	bytes := 0.0
	for _, n := range s.nodes {
		m.CPUs += int(n.Status.Capacity.Cpu().Value())
		bytes += n.Status.Capacity.Memory().AsApproximateFloat64()
	}
	m.CPUs = max(m.CPUs, 1)
	m.MemoryGiB = float64(int(bytes/(1<<30)*10+0.5)) / 10
	m.Description = fmt.Sprintf("existing cluster of %d nodes, all of them together", len(s.nodes))
	return m
}
