package kind

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/v1beta4"

	"github.com/kubeseams/seams/generators"
	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/generators/kubeadm"
	"github.com/kubeseams/seams/internal/plan"
)

// clusterPatches are the merge patches over the configuration that kind
// generates for every node. None names an apiVersion: kind leaves out a patch
// whose version is not the one it generates for the node, without a word.
func clusterPatches(p *plan.Plan) ([]string, error) {
	cluster := kubeadm.ClusterConfiguration(p)
	cluster.APIVersion = ""
	// What kind decides.
	cluster.KubernetesVersion, cluster.ControlPlaneEndpoint, cluster.Networking = "", "", v1beta4.Networking{}
	objects := []any{cluster}
	if !p.Target.KindWritesV1Beta4() {
		old, err := asV1Beta3(cluster)
		if err != nil {
			return nil, err
		}
		objects = []any{old}
	}
	if k := controlplane.KubeletConfig(p); k != nil {
		k.APIVersion = ""
		objects = append(objects, k)
	}
	return written(objects...)
}

// directoryPatches point kubeadm on a control-plane node at the patches that
// are mounted there. Of the two kinds kind uses one on each node.
func directoryPatches() ([]string, error) {
	directory := map[string]string{"directory": kubeadm.PatchesDir}
	return written(
		map[string]any{"kind": "InitConfiguration", "patches": directory},
		map[string]any{"kind": "JoinConfiguration", "patches": directory},
	)
}

// written writes each object that says more than its kind.
func written(objects ...any) ([]string, error) {
	var out []string
	for _, o := range objects {
		data, err := generators.Configs(o)
		if err != nil {
			return nil, err
		}
		if bytes.Count(data, []byte("\n")) > 1 {
			out = append(out, string(data))
		}
	}
	return out, nil
}

// asV1Beta3 gives a ClusterConfiguration the form of v1beta3, which kind writes
// for nodes before 1.36: arguments are a map there, and a patch in list form
// would put a list where kubeadm wants the map. It has no extraEnvs, which go
// through kubeadm's patches instead.
func asV1Beta3(cluster *v1beta4.ClusterConfiguration) (map[string]any, error) {
	data, err := json.Marshal(cluster)
	if err != nil {
		return nil, fmt.Errorf("write ClusterConfiguration: %w", err)
	}
	var old map[string]any
	if err := json.Unmarshal(data, &old); err != nil {
		return nil, fmt.Errorf("read ClusterConfiguration back: %w", err)
	}
	downgrade(old)
	return old, nil
}

func downgrade(object map[string]any) {
	delete(object, "extraEnvs")
	for key, value := range object {
		switch v := value.(type) {
		case map[string]any:
			downgrade(v)
		case []any:
			if key == "extraArgs" {
				object[key] = argsMap(v)
			}
		}
	}
}

func argsMap(list []any) map[string]string {
	args := map[string]string{}
	for _, item := range list {
		if arg, ok := item.(map[string]any); ok {
			args[fmt.Sprint(arg["name"])] = fmt.Sprint(arg["value"])
		}
	}
	return args
}

// addEnvPatches adds strategic patches for the environment of kubeadm's pods,
// for nodes whose configuration has no field for it.
func addEnvPatches(w *generators.Writer, p *plan.Plan) {
	if p.Target.KindWritesV1Beta4() {
		return
	}
	for component, env := range map[string]map[string]string{
		"kube-apiserver":          controlplane.MainTier(p).Env,
		"kube-controller-manager": p.ControllerManager.Env,
		"kube-scheduler":          p.Scheduler.Env,
	} {
		if len(env) > 0 {
			w.Objects("patches/"+component+"1+strategic.yaml", envPatch(component, env))
		}
	}
}

// envPatch is the part of a Pod that a strategic merge patch needs: containers
// merge by name, and so do variables.
func envPatch(container string, env map[string]string) any {
	type spec struct {
		Containers []corev1.Container `json:"containers"`
	}
	type pod struct {
		Spec spec `json:"spec"`
	}
	c := corev1.Container{Name: container}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: env[name]})
	}
	return pod{spec{[]corev1.Container{c}}}
}
