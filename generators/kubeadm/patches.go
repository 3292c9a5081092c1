package kubeadm

import (
	"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/v1beta4"

	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/internal/plan"
)

const (
	// PatchesDir is the patches directory on a host.
	PatchesDir = controlplane.HostDir + "/patches"
	// ProbePatchPath is the rendered patch: target, suffix and type make the
	// name, by which kubeadm decides what it applies it to and how.
	ProbePatchPath = "patches/kube-apiserver0+json.yaml"
)

// Operation is one step of a JSON patch (RFC 6902).
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// ProbePatch points kube-apiserver's probes past the stores whose loss must
// not restart it, or is nil when there is none. It has to be a JSON patch: a
// strategic one would name the container and repeat the probes whole.
func ProbePatch(p *plan.Plan) []Operation {
	paths := controlplane.Probes(p)
	if paths == (controlplane.ProbePaths{Live: "/livez", Ready: "/readyz", Start: "/livez"}) {
		return nil
	}
	replace := func(probe, path string) Operation {
		return Operation{Op: "replace", Path: "/spec/containers/0/" + probe + "/httpGet/path", Value: path}
	}
	return []Operation{
		replace("livenessProbe", paths.Live),
		replace("readinessProbe", paths.Ready),
		replace("startupProbe", paths.Start),
	}
}

// Patches is the reference to the patches directory, nil when the plan needs none.
func Patches(p *plan.Plan) *v1beta4.Patches {
	if ProbePatch(p) == nil {
		return nil
	}
	return &v1beta4.Patches{Directory: PatchesDir}
}
