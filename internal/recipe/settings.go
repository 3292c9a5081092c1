package recipe

// Settings is the vocabulary rungs move in: what is to be changed on the
// seams, without names of hosts or targets. #Settings in schemas/settings.cue
// is its CUE twin.
type Settings struct {
	// Stores are the etcds besides main, by name; kOps knows events and leases.
	Stores map[string]StoreSettings `json:"stores,omitempty"`
	// Routes send a built-in resource ("/events") to a store.
	Routes map[string]string `json:"routes,omitempty"`
	Main   MainSettings      `json:"main"`
	// Apiserver, ControllerManager and Scheduler hold flags by name, without dashes.
	Apiserver         ComponentSettings `json:"apiserver"`
	ControllerManager ComponentSettings `json:"controllerManager"`
	Scheduler         SchedulerSettings `json:"scheduler"`
	Kubelet           KubeletSettings   `json:"kubelet"`
	// NodeTier is the node-facing apiserver tier, where there is one.
	NodeTier *TierSettings `json:"nodeTier,omitempty"`
	// ConsumerTiers are apiservers for one kind of client, by name ("operators", "controllers").
	ConsumerTiers map[string]TierSettings `json:"consumerTiers,omitempty"`
	// ColdCache takes resources without watchers off the watch cache.
	ColdCache *ColdCacheSettings `json:"coldCache,omitempty"`
	// Aggregated moves groups of custom resources to servers with stores of their own.
	Aggregated *AggregatedSettings `json:"aggregated,omitempty"`
	// Sharding turns on filtered list and watch for clients that shard themselves.
	Sharding *ShardingSettings `json:"sharding,omitempty"`
}

// StoreSettings describes one etcd cluster.
type StoreSettings struct {
	// Durability is durable or ephemeral; ephemeral data is on tmpfs and may be lost.
	Durability string  `json:"durability"`
	QuotaGiB   float64 `json:"quotaGiB"`
	// Members is 1 or 3; 0 means one on each control-plane host.
	Members int `json:"members"`
	// ServesLiveness says that losing the store may restart apiservers; false for ephemeral data.
	ServesLiveness bool `json:"servesLiveness"`
}

// MainSettings are of the etcd that keeps everything not routed away.
type MainSettings struct {
	// QuotaGiB of 0 keeps the profile's.
	QuotaGiB          float64 `json:"quotaGiB,omitempty"`
	CompactionSeconds int     `json:"compactionSeconds,omitempty"`
}

// ComponentSettings are a component's flags and feature gates.
type ComponentSettings struct {
	Flags        map[string]string `json:"flags,omitempty"`
	FeatureGates map[string]bool   `json:"featureGates,omitempty"`
	// Env holds Go runtime settings such as GOGC.
	Env map[string]string `json:"env,omitempty"`
}

// SchedulerSettings are the scheduler's client limits besides its flags.
type SchedulerSettings struct {
	ComponentSettings
	QPS   int `json:"qps,omitempty"`
	Burst int `json:"burst,omitempty"`
}

// KubeletSettings are the fields of KubeletConfiguration a rung may set; 0 keeps upstream's.
type KubeletSettings struct {
	NodeLeaseDurationSeconds int `json:"nodeLeaseDurationSeconds,omitempty"`
	NodeStatusUpdateSeconds  int `json:"nodeStatusUpdateSeconds,omitempty"`
	NodeStatusReportSeconds  int `json:"nodeStatusReportSeconds,omitempty"`
	KubeAPIQPS               int `json:"kubeAPIQPS,omitempty"`
	KubeAPIBurst             int `json:"kubeAPIBurst,omitempty"`
	EventRecordQPS           int `json:"eventRecordQPS,omitempty"`
	EventBurst               int `json:"eventBurst,omitempty"`
	MaxPods                  int `json:"maxPods,omitempty"`
}

// TierSettings is an extra tier of kube-apiservers.
type TierSettings struct {
	// NodesPerReplica sizes a node tier; 0 means Replicas is given.
	NodesPerReplica int `json:"nodesPerReplica,omitempty"`
	Replicas        int `json:"replicas,omitempty"`
	// Serves "custom" says that clients of custom resources use this tier, so
	// that the general apiservers need not keep them in memory. The groups are
	// spread over all tiers that say so, and each keeps its own.
	Serves string `json:"serves,omitempty"`
	// Uncached resources ("coordination.k8s.io/leases") are off this tier's watch cache.
	Uncached []string `json:"uncached,omitempty"`
	// UncachedSelect "custom" or "cold" adds resources of the profile by kind.
	UncachedSelect string            `json:"uncachedSelect,omitempty"`
	Flags          map[string]string `json:"flags,omitempty"`
}

// ColdCacheSettings choose the resources that leave the watch cache.
type ColdCacheSettings struct {
	// MaxListers is how many clients may still list a resource that is called cold.
	MaxListers int `json:"maxListers"`
	// MinBytes is the resident size from which it is worth it.
	MinBytes int `json:"minBytes"`
}

// AggregatedSettings choose the groups that get a tier of their own.
type AggregatedSettings struct {
	// Select is hottest (the group with most writes), hot (every group over
	// MinWritesPerSecond) or partition (all custom groups, balanced by bytes).
	Select             string  `json:"select"`
	MinWritesPerSecond float64 `json:"minWritesPerSecond,omitempty"`
	// MaxTiers bounds how many tiers the groups are spread over.
	MaxTiers int `json:"maxTiers"`
	// TierBytes is what one tier is meant to hold, in stored bytes; partition
	// takes as few tiers as that allows. 0 means MaxTiers.
	TierBytes  float64 `json:"tierBytes,omitempty"`
	Replicas   int     `json:"replicas"`
	Durability string  `json:"durability"`
	Members    int     `json:"members"`
	QuotaGiB   float64 `json:"quotaGiB"`
}

// ShardingSettings are KEP-5866's filtered list and watch.
type ShardingSettings struct {
	// Shards is how many equal hash ranges are published to consumers.
	Shards int `json:"shards"`
	// Field is object.metadata.uid or object.metadata.namespace.
	Field string `json:"field"`
	// SplitControllers runs kube-controller-manager in functional groups.
	SplitControllers map[string][]string `json:"splitControllers,omitempty"`
}
