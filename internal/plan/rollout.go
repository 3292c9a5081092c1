package plan

import (
	"net"
	"strconv"
	"strings"

	"github.com/kubeseams/seams/internal/target"
)

// Places on a control-plane host, kubeadm's, and one of our own for what the
// rendered files refer to. Generators use the same.
const (
	manifestsDir = "/etc/kubernetes/manifests"
	hostDir      = "/etc/kubernetes/seams"
	etcdPKI      = "/etc/kubernetes/pki/etcd"
)

// rollout orders the steps from the present state, taken to be stock, to the
// plan. A plan that changes nothing has none.
func (m *maker) rollout() {
	if !m.changes() {
		return
	}
	switch m.target.Platform {
	case target.Kind:
		m.rolloutKind()
	case target.Kops:
		m.rolloutKops()
	default:
		m.rolloutHosts()
	}
}

// changes reports whether anything differs from stock.
func (m *maker) changes() bool {
	p := m.plan
	return m.apiserverChanges() || m.raisesQuota() || len(p.Stores) > 1 || len(p.Tiers) > 1 || p.Kubelet != (Kubelet{}) || m.managersChange()
}

// managersChange reports whether controller managers or schedulers get other
// settings than upstream's.
func (m *maker) managersChange() bool {
	c, s := m.plan.ControllerManager, m.plan.Scheduler
	return len(c.Flags)+len(c.FeatureGates)+len(c.Env)+len(m.plan.ControllerGroups) > 0 ||
		len(s.Flags)+len(s.FeatureGates)+len(s.Env)+s.QPS+s.Burst > 0
}

func (m *maker) apiserverChanges() bool {
	t := m.plan.Tiers[0]
	return len(m.plan.Routes)+len(t.Flags)+len(t.FeatureGates)+len(t.Env)+len(t.Uncached) > 0
}

// raisesQuota reports whether the plan's main etcd may hold more than one that
// was told nothing. That the profile names the quota does not say that an etcd
// has it.
func (m *maker) raisesQuota() bool { return m.plan.Stores[0].QuotaBytes > etcdQuotaBytes }

// etcdQuotaBytes is etcd's own quota, 2 GiB (etcd server/storage/quota.go,
// DefaultQuotaBytes).
const etcdQuotaBytes = 2 << 30

func (m *maker) step(s Step) { m.plan.Rollout = append(m.plan.Rollout, s) }

// routed reports whether a resource has a store of its own, and which.
func (m *maker) routed(route string) (Store, bool) {
	for _, r := range m.plan.Routes {
		if r.GroupResource.String() == route {
			return m.plan.Store(r.Store)
		}
	}
	return Store{}, false
}

const (
	eventsRoute = "/events"
	leasesRoute = "coordination.k8s.io/leases"
)

// ssh runs a command on a host. Without -n it would take the lines after it for
// the command's input, where they are pasted or read from a file.
func (m *maker) ssh(host, command string) string {
	return "ssh -n root@" + m.address(host) + " '" + command + "'"
}

func (m *maker) scp(file, host, to string) string {
	address := m.address(host)
	if strings.Contains(address, ":") {
		address = "[" + address + "]"
	}
	return "scp " + file + " root@" + address + ":" + to
}

func (m *maker) address(host string) string {
	if h, ok := m.plan.Host(host); ok && h.Address != "" {
		return h.Address
	}
	return host
}

// etcdPod is the static pod of a store's member, as the kubelet names it.
func etcdPod(s Store, host string) string {
	if s.Name == mainStore {
		return "etcd-" + host
	}
	return "etcd-" + s.Name + "-" + host
}

// etcdctl runs etcdctl in a member's pod.
func (m *maker) etcdctl(s Store, host, args string) string {
	endpoint := "https://" + net.JoinHostPort(m.address(host), strconv.Itoa(s.ClientPort))
	return "kubectl -n kube-system exec " + etcdPod(s, host) + " -- etcdctl --endpoints=" + endpoint +
		" --cacert=" + etcdPKI + "/ca.crt --cert=" + etcdPKI + "/server.crt --key=" + etcdPKI + "/server.key " + args
}

// readyz asks one apiserver, past the load balancer.
func (m *maker) readyz(host string, port int) string {
	return "kubectl --server=https://" + net.JoinHostPort(m.address(host), strconv.Itoa(port)) + " get --raw=/readyz"
}

// untilServes waits for the main apiserver of a host.
func (m *maker) untilServes(host string) string {
	return "until " + m.readyz(host, m.plan.Tiers[0].Port) + "; do sleep 1; done"
}

// extraStores are the stores besides main that apiservers of the cluster use.
func (m *maker) extraStores() []Store {
	var stores []Store
	for _, s := range m.plan.Stores[1:] {
		if !m.isAggregated(s.Name) {
			stores = append(stores, s)
		}
	}
	return stores
}
