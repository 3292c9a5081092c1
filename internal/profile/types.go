package profile

// GroupResource names a kind of resource as the storage layer does: group and
// plural, the core group being "".
type GroupResource struct {
	Group    string `json:"group"`
	Resource string `json:"resource"`
}

// String writes the form that etcd overrides use: "/events",
// "coordination.k8s.io/leases".
func (g GroupResource) String() string { return g.Group + "/" + g.Resource }

// Profile is the load on the three axes and the control plane that carries it.
// Its CUE twin is #Profile in schemas/profile.cue, which also documents every
// field, its unit, its bound and upstream's default; a test keeps them equal.
type Profile struct {
	Name         string       `json:"name"`
	Kubernetes   string       `json:"kubernetes"`
	Platform     Platform     `json:"platform"`
	Nodes        Nodes        `json:"nodes"`
	Churn        Churn        `json:"churn"`
	State        State        `json:"state"`
	ControlPlane ControlPlane `json:"controlPlane"`
}

// Platform is who installs the control plane.
type Platform struct {
	// Kind is kubeadm, kops, kind or staticpod.
	Kind string `json:"kind"`
	// Kops is set when Kind is kops.
	Kops *Kops `json:"kops,omitempty"`
}

// Kops says which kOps and which cloud.
type Kops struct {
	Version string `json:"version"`
	// Cloud is aws, gce, azure, digitalocean, hetzner, openstack or scaleway.
	Cloud string `json:"cloud"`
	// DNSNone is topology.dns.type None, which rules out APIServer instance groups.
	DNSNone bool `json:"dnsNone"`
}

// Nodes is the node-bound axis.
type Nodes struct {
	Count       int `json:"count"`
	TargetCount int `json:"targetCount,omitempty"`
	// LeaseDurationSeconds is the kubelet's nodeLeaseDurationSeconds; it renews at a quarter of it.
	LeaseDurationSeconds int `json:"leaseDurationSeconds"`
	// StatusUpdateSeconds is an explicit nodeStatusUpdateFrequency, 0 when unset.
	StatusUpdateSeconds int `json:"statusUpdateSeconds,omitempty"`
	// StatusReportSeconds is nodeStatusReportFrequency, 0 when unset: 300 s, or the update frequency when that is set.
	StatusReportSeconds int     `json:"statusReportSeconds,omitempty"`
	MonitorGraceSeconds int     `json:"monitorGraceSeconds"`
	NodeBytes           int     `json:"nodeBytes"`
	PodsPerNode         int     `json:"podsPerNode"`
	PodBytes            int     `json:"podBytes"`
	PodChurnPerSecond   float64 `json:"podChurnPerSecond"`
	WatchesPerNode      int     `json:"watchesPerNode"`
}

// Demand is the node count to size for: the larger of present and target.
func (n Nodes) Demand() int { return max(n.Count, n.TargetCount) }

// ReportSeconds is the node status interval in force, by kubelet's defaulting:
// an explicit update frequency silently becomes the report frequency too.
func (n Nodes) ReportSeconds() int {
	switch {
	case n.StatusReportSeconds > 0:
		return n.StatusReportSeconds
	case n.StatusUpdateSeconds > 0:
		return n.StatusUpdateSeconds
	}
	return 300
}

// Churn is the churn-bound axis.
type Churn struct {
	Resources []ChurnResource `json:"resources"`
	Events    Events          `json:"events"`
	// LeaderElections counts elected components, each renewing every 2 s.
	LeaderElections int `json:"leaderElections"`
}

// ChurnResource is the write load on one kind of resource.
type ChurnResource struct {
	GroupResource
	CreatesPerSecond float64 `json:"createsPerSecond"`
	UpdatesPerSecond float64 `json:"updatesPerSecond"`
	DeletesPerSecond float64 `json:"deletesPerSecond"`
	// Sessions is the other way to say it: lifecycles a minute times writes each.
	Sessions    *Sessions `json:"sessions,omitempty"`
	ObjectBytes int       `json:"objectBytes"`
	// Live is how many objects exist at a time.
	Live     int    `json:"live"`
	Watchers int    `json:"watchers"`
	Scope    string `json:"scope"` // all, namespace, node or single: what share each watcher sees
	Shape    string `json:"shape"` // structured or opaque
}

