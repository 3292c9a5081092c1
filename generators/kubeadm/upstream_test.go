package kubeadm_test

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	kubeadmapi "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/controlplane"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/etcd"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/config"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/staticpod"

	"github.com/kubeseams/seams/generators/internal/judge"
	"github.com/kubeseams/seams/generators/internal/plantest"
	"github.com/kubeseams/seams/generators/kubeadm"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/target"
)

// each runs a test for every case and supported minor.
func each(t *testing.T, run func(t *testing.T, p *plan.Plan, files []file.File)) {
	for _, v := range target.Minors() {
		for _, c := range plantest.Cases(target.Kubeadm, v.Minor) {
			t.Run(v.Line()+"/"+c.Name, func(t *testing.T) {
				files, findings, err := kubeadm.Generate(c.Plan)
				if err != nil {
					t.Fatal(err)
				}
				if finding.AtLeast(findings, finding.Warning) {
					t.Fatalf("findings on a plan without fault: %v", findings)
				}
				run(t, c.Plan, files)
			})
		}
	}
}

// data is a file's content with the discovery file moved to where the test has
// one, since kubeadm's validation looks for it.
func data(t *testing.T, f file.File) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "discovery.conf")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(f.Data, []byte(kubeadm.DiscoveryPath), []byte(path))
}

func isConfig(f file.File) bool {
	return !strings.Contains(f.Path, "/") && f.Path != "scheduler.yaml"
}

// kubeadm takes every configuration file, with unknown fields an error.
func TestConfigsValidate(t *testing.T) {
	each(t, func(t *testing.T, _ *plan.Plan, files []file.File) {
		for _, f := range files {
			if !isConfig(f) {
				continue
			}
			if err := config.ValidateConfig(data(t, f), false, false); err != nil {
				t.Errorf("%s: %v", f.Path, err)
			}
		}
	})
}

// The kubelet takes every static pod, and each program knows its flags.
func TestPodsValidate(t *testing.T) {
	each(t, func(t *testing.T, p *plan.Plan, files []file.File) {
		for _, f := range files {
			if !strings.HasPrefix(f.Path, "manifests") {
				continue
			}
			pod, err := judge.Pod(f.Data)
			if err != nil {
				t.Errorf("%s: %v", f.Path, err)
				continue
			}
			c := pod.Spec.Containers[0]
			flags, err := judge.Flags(c)
			if err != nil {
				t.Errorf("%s: %v", f.Path, err)
			}
			if err := judge.KnownFlags(p.Target.Kubernetes, c.Command[0], flags); err != nil {
				t.Errorf("%s: %v", f.Path, err)
			}
			if filepath.Base(f.Path) != pod.Name+".yaml" {
				t.Errorf("%s holds pod %s", f.Path, pod.Name)
			}
			if l := pod.Labels; l["tier"] == "control-plane" && (l["component"] == "etcd" || l["component"] == "kube-apiserver") {
				t.Errorf("%s: kubeadm takes the pod for its own: %v", f.Path, l)
			}
		}
	})
}

// One host must not have two listeners on a port or two stores on a directory.
func TestHostsDoNotCollide(t *testing.T) {
	each(t, func(t *testing.T, _ *plan.Plan, files []file.File) {
		ports := map[string]string{"6443": "kube-apiserver", "2379": "etcd", "2380": "etcd", "2381": "etcd", "10257": "kube-controller-manager", "10259": "kube-scheduler", "10250": "kubelet"}
		taken := map[string]map[string]string{}
		for _, f := range files {
			dir := filepath.Dir(f.Path)
			if !strings.HasPrefix(dir, "manifests/") {
				continue
			}
			if taken[dir] == nil {
				taken[dir] = maps.Clone(ports)
			}
			for _, use := range uses(t, f) {
				if by := taken[dir][use]; by != "" {
					t.Errorf("%s: %s is taken by %s", f.Path, use, by)
				}
				taken[dir][use] = f.Path
			}
		}
	})
}

// uses are the ports and directories that a pod has to itself.
func uses(t *testing.T, f file.File) []string {
	pod, err := judge.Pod(f.Data)
	if err != nil {
		t.Fatal(err)
	}
	flags, err := judge.Flags(pod.Spec.Containers[0])
	if err != nil {
		t.Fatal(err)
	}
	var uses []string
	for _, name := range []string{"listen-client-urls", "listen-peer-urls", "listen-metrics-urls", "secure-port", "data-dir"} {
		value, _, _ := strings.Cut(flags[name], ",")
		if value != "" {
			uses = append(uses, value[strings.LastIndexAny(value, ":")+1:])
		}
	}
	return uses
}

