package kubeadm_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/kubernetes/cmd/kubeadm/app/constants"
	"k8s.io/kubernetes/cmd/kubeadm/app/images"

	"github.com/kubeseams/seams/generators/internal/judge"
	"github.com/kubeseams/seams/generators/internal/plantest"
	"github.com/kubeseams/seams/generators/kubeadm"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/target"
)

// Extra stores run what kubeadm runs, with kubeadm's certificates and settings:
// the pod differs from kubeadm's only in what makes it another cluster.
func TestExtraEtcdsAreLikeKubeadms(t *testing.T) {
	p := plantest.EventsLeases(target.Target{Kubernetes: plantest.Version(37), Platform: target.Kubeadm}, 3)
	files, _, err := kubeadm.Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	pods, cfg := rendered(t, files)
	want := pods["etcd"]
	if image := images.GetEtcdImage(&cfg.ClusterConfiguration, constants.SupportedEtcdVersion); want.Spec.Containers[0].Image != image {
		t.Fatalf("kubeadm renders %s and names %s", want.Spec.Containers[0].Image, image)
	}
	i := slices.IndexFunc(files, func(f file.File) bool { return f.Path == "manifests/cp-1/etcd-events.yaml" })
	got, err := judge.Pod(files[i].Data)
	if err != nil {
		t.Fatal(err)
	}
	gotFlags, wantFlags := mustFlags(t, got.Spec.Containers[0]), mustFlags(t, want.Spec.Containers[0])
	for name, value := range map[string]string{
		"advertise-client-urls": "https://10.0.0.11:2383", "initial-advertise-peer-urls": "https://10.0.0.11:2384",
		"listen-client-urls": "https://127.0.0.1:2383,https://10.0.0.11:2383", "listen-peer-urls": "https://10.0.0.11:2384",
		"listen-metrics-urls": "http://127.0.0.1:2385", "data-dir": "/var/lib/etcd-events", "quota-backend-bytes": itoa(int(4 * plantest.GiB)),
		"initial-cluster": "cp-1=https://10.0.0.11:2384", "initial-cluster-state": "new", "initial-cluster-token": "shop-events",
	} {
		if gotFlags[name] != value {
			t.Errorf("--%s=%s, want %s", name, gotFlags[name], value)
		}
		delete(gotFlags, name)
		delete(wantFlags, name)
	}
	delete(wantFlags, "snapshot-count") // etcd's own default is the same from 3.6
	if diff := cmp.Diff(wantFlags, gotFlags); diff != "" {
		t.Errorf("flags (-kubeadm +ours):\n%s", diff)
	}
	a, b := want.Spec.Containers[0], got.Spec.Containers[0]
	for _, diff := range []string{cmp.Diff(a.Image, b.Image), cmp.Diff(a.LivenessProbe, b.LivenessProbe), cmp.Diff(a.ReadinessProbe, b.ReadinessProbe),
		cmp.Diff(a.StartupProbe, b.StartupProbe), cmp.Diff(a.Resources.Requests.Cpu().String(), b.Resources.Requests.Cpu().String()),
		cmp.Diff(want.Spec.SecurityContext, got.Spec.SecurityContext), cmp.Diff(want.Spec.Priority, got.Spec.Priority)} {
		if diff != "" {
			t.Errorf("(-kubeadm +ours):\n%s", diff)
		}
	}
}

// A tier's apiserver is kubeadm's but for the port, the flags of the tier, and
// the endpoints of the Service kubernetes, which it stays out of.
func TestTierIsLikeKubeadmsApiserver(t *testing.T) {
	p := plantest.NodeTier(target.Target{Kubernetes: plantest.Version(37), Platform: target.Kubeadm})
	files, _, err := kubeadm.Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	pods, _ := rendered(t, files)
	want := pods["kube-apiserver"].Spec.Containers[0]
	i := slices.IndexFunc(files, func(f file.File) bool { return f.Path == "manifests/cp-1/kube-apiserver-nodes.yaml" })
	pod, err := judge.Pod(files[i].Data)
	if err != nil {
		t.Fatal(err)
	}
	got := pod.Spec.Containers[0]
	gotFlags, wantFlags := mustFlags(t, got), mustFlags(t, want)
	for name := range p.Tiers[0].Flags {
		delete(wantFlags, name)
	}
	for name, value := range map[string]string{"max-requests-inflight": "2000", "max-mutating-requests-inflight": "1000",
		"secure-port": "7443", "endpoint-reconciler-type": "none", "watch-cache-sizes": "leases.coordination.k8s.io#0"} {
		if gotFlags[name] != value {
			t.Errorf("--%s=%s, want %s", name, gotFlags[name], value)
		}
		delete(gotFlags, name)
		delete(wantFlags, name)
	}
	if diff := cmp.Diff(wantFlags, gotFlags); diff != "" {
		t.Errorf("flags (-kubeadm +ours):\n%s", diff)
	}
	for _, diff := range []string{cmp.Diff(want.LivenessProbe, got.LivenessProbe), cmp.Diff(want.ReadinessProbe, got.ReadinessProbe),
		cmp.Diff(want.StartupProbe, got.StartupProbe), cmp.Diff(want.Image, got.Image)} {
		if diff != "" {
			t.Errorf("(-kubeadm +ours):\n%s", diff)
		}
	}
}

// A group of controllers has kubeadm's flags but for what makes it a group.
func TestControllerGroupIsLikeKubeadms(t *testing.T) {
	p := plantest.Split(target.Target{Kubernetes: plantest.Version(37), Platform: target.Kubeadm})
	files, _, err := kubeadm.Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	pods, _ := rendered(t, files)
	want := mustFlags(t, pods["kube-controller-manager"].Spec.Containers[0])
	i := slices.IndexFunc(files, func(f file.File) bool { return strings.HasSuffix(f.Path, "-garbage.yaml") })
	pod, err := judge.Pod(files[i].Data)
	if err != nil {
		t.Fatal(err)
	}
	got := mustFlags(t, pod.Spec.Containers[0])
	if want["controllers"] != "*,bootstrap-signer-controller,token-cleaner-controller,-deployment-controller,-garbage-collector-controller,-job-controller,-pod-garbage-collector-controller,-replicaset-controller" {
		t.Errorf("the main controller manager runs %s", want["controllers"])
	}
	delete(want, "controllers")
	delete(want, "service-account-private-key-file")
	for name, value := range map[string]string{"controllers": "garbage-collector-controller,pod-garbage-collector-controller",
		"leader-elect-resource-name": "kube-controller-manager-garbage", "secure-port": "10357"} {
		if got[name] != value {
			t.Errorf("--%s=%s, want %s", name, got[name], value)
		}
		delete(got, name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("flags (-kubeadm +ours):\n%s", diff)
	}
}
