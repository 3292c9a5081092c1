// Package plantest holds plans for the tests of the generators, and compares
// what is made of them with files kept beside the tests.
package plantest

import (
	"fmt"

	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/target"
)

// GiB is 2^30 bytes.
const GiB = int64(1) << 30

// Version is a Kubernetes version by its minor, with the newest patch.
func Version(minor int) target.Version {
	v, err := target.Resolve(target.Version{Major: 1, Minor: minor, Patch: -1})
	if err != nil {
		panic(err)
	}
	return v
}

// Case is a plan with the name of its golden directory.
type Case struct {
	Name string
	Plan *plan.Plan
}

// Cases are the plans for a platform and minor: the same four control planes
// everywhere.
func Cases(platform target.Platform, minor int) []Case {
	t := target.Target{Kubernetes: Version(minor), Platform: platform}
	return []Case{
		{"single-stock", Stock(t, 1)},
		{"ha-events-leases", EventsLeases(t, 3)},
		{"node-tier-ephemeral", NodeTier(t)},
		{"split-controllers", Split(t)},
	}
}

// Stock is a control plane as upstream leaves it.
func Stock(t target.Target, hosts int) *plan.Plan {
	p := &plan.Plan{
		Name:          "shop",
		Target:        t,
		ProfileDigest: "sha256:0123456789abcdef",
		RecipeDigest:  "sha256:fedcba9876543210",
		Rungs:         []string{"node/stock", "churn/stock", "state/stock"},
		Nodes:         300,
		NodesPresent:  300,
	}
	p.ControlPlane = profile.ControlPlane{
		Apiservers: hosts, CPU: 8, MemoryGiB: 32, Disk: "nvme", EtcdDisks: 1, EtcdQuotaGiB: 8,
		Network: profile.Network{PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/16", NodeMaskSize: 24},
	}
	var names []string
	for i := range hosts {
		h := profile.Host{Name: fmt.Sprintf("cp-%d", i+1), Address: fmt.Sprintf("10.0.0.%d", 11+i)}
		p.ControlPlane.Hosts = append(p.ControlPlane.Hosts, h)
		names = append(names, h.Name)
	}
	if hosts > 1 {
		p.ControlPlane.Endpoint = "api.shop.example.com:6443"
	}
	p.Stores = []plan.Store{{
		Name: "main", Durability: "durable", Members: names, ClientPort: 2379, PeerPort: 2380, MetricsPort: 2381,
		DataDir: "/var/lib/etcd", QuotaBytes: 8 * GiB, Token: "shop-main", ServesLiveness: true,
	}}
	p.Tiers = []plan.Tier{{Name: "main", Audience: "everybody", Hosts: names, Replicas: hosts, Port: 6443, Flags: map[string]string{}}}
	p.ControllerManager.Flags = map[string]string{}
	p.Scheduler.Flags = map[string]string{}
	p.PKI = []plan.Certificate{{Path: "etcd/server", CA: "etcd/ca", CN: "cp-1", Usages: []string{"server", "client"}, SANs: []string{"localhost", "127.0.0.1", "10.0.0.11"}, MadeBy: "kubeadm", For: "clients of every etcd on the host"}}
	return p
}

// EventsLeases has events and leases in stores of their own.
func EventsLeases(t target.Target, hosts int) *plan.Plan {
	p := Stock(t, hosts)
	members := p.Stores[0].Members
	p.Rungs = []string{"node/events-leases", "churn/leases-store", "state/stock"}
	p.Nodes, p.NodesPresent = 5000, 3000
	p.Stores = append(p.Stores,
		plan.Store{Name: "events", Durability: "durable", Members: members, ClientPort: 2383, PeerPort: 2384, MetricsPort: 2385,
			DataDir: "/var/lib/etcd-events", QuotaBytes: 4 * GiB, Token: "shop-events"},
		plan.Store{Name: "leases", Durability: "durable", Members: members, ClientPort: 2386, PeerPort: 2387, MetricsPort: 2388,
			DataDir: "/var/lib/etcd-leases", QuotaBytes: 2 * GiB, Token: "shop-leases", ServesLiveness: true},
	)
	p.Routes = []plan.Route{
		{GroupResource: profile.GroupResource{Resource: "events"}, Store: "events"},
		{GroupResource: profile.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}, Store: "leases"},
	}
	p.Tiers[0].Flags = map[string]string{"max-requests-inflight": "640", "max-mutating-requests-inflight": "320", "etcd-compaction-interval": "150s"}
	p.Tiers[0].Env = map[string]string{"GOMEMLIMIT": "25GiB", "GOGC": "150"}
	p.ControllerManager.Flags = map[string]string{"kube-api-qps": "500", "kube-api-burst": "500"}
	p.Scheduler.QPS, p.Scheduler.Burst = 100, 200
	p.Kubelet = plan.Kubelet{KubeAPIQPS: 100, KubeAPIBurst: 200}
	p.Rollout = []plan.Step{{
		Title:    "Start the members of store events",
		Why:      "The apiservers refuse to become healthy while a routed store is away.",
		Commands: []string{"scp manifests/cp-1/etcd-events.yaml root@10.0.0.11:/etc/kubernetes/manifests/"},
		Check:    "kubectl -n kube-system get pod etcd-events-cp-1 -o jsonpath='{.status.phase}'",
		Expect:   "Running",
		Hazard:   "Events are refused while the store has no quorum.",
		Undo:     "Remove the manifest.",
	}}
	return p
}

