package plan

import (
	"strings"

	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/target"
)

// Plan is what to build, without saying in which file: stores, routes, tiers,
// settings, keys and the order to roll them out. Every list is sorted or in
// the order of the steps, so that a plan prints the same on every run.
type Plan struct {
	Name   string        `json:"name"`
	Target target.Target `json:"target"`
	// ProfileDigest and RecipeDigest are "sha256:…" of what the plan came from.
	ProfileDigest string `json:"profileDigest"`
	RecipeDigest  string `json:"recipeDigest"`
	// Rungs are the chosen rung IDs, in the order of the axes.
	Rungs []string `json:"rungs"`
	// Nodes is what the plan is made for, NodesPresent how many of them are there.
	Nodes        int                  `json:"nodes"`
	NodesPresent int                  `json:"nodesPresent"`
	ControlPlane profile.ControlPlane `json:"controlPlane"`
	// Stores begins with main.
	Stores []Store `json:"stores"`
	Routes []Route `json:"routes"`
	// Tiers begins with main, the apiservers everybody talks to.
	Tiers             []Tier           `json:"tiers"`
	Aggregated        []AggregatedTier `json:"aggregated"`
	Sharding          *Sharding        `json:"sharding,omitempty"`
	Kubelet           Kubelet          `json:"kubelet"`
	ControllerManager Component        `json:"controllerManager"`
	// ControllerGroups are extra controller managers that run some controllers each; empty means one runs all.
	ControllerGroups []ControllerGroup `json:"controllerGroups,omitempty"`
	Scheduler        Scheduler         `json:"scheduler"`
	PKI              []Certificate     `json:"pki"`
	Rollout          []Step            `json:"rollout"`
}

// KopsClusterName is the plan's name as kOps wants it, a DNS name of several
// labels: .k8s.local is kOps' own suffix for clusters without a DNS zone.
func (p *Plan) KopsClusterName() string {
	if strings.Contains(p.Name, ".") {
		return p.Name
	}
	return p.Name + ".k8s.local"
}

// Store is one etcd cluster.
type Store struct {
	// Name is main, events, leases or the name of an aggregated tier's store.
	Name       string `json:"name"`
	Durability string `json:"durability"` // durable or ephemeral
	// Members are host names, one an etcd member, in joining order.
	Members     []string `json:"members"`
	ClientPort  int      `json:"clientPort"`
	PeerPort    int      `json:"peerPort"`
	MetricsPort int      `json:"metricsPort"`
	DataDir     string   `json:"dataDir"`
	QuotaBytes  int64    `json:"quotaBytes"`
	// Token is the initial-cluster-token, different for each store.
	Token string `json:"token"`
	// ServesLiveness says that apiservers may be restarted when it is lost.
	ServesLiveness bool `json:"servesLiveness"`
}

// Route sends one built-in resource to one store.
type Route struct {
	profile.GroupResource
	Store string `json:"store"`
}

// Tier is a set of kube-apiservers with the same flags.
type Tier struct {
	// Name is main, nodes or a consumer's name.
	Name string `json:"name"`
	// Audience says who talks to it.
	Audience string `json:"audience"`
	// Hosts are host names; Replicas counts processes.
	Hosts        []string          `json:"hosts"`
	Replicas     int               `json:"replicas"`
	Port         int               `json:"port"`
	Flags        map[string]string `json:"flags"`
	FeatureGates map[string]bool   `json:"featureGates,omitempty"`
	Env          map[string]string `json:"env,omitempty"`
	// Uncached resources are off this tier's watch cache.
	Uncached []profile.GroupResource `json:"uncached,omitempty"`
}

// AggregatedTier is a server and a store of their own for some custom groups.
type AggregatedTier struct {
	Name     string   `json:"name"`
	Groups   []string `json:"groups"`
	Store    string   `json:"store"`
	Replicas int      `json:"replicas"`
	// Service and Namespace name the Service an APIService points to.
	Service   string `json:"service"`
	Namespace string `json:"namespace"`
	Port      int    `json:"port"`
	// Form is StaticForm or WorkloadForm.
	Form string `json:"form"`
	// Hosts run the servers of the static form, one each.
	Hosts []string `json:"hosts,omitempty"`
	// Server is the program of the servers: apiextensions-apiserver or kube-apiserver.
	Server string `json:"server"`
	// Image is what the servers run; empty when the profile names none.
	Image string `json:"image,omitempty"`
	// StorageClass is of the volumes of a workload's etcd; empty is the cluster's default.
	StorageClass string `json:"storageClass,omitempty"`
	// Versions are the served versions of the groups, by group, as far as the profile names them.
	Versions map[string][]string `json:"versions,omitempty"`
	// Uncached resources are off the watch cache of the tier's servers.
	Uncached []profile.GroupResource `json:"uncached,omitempty"`
	// ResidentBytes is the live heap the groups take, estimated.
	ResidentBytes float64 `json:"residentBytes"`
	// WritesPerSecond is the groups' write rate, from the profile.
	WritesPerSecond float64 `json:"writesPerSecond"`
}