// rendered is what kubeadm of this build makes of init.yaml on the first host,
// through the same functions that kubeadm init calls, with our patches applied.
func rendered(t *testing.T, files []file.File) (pods map[string]corev1.Pod, cfg *kubeadmapi.InitConfiguration) {
	t.Helper()
	i := slices.IndexFunc(files, func(f file.File) bool { return f.Path == "init.yaml" })
	cfg, err := config.BytesToInitConfiguration(files[i].Data, true)
	if err != nil {
		t.Fatal(err)
	}
	pods = controlplane.GetStaticPodSpecs(&cfg.ClusterConfiguration, &cfg.LocalAPIEndpoint, []kubeadmapi.EnvVar{})
	pods["etcd"] = etcd.GetEtcdPodSpec(&cfg.ClusterConfiguration, &cfg.LocalAPIEndpoint, cfg.NodeRegistration.Name, nil)
	if cfg.Patches == nil {
		return pods, cfg
	}
	dir := t.TempDir()
	for _, f := range files {
		if name, ok := strings.CutPrefix(f.Path, "patches/"); ok {
			if err := os.WriteFile(filepath.Join(dir, name), f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, pod := range pods {
		patched, err := staticpod.PatchStaticPod(&pod, dir, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		pods[name] = *patched
	}
	return pods, cfg
}

// The apiserver that kubeadm starts has one override flag, the caches and
// gates of the plan, all of kubeadm's own flags, and probes past the stores
// that may be lost.
func TestKubeadmRendersThePlan(t *testing.T) {
	each(t, func(t *testing.T, p *plan.Plan, files []file.File) {
		pods, _ := rendered(t, files)
		c := pods["kube-apiserver"].Spec.Containers[0]
		flags, err := judge.Flags(c)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range p.Tiers[0].Flags {
			if flags[name] != want {
				t.Errorf("--%s=%s, want %s", name, flags[name], want)
			}
		}
		for _, name := range []string{"advertise-address", "authorization-mode", "enable-admission-plugins", "etcd-servers", "tls-cert-file"} {
			if flags[name] == "" {
				t.Errorf("kubeadm's --%s is gone", name)
			}
		}
		if got, want := flags["etcd-servers-overrides"], overrides(p); got != want {
			t.Errorf("overrides %q, want %q", got, want)
		}
		live, ready := c.LivenessProbe.HTTPGet.Path, c.ReadinessProbe.HTTPGet.Path
		for n, s := range p.Stores[1:] {
			check := "etcd-override-" + string(rune('0'+n))
			if strings.Contains(live, check) == s.ServesLiveness || strings.Contains(ready, check) == s.ServesLiveness {
				t.Errorf("store %s serves liveness %t, probes %s and %s", s.Name, s.ServesLiveness, live, ready)
			}
		}
		if c.StartupProbe.HTTPGet.Path != live {
			t.Errorf("startup probe %s, liveness probe %s", c.StartupProbe.HTTPGet.Path, live)
		}
		env := map[string]string{}
		for _, e := range c.Env {
			env[e.Name] = e.Value
		}
		if diff := cmp.Diff(p.Tiers[0].Env, env, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("environment (-want +got):\n%s", diff)
		}
	})
}

// overrides spells out the plan's routes without the code under test.
func overrides(p *plan.Plan) string {
	var items []string
	for _, r := range p.Routes {
		s, _ := p.Store(r.Store)
		var urls []string
		for _, m := range s.Members {
			h, _ := p.Host(m)
			if len(p.ControlPlane.Hosts) == 1 {
				h.Address = "127.0.0.1"
			}
			urls = append(urls, "https://"+h.Address+":"+itoa(s.ClientPort))
		}
		items = append(items, r.Group+"/"+r.Resource+"#"+strings.Join(urls, ";"))
	}
	return strings.Join(items, ",")
}

// kubeadm's etcd gets the quota, and nothing else of it changes.
func TestKubeadmEtcd(t *testing.T) {
	each(t, func(t *testing.T, p *plan.Plan, files []file.File) {
		pods, cfg := rendered(t, files)
		flags, err := judge.Flags(pods["etcd"].Spec.Containers[0])
		if err != nil {
			t.Fatal(err)
		}
		if got, want := flags["quota-backend-bytes"], itoa(int(p.Stores[0].QuotaBytes)); got != want {
			t.Errorf("quota %s, want %s", got, want)
		}
		cfg.Etcd.Local.ExtraArgs = nil
		plain := etcd.GetEtcdPodSpec(&cfg.ClusterConfiguration, &cfg.LocalAPIEndpoint, "cp-1", nil)
		want, err := judge.Flags(plain.Spec.Containers[0])
		if err != nil {
			t.Fatal(err)
		}
		delete(flags, "quota-backend-bytes")
		if diff := cmp.Diff(want, flags); diff != "" {
			t.Errorf("kubeadm's own flags changed (-want +got):\n%s", diff)
		}
	})
}

func mustFlags(t *testing.T, c corev1.Container) map[string]string {
	t.Helper()
	flags, err := judge.Flags(c)
	if err != nil {
		t.Fatal(err)
	}
	return flags
}