// NodeTier is 100,000 nodes on a tier of their own with leases in memory.
func NodeTier(t target.Target) *plan.Plan {
	p := EventsLeases(t, 3)
	p.Nodes, p.NodesPresent = 100000, 100000
	p.Rungs = []string{"node/node-tier", "churn/leases-store", "state/stock"}
	p.ControlPlane.NodeEndpoint = "nodes.shop.example.com:7443"
	p.Stores[2].Durability, p.Stores[2].ServesLiveness, p.Stores[2].DataDir = "ephemeral", false, "/run/seams/etcd-leases"
	p.Tiers = append(p.Tiers, plan.Tier{
		Name: "nodes", Audience: "kubelets and kube-proxies", Hosts: p.Stores[0].Members, Replicas: 3, Port: 7443,
		Flags:    map[string]string{"max-requests-inflight": "2000", "max-mutating-requests-inflight": "1000"},
		Env:      map[string]string{"GOGC": "400"},
		Uncached: []profile.GroupResource{{Group: "coordination.k8s.io", Resource: "leases"}},
	})
	p.Kubelet.NodeLeaseDurationSeconds = 40
	p.Kubelet.NodeStatusUpdateSeconds = 20
	return p
}

// Split is one host whose controllers run in two groups, with sharded watches.
func Split(t target.Target) *plan.Plan {
	p := EventsLeases(t, 1)
	if t.HasShardedListAndWatch() {
		p.Tiers[0].FeatureGates = map[string]bool{"ShardedListAndWatch": true}
		p.ControllerManager.FeatureGates = map[string]bool{"ShardedListAndWatch": true}
	}
	p.Tiers[0].Uncached = []profile.GroupResource{{Resource: "replicationcontrollers"}, {Group: "apps", Resource: "controllerrevisions"}}
	p.ControllerGroups = []plan.ControllerGroup{
		{Name: "garbage", Controllers: []string{"garbage-collector-controller", "pod-garbage-collector-controller"}, Port: 10357},
		{Name: "workloads", Controllers: []string{"deployment-controller", "replicaset-controller", "job-controller"}, Port: 10358},
	}
	return p
}

// Aggregated has a group of custom resources on a tier of the given form, and
// a second one whose etcd is in memory.
func Aggregated(t target.Target, hosts int, form string) *plan.Plan {
	p := Stock(t, hosts)
	names := p.Stores[0].Members
	for i, tier := range []plan.AggregatedTier{
		{Name: "agents-example-dev", Groups: []string{"agents.example.dev", "tools.example.dev"}, Versions: map[string][]string{"agents.example.dev": {"v1", "v1beta1"}, "tools.example.dev": {"v1"}}},
		{Name: "reports-example-dev", Groups: []string{"reports.example.dev"}, Versions: map[string][]string{"reports.example.dev": {"v1alpha1"}}},
	} {
		tier.Store, tier.Service, tier.Namespace, tier.Form = tier.Name, tier.Name, plan.Namespace, form
		tier.Server, tier.Image, tier.Port, tier.Replicas, tier.ResidentBytes = target.APIExtensionsServer, "registry.example.com/apiextensions-apiserver:v0.37.2", 9443+i, min(2, hosts), 3e9
		tier.Uncached = []profile.GroupResource{{Group: tier.Groups[0], Resource: "transcripts"}}
		if form == plan.StaticForm {
			tier.Hosts = names[:tier.Replicas]
		}
		store := plan.Store{
			Name: tier.Name, Durability: "durable", Members: names, ClientPort: 2410 + 3*i, PeerPort: 2411 + 3*i, MetricsPort: 2412 + 3*i,
			DataDir: "/var/lib/etcd-" + tier.Name, QuotaBytes: 4 * GiB, Token: "shop-" + tier.Name,
		}
		if i == 1 {
			store.Durability, store.DataDir = "ephemeral", "/run/seams/etcd-"+tier.Name
		}
		p.Stores, p.Aggregated = append(p.Stores, store), append(p.Aggregated, tier)
		p.PKI = append(p.PKI, tierCertificates(tier, store)...)
	}
	return p
}

// tierCertificates are those that plan.Make lists for a tier.
func tierCertificates(t plan.AggregatedTier, s plan.Store) []plan.Certificate {
	dir := "aggregated/" + t.Name
	certs := []plan.Certificate{
		{Path: dir + "/server", CA: plan.AggregatedCA, CN: t.DNSName(), Usages: []string{"server"}, SANs: []string{t.DNSName(), "10.0.0.11"}, MadeBy: "you"},
		{Path: dir + "/etcd-client", CA: plan.AggregatedEtcdCA, CN: t.Name, Usages: []string{"client"}, MadeBy: "you"},
	}
	if t.Form == plan.StaticForm {
		return append(certs, plan.Certificate{Path: dir + "/client", CA: "ca", CN: t.User(), Usages: []string{"client"}, MadeBy: "you"})
	}
	var members []string
	for i := range t.Members(s) {
		members = append(members, t.MemberName(i))
	}
	for _, use := range []string{"server", "peer"} {
		certs = append(certs, plan.Certificate{Path: dir + "/etcd-" + use, CA: plan.AggregatedEtcdCA, CN: t.EtcdService(), Usages: []string{"server", "client"}, SANs: members, MadeBy: "you"})
	}
	return certs
}