// Sharding is what clients need to share a resource out by hash.
type Sharding struct {
	Gate  string `json:"gate"`
	Field string `json:"field"`
	// Ranges are the selectors, one a shard, that together cover every object once.
	Ranges []ShardRange `json:"ranges"`
}

// ShardRange is one shard's hash range, start inclusive, end exclusive.
type ShardRange struct {
	Start    string `json:"start"`
	End      string `json:"end"`
	Selector string `json:"selector"`
}

// Kubelet are the fields of KubeletConfiguration to set; 0 keeps upstream's.
type Kubelet struct {
	NodeLeaseDurationSeconds int `json:"nodeLeaseDurationSeconds,omitempty"`
	NodeStatusUpdateSeconds  int `json:"nodeStatusUpdateSeconds,omitempty"`
	NodeStatusReportSeconds  int `json:"nodeStatusReportSeconds,omitempty"`
	KubeAPIQPS               int `json:"kubeAPIQPS,omitempty"`
	KubeAPIBurst             int `json:"kubeAPIBurst,omitempty"`
	EventRecordQPS           int `json:"eventRecordQPS,omitempty"`
	EventBurst               int `json:"eventBurst,omitempty"`
	MaxPods                  int `json:"maxPods,omitempty"`
}

// Component is a component's flags, gates and environment.
type Component struct {
	Flags        map[string]string `json:"flags"`
	FeatureGates map[string]bool   `json:"featureGates,omitempty"`
	Env          map[string]string `json:"env,omitempty"`
}

// Scheduler is the scheduler's flags and its KubeSchedulerConfiguration client limits.
type Scheduler struct {
	Component
	QPS   int `json:"qps,omitempty"`
	Burst int `json:"burst,omitempty"`
}

// ControllerGroup is one controller manager that runs some controllers, with a lock of its own.
// Its process must not be given the service account's private key: whoever has it
// runs serviceaccount-token-controller too, whatever --controllers says.
type ControllerGroup struct {
	Name        string   `json:"name"`
	Controllers []string `json:"controllers"`
	Port        int      `json:"port"`
}

// Certificate is one key pair a plan needs, and who signs it.
type Certificate struct {
	// Path is without the extension: "etcd/server", "apiserver".
	Path string `json:"path"`
	CA   string `json:"ca"`
	CN   string `json:"cn"`
	// Usages are server and client.
	Usages []string `json:"usages"`
	SANs   []string `json:"sans,omitempty"`
	// MadeBy is who creates it: kubeadm, kops or you.
	MadeBy string `json:"madeBy"`
	// For says what it is used for.
	For string `json:"for"`
}

// Step is one action of the rollout, with the check to make before the next.
type Step struct {
	Title string `json:"title"`
	// Why is the reason for the step and for its place in the order.
	Why string `json:"why"`
	// Commands are run as they stand.
	Commands []string `json:"commands,omitempty"`
	// Check is the command whose result decides, Expect what it must show.
	Check  string `json:"check"`
	Expect string `json:"expect"`
	// Hazard is what breaks when the step is done otherwise, Undo how to go back.
	Hazard string `json:"hazard,omitempty"`
	Undo   string `json:"undo,omitempty"`
}

// Store returns the store with the given name; ok is false when there is none.
func (p *Plan) Store(name string) (s Store, ok bool) {
	for _, s := range p.Stores {
		if s.Name == name {
			return s, true
		}
	}
	return Store{}, false
}

// Host returns the control-plane host with the given name; ok is false when there is none.
func (p *Plan) Host(name string) (h profile.Host, ok bool) {
	for _, h := range p.ControlPlane.Hosts {
		if h.Name == name {
			return h, true
		}
	}
	return profile.Host{}, false
}
