//go:build kind

package kind

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/e2e/kind/cluster"
)

// wanted are the settings that a rendered directory asks of each component, read
// out of the files as a user would: what runs is compared with them.
type wanted struct {
	// args by program of a control plane: --name=value.
	args map[string][]string
	// kubelet and scheduler are fields of their configuration.
	kubelet, scheduler map[string]any
}

// read gives what a rendered directory wants.
func read(t *testing.T, dir string) wanted {
	t.Helper()
	w := wanted{args: map[string][]string{}, kubelet: map[string]any{}, scheduler: map[string]any{}}
	var config v1alpha4.Cluster
	decode(t, filepath.Join(dir, "kind.yaml"), &config)
	for _, patch := range config.KubeadmConfigPatches {
		var p map[string]any
		if err := yaml.Unmarshal([]byte(patch), &p); err != nil {
			t.Fatal(err)
		}
		switch p["kind"] {
		case "KubeletConfiguration":
			delete(p, "kind")
			w.kubelet = p
		case "ClusterConfiguration":
			w.args["kube-apiserver"] = args(t, p["apiServer"])
			w.args["kube-controller-manager"] = args(t, p["controllerManager"])
			w.args["kube-scheduler"] = args(t, p["scheduler"])
		}
	}
	decode(t, filepath.Join(dir, "scheduler.yaml"), &w.scheduler)
	if len(w.kubelet) == 0 || len(w.args["kube-apiserver"]) == 0 || len(w.args["kube-controller-manager"]) == 0 {
		t.Fatalf("%s asks for too little to test anything: %+v", dir, w)
	}
	return w
}

func decode(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// args are extra arguments of kubeadm's, in the form of v1beta4 or v1beta3.
func args(t *testing.T, component any) []string {
	t.Helper()
	c, _ := component.(map[string]any)
	var all []string
	switch extra := c["extraArgs"].(type) {
	case []any:
		for _, item := range extra {
			arg := item.(map[string]any)
			all = append(all, fmt.Sprintf("--%s=%s", arg["name"], arg["value"]))
		}
	case map[string]any:
		for name, value := range extra {
			all = append(all, fmt.Sprintf("--%s=%s", name, value))
		}
	}
	return all
}

// inForce compares what runs on a control plane, and every kubelet, with what is
// wanted.
func inForce(t *testing.T, c *cluster.Cluster, controlPlane string, w wanted) {
	t.Helper()
	for program, args := range w.args {
		running := processes(t, c, controlPlane, program)
		whole := func(process []string) bool {
			return !slices.ContainsFunc(args, func(arg string) bool { return !slices.Contains(process, arg) })
		}
		if !slices.ContainsFunc(running, whole) {
			t.Errorf("no %s runs with all of %q; there are %q", program, args, running)
		}
	}
	nodes, err := c.Nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		answer := kubectl(t, c, "get", "--raw", "/api/v1/nodes/"+n+"/proxy/configz")
		covers(t, "kubelet of "+n, within(t, answer, "kubeletconfig"), w.kubelet)
	}
	// The scheduler serves on the loopback of its node, with a certificate of its own.
	answer := node(t, c, controlPlane, "kubectl", "--kubeconfig", "/etc/kubernetes/admin.conf",
		"--server", "https://127.0.0.1:10259", "--insecure-skip-tls-verify", "get", "--raw", "/configz")
	covers(t, "kube-scheduler", within(t, answer, "componentconfig"), w.scheduler)
}

// within is the configuration that a component shows at /configz, below its name.
func within(t *testing.T, answer, name string) map[string]any {
	t.Helper()
	var all map[string]map[string]any
	if err := json.Unmarshal([]byte(answer), &all); err != nil {
		t.Fatalf("configz: %v\n%s", err, answer)
	}
	if all[name] == nil {
		t.Fatalf("configz has no %s: %s", name, answer)
	}
	return all[name]
}

// covers reports every field that is wanted and not so in got.
func covers(t *testing.T, where string, got, want map[string]any) {
	t.Helper()
	for field, value := range want {
		actual, ok := got[field]
		if inner, isMap := value.(map[string]any); isMap {
			below, _ := actual.(map[string]any)
			covers(t, where+"."+field, below, inner)
			continue
		}
		if !ok || fmt.Sprint(actual) != fmt.Sprint(value) {
			t.Errorf("%s: %s is %v, want %v", where, field, actual, value)
		}
	}
}