// Sessions are lifecycles of create, transitions and delete.
type Sessions struct {
	PerMinute        float64 `json:"perMinute"`
	WritesPerSession float64 `json:"writesPerSession"`
}

// WritesPerSecond is the resource's total write rate.
func (c ChurnResource) WritesPerSecond() float64 {
	w := c.CreatesPerSecond + c.UpdatesPerSecond + c.DeletesPerSecond
	if c.Sessions != nil {
		w += c.Sessions.PerMinute / 60 * c.Sessions.WritesPerSession
	}
	return w
}

// Events is the event stream.
type Events struct {
	// PerSecond is 0 when it should be derived from pod churn.
	PerSecond  float64 `json:"perSecond"`
	Bytes      int     `json:"bytes"`
	TTLSeconds int     `json:"ttlSeconds"`
}

// State is the state-bound axis.
type State struct {
	Resources []StateResource `json:"resources"`
	CRDs      int             `json:"crds"`
	// RBACObjects counts roles, cluster roles and their bindings.
	RBACObjects int `json:"rbacObjects"`
}

// StateResource is what one kind of resource keeps resident.
type StateResource struct {
	GroupResource
	Count int `json:"count"`
	// Bytes is the stored size of one object.
	Bytes int `json:"bytes"`
	// Listers counts clients that list or watch the whole resource.
	Listers int    `json:"listers"`
	Shape   string `json:"shape"` // structured or opaque
}

// ControlPlane is what carries the load.
type ControlPlane struct {
	// Endpoint is host:port of the load balancer before the apiservers; required with several hosts.
	Endpoint string `json:"endpoint,omitempty"`
	// NodeEndpoint is host:port of the load balancer before the node-facing tier, where one is used.
	NodeEndpoint string `json:"nodeEndpoint,omitempty"`
	Hosts        []Host `json:"hosts"`
	Apiservers   int    `json:"apiservers"`
	// CPU and MemoryGiB are of each control-plane host.
	CPU       int     `json:"cpu"`
	MemoryGiB float64 `json:"memoryGiB"`
	// Disk is nvme, ssd, network or hdd.
	Disk string `json:"disk"`
	// FsyncP99Ms is a measured etcd_disk_wal_fsync_duration_seconds p99 in ms, 0 when not measured.
	FsyncP99Ms float64 `json:"fsyncP99Ms,omitempty"`
	// EtcdDisks counts disks that etcd stores may use on each host; two stores on one share its fsync.
	EtcdDisks    int     `json:"etcdDisks"`
	EtcdQuotaGiB float64 `json:"etcdQuotaGiB"`
	Network      Network `json:"network"`
	// Tiers is how the servers of aggregated tiers are run.
	Tiers Tiers `json:"tiers,omitzero"`
}

// Tiers is how the servers of aggregated tiers are run.
type Tiers struct {
	// Server is the program of the servers, apiextensions-apiserver or
	// kube-apiserver; empty is the first.
	Server string `json:"server,omitempty"`
	// Image is the image reference of the servers; needed to render a tier of
	// apiextensions-apiserver.
	Image string `json:"image,omitempty"`
	// Form is static (static pods of the control-plane hosts) or workload (a
	// Deployment and a StatefulSet); empty leaves it to the platform.
	Form string `json:"form,omitempty"`
	// StorageClass is of the volumes of a workload's etcd; empty is the cluster's default.
	StorageClass string `json:"storageClass,omitempty"`
	// Groups are the served versions of custom groups, one entry a group.
	Groups []TierGroup `json:"groups,omitempty"`
}

// TierGroup is what an APIService needs to know of a custom group.
type TierGroup struct {
	Group string `json:"group"`
	// Versions are those that are served, in any order: by their names upstream
	// prefers the stable and newer one.
	Versions []string `json:"versions"`
}

// VersionsOf are the served versions of a group, none when they are not given.
func (t Tiers) VersionsOf(group string) []string {
	for _, g := range t.Groups {
		if g.Group == group {
			return g.Versions
		}
	}
	return nil
}

// Host is one machine of the control plane.
type Host struct {
	Name    string `json:"name"`
	Address string `json:"address"`
}

// Network is what the controller manager needs to hand out pod ranges.
type Network struct {
	PodCIDR      string `json:"podCIDR"`
	ServiceCIDR  string `json:"serviceCIDR"`
	NodeMaskSize int    `json:"nodeMaskSize"`
}
