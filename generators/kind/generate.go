package kind

import (
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"github.com/kubeseams/seams/generators"
	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/generators/kubeadm"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
)

// workers is how many worker containers a cluster gets: enough to be the node
// that talks to a node-facing tier.
const workers = 1

// Generate renders a plan for kind:
//
//	kind.yaml                  the Cluster, to be used from the directory it is in
//	patches/, scheduler.yaml   mounted into the control-plane containers
//	manifests/CONTAINER/       static pods besides kubeadm's own, mounted too
//
// The node image is left to the command line, with the plan's version: the
// form of the patches depends on it. It is an error when the plan contradicts
// itself.
func Generate(p *plan.Plan) ([]file.File, []finding.Finding, error) {
	if _, err := controlplane.Hosts(p); err != nil {
		return nil, nil, err
	}
	local := Localise(p)
	w := &generators.Writer{}
	kubeadm.AddPatches(w, local)
	addEnvPatches(w, local)
	kubeadm.AddManifests(w, local)
	files, err := w.Files()
	if err != nil {
		return nil, nil, err
	}
	files = withoutSteady(files)
	patches, err := clusterPatches(local)
	if err != nil {
		return nil, nil, err
	}
	cluster := &v1alpha4.Cluster{
		TypeMeta:             v1alpha4.TypeMeta{APIVersion: "kind.x-k8s.io/v1alpha4", Kind: "Cluster"},
		Name:                 p.Name,
		Networking:           networking(p),
		KubeadmConfigPatches: patches,
	}
	for _, h := range local.ControlPlane.Hosts {
		node, err := controlPlaneNode(h.Name, files)
		if err != nil {
			return nil, nil, err
		}
		cluster.Nodes = append(cluster.Nodes, node)
	}
	for range workers {
		cluster.Nodes = append(cluster.Nodes, v1alpha4.Node{Role: v1alpha4.WorkerRole})
	}
	out := &generators.Writer{}
	out.Configs("kind.yaml", cluster)
	own, err := out.Files()
	if err != nil {
		return nil, nil, err
	}
	files = append(files, own...)
	file.Sort(files)
	return files, findings(p), nil
}

// withoutSteady drops the second manifests of in-memory stores: kind mounts a
// manifest for the life of a container, whose memory ends with it.
func withoutSteady(files []file.File) []file.File {
	var kept []file.File
	for _, f := range files {
		if !strings.HasPrefix(f.Path, "manifests-steady/") {
			kept = append(kept, f)
		}
	}
	return kept
}

func networking(p *plan.Plan) v1alpha4.Networking {
	n := v1alpha4.Networking{PodSubnet: p.ControlPlane.Network.PodCIDR, ServiceSubnet: p.ControlPlane.Network.ServiceCIDR}
	switch {
	case strings.Contains(n.PodSubnet, ","):
		n.IPFamily = v1alpha4.DualStackFamily
	case strings.Contains(n.PodSubnet, ":"):
		n.IPFamily = v1alpha4.IPv6Family
	}
	return n
}

// controlPlaneNode mounts a container's manifests, and what kubeadm's own pods
// refer to, at the paths they have on a host.
func controlPlaneNode(name string, files []file.File) (v1alpha4.Node, error) {
	node := v1alpha4.Node{Role: v1alpha4.ControlPlaneRole}
	mount := func(from, to string) {
		node.ExtraMounts = append(node.ExtraMounts, v1alpha4.Mount{HostPath: from, ContainerPath: to, Readonly: true})
	}
	patches := false
	for _, f := range files {
		dir, base := path.Split(f.Path)
		switch {
		case dir == "manifests/"+name+"/":
			mount(f.Path, controlplane.ManifestsDir+"/"+base)
		case f.Path == "scheduler.yaml":
			mount(f.Path, controlplane.SchedulerConfigPath)
		case dir == "patches/":
			patches = true
		}
	}
	if !patches {
		return node, nil
	}
	mount("patches", kubeadm.PatchesDir)
	var err error
	node.KubeadmConfigPatches, err = directoryPatches()
	return node, err
}

func findings(p *plan.Plan) []finding.Finding {
	all := []finding.Finding{{
		Code: "kind-image-version", Severity: finding.Info, Path: "nodes",
		Message: fmt.Sprintf("the patches are in the form that kind wants for Kubernetes %s", p.Target.Kubernetes.Line()),
		Fix:     fmt.Sprintf("create the cluster with --image of a node image of %s, and under no other --name, which the manifests depend on", p.Target.Kubernetes.Line()),
	}}
	if !controlplane.Single(p) && len(controlplane.ExtraStores(p)) > 0 {
		all = append(all, finding.Finding{
			Code: "kind-members-join-later", Severity: finding.Info, Path: "stores",
			Message: "on the second and further control-plane containers the extra etcds restart until they are added as members, after kind has made the cluster",
			Fix:     "follow the rollout",
		})
	}
	return all
}
