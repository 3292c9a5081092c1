package kind_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kubeadmapi "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/controlplane"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/config"
	"sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/generators/internal/judge"
	"github.com/kubeseams/seams/generators/internal/plantest"
	"github.com/kubeseams/seams/generators/kind"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/target"
)

// node is what kind made for one container.
type node struct {
	name, role string
	kubeadm    []byte
	volumes    []string
}

// create has kind make a cluster of the rendered files up to the point where
// kubeadm would run, with testdata/docker in place of docker: kind's own code
// decodes, validates, generates the kubeadm configuration and patches it.
func create(t *testing.T, p *plan.Plan) []node {
	t.Helper()
	files, _, err := kind.Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	fake, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	containers := t.TempDir()
	t.Setenv("PATH", fake+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("FAKE_DOCKER", containers)
	t.Setenv("FAKE_KUBERNETES", "v"+p.Target.Kubernetes.String())
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "config"))
	t.Chdir(t.TempDir())
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f.Path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	provider := cluster.NewProvider(cluster.ProviderWithDocker())
	if err := provider.Create("", cluster.CreateWithConfigFile("kind.yaml"), cluster.CreateWithStopBeforeSettingUpKubernetes(true)); err != nil {
		t.Fatal(err)
	}
	return read(t, containers)
}

