package kops

// The types below are the part of kOps' v1alpha2 that a new cluster is made of,
// with fields in the order in which kOps writes them. A test holds what they
// come to against kOps' own schema; they are not for reading a user's document,
// most of which they would lose.

type object struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Spec       any      `json:"spec"`
}

type metadata struct {
	Labels map[string]string `json:"labels,omitempty"`
	Name   string            `json:"name"`
}

type clusterSpec struct {
	API                   api            `json:"api"`
	Authorization         authorization  `json:"authorization"`
	Channel               string         `json:"channel"`
	CloudProvider         string         `json:"cloudProvider"`
	EtcdClusters          []etcdCluster  `json:"etcdClusters"`
	IAM                   iam            `json:"iam"`
	KubeAPIServer         map[string]any `json:"kubeAPIServer,omitempty"`
	KubeControllerManager map[string]any `json:"kubeControllerManager,omitempty"`
	KubeScheduler         map[string]any `json:"kubeScheduler,omitempty"`
	Kubelet               map[string]any `json:"kubelet,omitempty"`
	KubernetesAPIAccess   []string       `json:"kubernetesApiAccess,omitempty"`
	KubernetesVersion     string         `json:"kubernetesVersion"`
	NetworkCIDR           string         `json:"networkCIDR,omitempty"`
	Networking            networking     `json:"networking"`
	NonMasqueradeCIDR     string         `json:"nonMasqueradeCIDR,omitempty"`
	PodCIDR               string         `json:"podCIDR,omitempty"`
	ServiceClusterIPRange string         `json:"serviceClusterIPRange,omitempty"`
	Subnets               []subnet       `json:"subnets"`
	Topology              topology       `json:"topology"`
}

type api struct {
	DNS          *struct{}     `json:"dns,omitempty"`
	LoadBalancer *loadBalancer `json:"loadBalancer,omitempty"`
}

type loadBalancer struct {
	Class string `json:"class,omitempty"`
	Type  string `json:"type"`
}

type authorization struct {
	RBAC struct{} `json:"rbac"`
}

type iam struct {
	AllowContainerRegistry bool `json:"allowContainerRegistry"`
	Legacy                 bool `json:"legacy"`
}

type networking struct {
	Cilium struct{} `json:"cilium"`
}

type topology struct {
	DNS topologyDNS `json:"dns"`
}

type topologyDNS struct {
	Type string `json:"type"`
}

type subnet struct {
	Name   string `json:"name"`
	Region string `json:"region,omitempty"`
	Type   string `json:"type"`
	Zone   string `json:"zone,omitempty"`
}

type etcdCluster struct {
	EtcdMembers []member `json:"etcdMembers"`
	Manager     *manager `json:"manager,omitempty"`
	Name        string   `json:"name"`
}

type manager struct {
	Env []variable `json:"env"`
}

type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type member struct {
	InstanceGroup    string `json:"instanceGroup"`
	Name             string `json:"name"`
	VolumeIops       int    `json:"volumeIops,omitempty"`
	VolumeSize       int    `json:"volumeSize,omitempty"`
	VolumeThroughput int    `json:"volumeThroughput,omitempty"`
	VolumeType       string `json:"volumeType,omitempty"`
}

type groupSpec struct {
	Image          string   `json:"image,omitempty"`
	MachineType    string   `json:"machineType,omitempty"`
	MaxSize        int      `json:"maxSize"`
	MinSize        int      `json:"minSize"`
	Role           string   `json:"role"`
	RootVolumeType string   `json:"rootVolumeType,omitempty"`
	Subnets        []string `json:"subnets"`
	Zones          []string `json:"zones,omitempty"`
}

const (
	apiVersion   = "kops.k8s.io/v1alpha2"
	clusterLabel = "kops.k8s.io/cluster"
)

func instanceGroup(cluster, name string, spec groupSpec) object {
	return object{
		APIVersion: apiVersion, Kind: "InstanceGroup",
		Metadata: metadata{Name: name, Labels: map[string]string{clusterLabel: cluster}}, Spec: spec,
	}
}
