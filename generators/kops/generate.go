package kops

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubeseams/seams/generators"
	"github.com/kubeseams/seams/generators/aggregated"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/yamltext"
)

// Generate makes a complete specification from the plan alone: cluster.yaml, with
// the Cluster and its InstanceGroups, and kops-flags.txt where kOps needs
// feature flags. What a plan does not know stands in it as kOps' own default or
// as a placeholder, which a finding lists. An error means that the target is
// none that kOps has.
func Generate(p *plan.Plan) ([]file.File, []finding.Finding, error) {
	c, ok := clouds[p.Target.Cloud]
	if !ok {
		return nil, nil, fmt.Errorf("kOps has no cloud %q: want one of %s", p.Target.Cloud, strings.Join(slices.Sorted(maps.Keys(clouds)), ", "))
	}
	w, fs := wants(p)
	s := skeleton{plan: p, wanted: w, cloud: c, name: p.KopsClusterName()}
	fs = append(fs, s.remarks()...)
	data, err := generators.Objects(s.objects()...)
	if err != nil {
		return nil, nil, err
	}
	files := []file.File{{Path: "cluster.yaml", Data: data}}
	if w.apiservers > 0 {
		files = append(files, file.File{Path: "kops-flags.txt", Data: []byte("KOPS_FEATURE_FLAGS=" + apiserverFlag + "\n")})
	}
	for i := range fs {
		fs[i].File = "cluster.yaml"
	}
	tiers, err := aggregated.Files(p)
	if err != nil {
		return nil, nil, err
	}
	files = append(files, tiers...)
	finding.Sort(fs)
	return files, fs, nil
}

// skeleton is a new cluster on its way to documents.
type skeleton struct {
	plan   *plan.Plan
	wanted wanted
	cloud  cloud
	name   string
}

func (s skeleton) objects() []any {
	objects := []any{object{APIVersion: apiVersion, Kind: "Cluster", Metadata: metadata{Name: s.name}, Spec: s.spec()}}
	if n := s.wanted.apiservers; n > 0 {
		objects = append(objects, s.apiservers(n))
	}
	for i, letter := range controlPlanes(s.plan) {
		spec := groupSpec{MachineType: s.machineType(), MaxSize: 1, MinSize: 1, Role: "Master", RootVolumeType: s.rootVolume()}
		spec.Subnets, spec.Zones = s.cloud.place(s.cloud.zone(i))
		objects = append(objects, instanceGroup(s.name, groupName(letter), spec))
	}
	return append(objects, s.nodes()...)
}

// groupName is the instance group of a control-plane machine.
func groupName(letter string) string { return "control-plane-" + letter }

// spec is the Cluster's specification.
func (s skeleton) spec() clusterSpec {
	spec := clusterSpec{
		Channel:               "stable",
		CloudProvider:         s.plan.Target.Cloud,
		IAM:                   iam{AllowContainerRegistry: true},
		KubeAPIServer:         s.block(apiserver.block),
		KubeControllerManager: s.block(controllerManager.block),
		KubeScheduler:         s.block(scheduler.block),
		Kubelet:               s.block("kubelet"),
		KubernetesVersion:     s.plan.Target.Kubernetes.String(),
		Subnets:               s.cloud.subnets(),
		Topology:              topology{DNS: topologyDNS{Type: s.dns()}},
	}
	if spec.Kubelet == nil {
		spec.Kubelet = map[string]any{}
	}
	spec.Kubelet["anonymousAuth"] = false // as "kops create cluster" writes it
	if size := s.plan.ControlPlane.Network.NodeMaskSize; size != 0 && size != 24 {
		if spec.KubeControllerManager == nil {
			spec.KubeControllerManager = map[string]any{}
		}
		if _, set := spec.KubeControllerManager["nodeCIDRMaskSize"]; !set {
			spec.KubeControllerManager["nodeCIDRMaskSize"] = size
		}
	}
	s.cloud.networks(s.plan, &spec)
	if spec.NetworkCIDR != "" { // not the whole Internet
		spec.KubernetesAPIAccess = []string{spec.NetworkCIDR}
	}
	if len(controlPlanes(s.plan)) == 1 && s.wanted.apiservers == 0 && s.dns() == "Public" {
		spec.API.DNS = &struct{}{}
	} else {
		spec.API.LoadBalancer = &loadBalancer{Type: "Public"}
		if s.plan.Target.Cloud == "aws" {
			spec.API.LoadBalancer.Class = "Network"
		}
	}
	for _, shard := range s.wanted.shards {
		spec.EtcdClusters = append(spec.EtcdClusters, s.etcd(shard))
	}
	return spec
}

// dns is how kOps makes names. A name below .k8s.local has no zone: kOps does
// without names then, except that apiservers on machines of their own find etcd
// by name, for which it has no way but gossip.
func (s skeleton) dns() string {
	switch {
	case s.plan.Target.DNSNone:
		return "None"
	case !strings.HasSuffix(s.name, ".k8s.local"):
		return "Public"
	case s.wanted.apiservers > 0:
		return "Private"
	}
	return "None"
}

