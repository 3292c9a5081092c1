package staticpod_test

import (
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	kubeadmapi "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/controlplane"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/etcd"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/config"
	kubeletscheme "k8s.io/kubernetes/pkg/kubelet/apis/config/scheme"
	schedulerscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"

	"github.com/kubeseams/seams/generators/internal/judge"
	"github.com/kubeseams/seams/generators/internal/plantest"
	"github.com/kubeseams/seams/generators/kubeadm"
	"github.com/kubeseams/seams/generators/staticpod"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/target"
)

func each(t *testing.T, run func(t *testing.T, p *plan.Plan, files map[string][]byte)) {
	for _, v := range target.Minors() {
		for _, c := range plantest.Cases(target.StaticPod, v.Minor) {
			t.Run(v.Line()+"/"+c.Name, func(t *testing.T) {
				files, findings, err := staticpod.Generate(c.Plan)
				if err != nil {
					t.Fatal(err)
				}
				if finding.AtLeast(findings, finding.Warning) {
					t.Fatalf("findings on a plan without fault: %v", findings)
				}
				run(t, c.Plan, byPath(files))
			})
		}
	}
}

func byPath(files []file.File) map[string][]byte {
	m := map[string][]byte{}
	for _, f := range files {
		m[f.Path] = f.Data
	}
	return m
}

// The kubelet takes every pod, each program knows its flags, and every host
// has a complete control plane.
func TestPodsValidate(t *testing.T) {
	each(t, func(t *testing.T, p *plan.Plan, files map[string][]byte) {
		for name, data := range files {
			if !strings.HasPrefix(name, "manifests") {
				continue
			}
			pod, err := judge.Pod(data)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			flags, err := judge.Flags(pod.Spec.Containers[0])
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if err := judge.KnownFlags(p.Target.Kubernetes, pod.Spec.Containers[0].Command[0], flags); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if path.Base(name) != pod.Name+".yaml" {
				t.Errorf("%s holds pod %s", name, pod.Name)
			}
		}
		for _, h := range p.ControlPlane.Hosts {
			for _, pod := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
				if files["manifests/"+h.Name+"/"+pod+".yaml"] == nil {
					t.Errorf("host %s has no %s", h.Name, pod)
				}
			}
		}
	})
}

// The scheduler and the kubelet take their files, with unknown fields an error.
func TestConfigsDecode(t *testing.T) {
	_, kubelet, err := kubeletscheme.NewSchemeAndCodecs(serializer.EnableStrict)
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, _ *plan.Plan, files map[string][]byte) {
		if data := files[staticpod.KubeletConfigPath]; data != nil {
			if _, _, err := kubelet.UniversalDecoder().Decode(data, nil, nil); err != nil {
				t.Errorf("kubelet: %v", err)
			}
		}
		if data := files["scheduler.yaml"]; data != nil {
			if _, _, err := schedulerscheme.Codecs.UniversalDecoder().Decode(data, nil, nil); err != nil {
				t.Errorf("scheduler: %v", err)
			}
		}
	})
}

// What kubeadm would render for the same plan on the same host is what is
// rendered here, but for what the comments say.
func TestPodsAreLikeKubeadms(t *testing.T) {
	for _, c := range plantest.Cases(target.StaticPod, 37) {
		t.Run(c.Name, func(t *testing.T) {
			ours, _, err := staticpod.Generate(c.Plan)
			if err != nil {
				t.Fatal(err)
			}
			theirs, _, err := kubeadm.Generate(c.Plan)
			if err != nil {
				t.Fatal(err)
			}
			cfg, err := config.BytesToInitConfiguration(byPath(theirs)["init.yaml"], true)
			if err != nil {
				t.Fatal(err)
			}
			pods := controlplane.GetStaticPodSpecs(&cfg.ClusterConfiguration, &cfg.LocalAPIEndpoint, []kubeadmapi.EnvVar{})
			pods["etcd"] = etcd.GetEtcdPodSpec(&cfg.ClusterConfiguration, &cfg.LocalAPIEndpoint, "cp-1", nil)
			for name, want := range pods {
				got, err := judge.Pod(byPath(ours)["manifests/cp-1/"+name+".yaml"])
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				comparePods(t, c.Plan, name, want, *got)
			}
		})
	}
}

func comparePods(t *testing.T, p *plan.Plan, name string, want, got corev1.Pod) {
	t.Helper()
	a, b := want.Spec.Containers[0], got.Spec.Containers[0]
	wantFlags, gotFlags := flags(t, a), flags(t, b)
	switch name {
	case "etcd":
		// All members begin together, with a token; 10000 is etcd's own default.
		for _, f := range []string{"initial-cluster", "initial-cluster-state", "initial-cluster-token", "snapshot-count"} {
			delete(wantFlags, f)
			delete(gotFlags, f)
		}
	case "kube-apiserver":
		// kubeadm's is bound to its host's member.
		if n := strings.Count(gotFlags["etcd-servers"], "https://"); n != len(p.Stores[0].Members) {
			t.Errorf("%d etcd servers for %d members", n, len(p.Stores[0].Members))
		}
		delete(wantFlags, "etcd-servers")
		delete(gotFlags, "etcd-servers")
		// kubeadm's probes come from the patch, which its own test applies.
		a.LivenessProbe, a.ReadinessProbe, a.StartupProbe = b.LivenessProbe, b.ReadinessProbe, b.StartupProbe
	case "kube-controller-manager":
		// kubeadm uses two old names of controllers.
		wantFlags["controllers"] = strings.NewReplacer("bootstrapsigner", "bootstrap-signer-controller", "tokencleaner", "token-cleaner-controller").Replace(wantFlags["controllers"])
	}
	if diff := cmp.Diff(wantFlags, gotFlags); diff != "" {
		t.Errorf("%s: flags (-kubeadm +ours):\n%s", name, diff)
	}
	if diff := cmp.Diff(env(a), env(b)); diff != "" {
		t.Errorf("%s: environment (-kubeadm +ours):\n%s", name, diff)
	}
	for _, m := range b.VolumeMounts {
		if !hasMount(a, m.MountPath) {
			t.Errorf("%s: kubeadm does not mount %s", name, m.MountPath)
		}
	}
	for _, diff := range []string{cmp.Diff(a.Image, b.Image), cmp.Diff(a.LivenessProbe, b.LivenessProbe), cmp.Diff(a.ReadinessProbe, b.ReadinessProbe),
		cmp.Diff(a.StartupProbe, b.StartupProbe), cmp.Diff(a.Ports, b.Ports), cmp.Diff(want.Spec.Priority, got.Spec.Priority),
		cmp.Diff(want.Spec.SecurityContext, got.Spec.SecurityContext), cmp.Diff(want.Labels, got.Labels)} {
		if diff != "" {
			t.Errorf("%s (-kubeadm +ours):\n%s", name, diff)
		}
	}
}

// hasMount reports whether a container mounts a path.
func hasMount(c corev1.Container, path string) bool {
	for _, m := range c.VolumeMounts {
		if m.MountPath == path {
			return true
		}
	}
	return false
}

func env(c corev1.Container) map[string]string {
	m := map[string]string{}
	for _, e := range c.Env {
		m[e.Name] = e.Value
	}
	return m
}

func flags(t *testing.T, c corev1.Container) map[string]string {
	t.Helper()
	f, err := judge.Flags(c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
