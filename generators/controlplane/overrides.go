package controlplane

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/plan"
)

// Overrides is the value of --etcd-servers-overrides, the same for every
// apiserver of the plan, or empty when nothing is routed away from main. The
// routes keep the plan's order, by which upstream numbers its health checks.
func Overrides(p *plan.Plan) string {
	var routes []string
	for _, r := range p.Routes {
		if r.Store == "main" {
			continue
		}
		s, _ := p.Store(r.Store)
		routes = append(routes, r.GroupResource.String()+"#"+strings.Join(clientURLs(p, s), ";"))
	}
	return strings.Join(routes, ",")
}

// RoutedStores are the stores that resources are routed to, in the order in
// which upstream numbers their health checks: each distinct set of servers
// gets the next number, from 0, in the order of the overrides
// (k8s.io/apiserver, EtcdOptions.addEtcdHealthEndpoint).
func RoutedStores(p *plan.Plan) []plan.Store {
	var stores []plan.Store
	for _, r := range p.Routes {
		s, ok := p.Store(r.Store)
		if r.Store == "main" || !ok || slices.ContainsFunc(stores, func(o plan.Store) bool { return o.Name == s.Name }) {
			continue
		}
		stores = append(stores, s)
	}
	return stores
}

// ProbePaths are the paths of an apiserver's probes.
type ProbePaths struct{ Live, Ready, Start string }

// Probes are the probe paths that leave out every store whose loss must not
// restart an apiserver. Upstream adds a check for each routed store to /livez
// and /readyz, and a second one to /readyz, so that one store without quorum
// would have the kubelet restart every apiserver of the cluster.
func Probes(p *plan.Plan) ProbePaths {
	var live, ready []string
	for n, s := range RoutedStores(p) {
		if s.ServesLiveness {
			continue
		}
		live = append(live, fmt.Sprintf("exclude=etcd-override-%d", n))
		ready = append(ready, fmt.Sprintf("exclude=etcd-override-%d", n), fmt.Sprintf("exclude=etcd-override-readiness-%d", n))
	}
	paths := ProbePaths{Live: query("/livez", live), Ready: query("/readyz", ready)}
	paths.Start = paths.Live
	return paths
}

func query(path string, parameters []string) string {
	if len(parameters) == 0 {
		return path
	}
	return path + "?" + strings.Join(parameters, "&")
}