// block is what the plan wants of a component, as plain values.
func (s skeleton) block(name string) map[string]any {
	block, _ := yamltext.Plain(s.wanted.spec[name]).(map[string]any)
	return block
}

// etcd has a member in every control-plane group: kOps refuses a shard that is
// on some of them only.
func (s skeleton) etcd(of shard) etcdCluster {
	e := etcdCluster{Name: of.name}
	for _, letter := range controlPlanes(s.plan) {
		m := volume(s.plan, s.wanted)
		m.Name, m.InstanceGroup = letter, groupName(letter)
		e.EtcdMembers = append(e.EtcdMembers, m)
	}
	env := of.env()
	if len(env) > 0 {
		e.Manager = &manager{}
		for _, name := range slices.Sorted(maps.Keys(env)) {
			e.Manager.Env = append(e.Manager.Env, variable{name, env[name]})
		}
	}
	return e
}

// hyperdisk reports whether the machines must take hyperdisks.
func (s skeleton) hyperdisk() bool {
	return volume(s.plan, s.wanted).VolumeType == "hyperdisk-balanced"
}

func (s skeleton) machineType() string { return machineType(s.plan, s.hyperdisk()) }

func (s skeleton) rootVolume() string {
	if s.hyperdisk() {
		return "hyperdisk-balanced"
	}
	return ""
}

// apiservers is the group of machines that run an apiserver and nothing else.
func (s skeleton) apiservers(n int) object {
	spec := groupSpec{MachineType: s.machineType(), MaxSize: n, MinSize: n, Role: "APIServer", RootVolumeType: s.rootVolume()}
	spec.Subnets, spec.Zones = s.cloud.place(s.cloud.zones...)
	return instanceGroup(s.name, "apiservers", spec)
}

// nodes are the plan's, an equal share in each zone: as many machines as the
// profile counts today, in groups that may grow to what it is to be.
func (s skeleton) nodes() []any {
	var groups []any
	zones := len(s.cloud.zones)
	for i, zone := range s.cloud.zones {
		most := share(s.plan.Nodes, zones, i)
		if most == 0 && i > 0 {
			continue
		}
		spec := groupSpec{MaxSize: most, MinSize: share(min(s.plan.NodesPresent, s.plan.Nodes), zones, i), Role: "Node"}
		spec.Subnets, spec.Zones = s.cloud.place(zone)
		groups = append(groups, instanceGroup(s.name, "nodes-"+letter(i), spec))
	}
	return groups
}

// share is the part of n that is the i-th of several, the first ones larger.
func share(n, parts, i int) int {
	if i < n%parts {
		return n/parts + 1
	}
	return n / parts
}

// remarks say what in the documents is not the plan's.
func (s skeleton) remarks() []finding.Finding {
	fs := []finding.Finding{{
		Code: "kops-placeholders", Severity: finding.Info,
		Message: fmt.Sprintf("region %s and its zones, the networks, who may reach the API, the network plugin and the machines of the nodes are placeholders", s.cloud.region),
		Fix:     "better: put the plan into the documents of \"kops create cluster --dry-run -o yaml\" or \"kops get all -o yaml\"",
	}}
	if access := s.spec().KubernetesAPIAccess; len(access) > 0 {
		fs = append(fs, finding.Finding{
			Code: "kops-api-access", Severity: finding.Warning, Path: "spec.kubernetesApiAccess",
			Message: fmt.Sprintf("only %s, the cluster's own network, reaches the API: neither kubectl nor kops from outside does", strings.Join(access, ", ")),
			Fix:     "put your own addresses in its place",
		})
	}
	if p := s.plan; p.Nodes > p.NodesPresent {
		fs = append(fs, finding.Finding{
			Code: "kops-nodes-may-grow", Severity: finding.Info, Path: "spec.minSize",
			Message: fmt.Sprintf("the groups of nodes begin with the %d nodes of today and may grow to %d; kOps changes their number within that only when asked, or by an autoscaler", p.NodesPresent, p.Nodes),
		})
	}
	if s.name != s.plan.Name {
		fs = append(fs, finding.Finding{
			Code: "kops-cluster-name", Severity: finding.Info, Path: "metadata.name",
			Message: fmt.Sprintf("kOps names a cluster by a DNS name, so this one is %s", s.name),
			Fix:     "name the profile like the cluster, then the rollout's commands fit too",
		})
	}
	if n := len(controlPlanes(s.plan)); n%2 == 0 {
		fs = append(fs, finding.Finding{
			Code: "kops-etcd-even", Severity: finding.Error, Path: "spec.etcdClusters",
			Message: fmt.Sprintf("%d control-plane machines: kOps puts an etcd member on each, and refuses an even number", n),
			Fix:     fmt.Sprintf("name an odd number of hosts, such as %d", n+1),
		})
	}
	if cloud := s.plan.Target.Cloud; cloud == "azure" || cloud == "openstack" {
		fs = append(fs, finding.Finding{
			Code: "kops-account", Severity: finding.Warning, Path: "spec.cloudConfig." + cloud,
			Message: "the specification needs the account's own settings here, which a profile does not have",
			Fix:     "start from \"kops create cluster --dry-run -o yaml\"",
		})
	}
	return fs
}