func read(t *testing.T, containers string) []node {
	t.Helper()
	entries, err := os.ReadDir(containers)
	if err != nil {
		t.Fatal(err)
	}
	var nodes []node
	for _, e := range entries {
		get := func(name string) []byte {
			data, err := os.ReadFile(filepath.Join(containers, e.Name(), name))
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			return data
		}
		n := node{name: e.Name(), role: strings.TrimSpace(string(get("role"))), kubeadm: get("kubeadm.conf")}
		for _, v := range strings.Fields(string(get("volumes"))) {
			if strings.Contains(v, "/etc/kubernetes/") {
				n.volumes = append(n.volumes, v)
			}
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// each runs a test on kind's work for a minor of each form of its patches.
func each(t *testing.T, run func(t *testing.T, p *plan.Plan, nodes []node)) {
	for _, minor := range []int{35, 36, 37} {
		for _, c := range plantest.Cases(target.Kind, minor) {
			t.Run(c.Plan.Target.Kubernetes.Line()+"/"+c.Name, func(t *testing.T) { run(t, c.Plan, create(t, c.Plan)) })
		}
	}
}

func TestKindTakesTheCluster(t *testing.T) {
	each(t, func(t *testing.T, p *plan.Plan, nodes []node) {
		controlPlanes := 0
		for _, n := range nodes {
			switch n.role {
			case "control-plane":
				controlPlanes++
				checkMounts(t, p, n)
				checkKubeadm(t, p, n)
			case "worker":
				if len(n.volumes) > 0 {
					t.Errorf("%s mounts %v", n.name, n.volumes)
				}
			}
		}
		if controlPlanes != len(p.ControlPlane.Hosts) {
			t.Errorf("%d control-plane containers for %d hosts", controlPlanes, len(p.ControlPlane.Hosts))
		}
	})
}

// checkMounts sees to it that each mount brings a file that is there, and that
// the pods named in the overrides are among them.
func checkMounts(t *testing.T, p *plan.Plan, n node) {
	mounted := map[string]bool{}
	for _, v := range n.volumes {
		parts := strings.Split(v, ":")
		if len(parts) != 3 || parts[2] != "ro" {
			t.Errorf("%s: mount %s is not read-only", n.name, v)
		}
		if _, err := os.Stat(parts[0]); err != nil {
			t.Errorf("%s: %v", n.name, err)
		}
		mounted[parts[1]] = true
		if !strings.HasPrefix(parts[1], "/etc/kubernetes/manifests/") {
			continue
		}
		data, err := os.ReadFile(parts[0])
		if err != nil {
			t.Fatal(err)
		}
		pod, err := judge.Pod(data)
		if err != nil {
			t.Errorf("%s: %s: %v", n.name, parts[1], err)
			continue
		}
		flags, err := judge.Flags(pod.Spec.Containers[0])
		if err != nil {
			t.Errorf("%s: %v", parts[1], err)
		}
		if err := judge.KnownFlags(p.Target.Kubernetes, pod.Spec.Containers[0].Command[0], flags); err != nil {
			t.Errorf("%s: %v", parts[1], err)
		}
		if name := flags["name"]; pod.Spec.Containers[0].Name == "etcd" && name != n.name {
			t.Errorf("%s runs the member of %s", n.name, name)
		}
	}
	for _, s := range p.Stores[1:] {
		if !mounted["/etc/kubernetes/manifests/etcd-"+s.Name+".yaml"] {
			t.Errorf("%s has no member of %s", n.name, s.Name)
		}
	}
}

// checkKubeadm has kubeadm render the apiserver from the configuration that
// kind wrote.
func checkKubeadm(t *testing.T, p *plan.Plan, n node) {
	if !p.Target.KindWritesV1Beta4() {
		checkV1Beta3(t, p, n)
		return
	}
	if err := config.ValidateConfig(n.kubeadm, false, false); err != nil {
		t.Fatalf("%s: %v\n%s", n.name, err, n.kubeadm)
	}
	cfg, err := config.BytesToInitConfiguration(n.kubeadm, true)
	if err != nil {
		t.Fatal(err)
	}
	pods := controlplane.GetStaticPodSpecs(&cfg.ClusterConfiguration, &cfg.LocalAPIEndpoint, []kubeadmapi.EnvVar{})
	c := pods["kube-apiserver"].Spec.Containers[0]
	var overrides []string
	for _, arg := range c.Command {
		if value, ok := strings.CutPrefix(arg, "--etcd-servers-overrides="); ok {
			overrides = append(overrides, value)
		}
	}
	if want := len(p.Routes); want > 0 && (len(overrides) != 1 || strings.Count(overrides[0], "#") != want) {
		t.Errorf("%s: overrides %q for %d routes", n.name, overrides, want)
	}
	for name, value := range p.Tiers[0].Env {
		if !slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == name && e.Value == value }) {
			t.Errorf("%s: %s=%s is not in %v", n.name, name, value, c.Env)
		}
	}
	probesElsewhere := slices.ContainsFunc(p.Stores, func(s plan.Store) bool { return !s.ServesLiveness })
	if probesElsewhere != (cfg.Patches != nil && cfg.Patches.Directory == "/etc/kubernetes/seams/patches") {
		t.Errorf("%s: patches %+v", n.name, cfg.Patches)
	}
}

// checkV1Beta3 looks at the documents that kind wrote for a kubeadm that
// upstream's code of today no longer reads.
func checkV1Beta3(t *testing.T, p *plan.Plan, n node) {
	docs := map[string]map[string]any{}
	for text := range strings.SplitSeq(string(n.kubeadm), "\n---\n") {
		var doc map[string]any
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		docs[doc["kind"].(string)] = doc
	}
	c := docs["ClusterConfiguration"]
	if c["apiVersion"] != "kubeadm.k8s.io/v1beta3" {
		t.Fatalf("kind wrote %s for %s", c["apiVersion"], p.Target.Kubernetes)
	}
	server := c["apiServer"].(map[string]any)
	args, ok := server["extraArgs"].(map[string]any)
	if !ok {
		t.Fatalf("%s: extraArgs is %T", n.name, server["extraArgs"])
	}
	if _, ok := server["extraEnvs"]; ok {
		t.Error("v1beta3 has no extraEnvs")
	}
	overrides, _ := args["etcd-servers-overrides"].(string)
	if strings.Count(overrides, "#") != len(p.Routes) {
		t.Errorf("%s: overrides %q for %d routes", n.name, overrides, len(p.Routes))
	}
	for name, want := range p.Tiers[0].Flags {
		if args[name] != want {
			t.Errorf("%s: --%s is %v, want %s", n.name, name, args[name], want)
		}
	}
}
