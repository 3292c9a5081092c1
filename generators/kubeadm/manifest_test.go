package kubeadm_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubeseams/seams/generators/internal/plantest"
	"github.com/kubeseams/seams/generators/kubeadm"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

const manifest = `# ours
apiVersion: v1
kind: Pod
metadata:
  name: kube-apiserver
spec:
  containers:
  - command:
    - kube-apiserver
    - --advertise-address=10.0.0.11 # here
    - --feature-gates=AllAlpha=false
    - --max-requests-inflight=2000
    - --etcd-servers-overrides=/pods#https://10.9.9.9:2379
    livenessProbe:
      httpGet: {path: /livez, port: 6443}
    name: kube-apiserver
`

func TestMergeManifest(t *testing.T) {
	p := plantest.EventsLeases(target.Target{Kubernetes: plantest.Version(36), Platform: target.Kubeadm}, 3)
	p.Tiers[0].Flags["max-requests-inflight"] = "640"
	p.Tiers[0].FeatureGates = map[string]bool{"ShardedListAndWatch": true}
	out, fs, err := kubeadm.MergeManifest([]byte(manifest), p, "kube-apiserver")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# ours\n", "--advertise-address=10.0.0.11 # here\n", "    - --feature-gates=AllAlpha=false,ShardedListAndWatch=true\n", "    - --max-requests-inflight=2000\n",
		"    - --etcd-servers-overrides=/pods#https://10.9.9.9:2379,/events#", "httpGet: {path: \"/livez?exclude=etcd-override-0",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if !slices.ContainsFunc(fs, func(f finding.Finding) bool { return f.Code == "kubeadm-capacity-kept" }) {
		t.Errorf("findings are %v", fs)
	}
	again, _, err := kubeadm.MergeManifest(out, p, "kube-apiserver")
	if err != nil || string(again) != string(out) {
		t.Errorf("%v, a second time changes it:\n%s", err, again)
	}
}

func TestMergeManifestRefuses(t *testing.T) {
	p := plantest.EventsLeases(target.Target{Kubernetes: plantest.Version(36), Platform: target.Kubeadm}, 3)
	twice := strings.Replace(manifest, "    - --feature-gates", "    - --etcd-servers-overrides=/x#https://a\n    - --feature-gates", 1)
	apart := strings.Replace(manifest, "--etcd-servers-overrides=/pods", "--etcd-servers-overrides\n    - /pods", 1)
	for name, text := range map[string]string{"twice": twice, "apart": apart} {
		out, fs, err := kubeadm.MergeManifest([]byte(text), p, "kube-apiserver")
		if err != nil || !slices.ContainsFunc(fs, func(f finding.Finding) bool { return f.Code == "kubeadm-merge-refused" }) {
			t.Errorf("%s: %v, findings %v in\n%s", name, err, fs, out)
		}
	}
	if _, _, err := kubeadm.MergeManifest([]byte(manifest), p, "etcd"); err == nil {
		t.Error("a pod without etcd was taken for one")
	}
}

func TestMergeManifestOthers(t *testing.T) {
	p := plantest.EventsLeases(target.Target{Kubernetes: plantest.Version(36), Platform: target.Kubeadm}, 3)
	p.Scheduler.QPS, p.Scheduler.Burst = 100, 100
	pod := func(program string, flags ...string) string {
		return "kind: Pod\nspec:\n  containers:\n  - name: x\n    args: [" + strings.Join(flags, ", ") + "]\n    command: [" + program + "]\n"
	}
	own := pod("kube-scheduler", "--config=/etc/own.yaml")
	if out, fs, err := kubeadm.MergeManifest([]byte(own), p, "kube-scheduler"); err != nil || string(out) != own || len(fs) != 1 || fs[0].Code != "kubeadm-scheduler-config" {
		t.Errorf("%v, %v\n%s", err, fs, out)
	}
	out, _, err := kubeadm.MergeManifest([]byte(pod("kube-scheduler", "--v=2")), p, "kube-scheduler")
	if err != nil || !strings.Contains(string(out), "--config=/etc/kubernetes/seams/scheduler.yaml") || !strings.Contains(string(out), "volumes:") || !strings.Contains(string(out), "volumeMounts:") {
		t.Errorf("%v\n%s", err, out)
	}
	large := pod("etcd", "--quota-backend-bytes=99999999999")
	if out, fs, err := kubeadm.MergeManifest([]byte(large), p, "etcd"); err != nil || string(out) != large || len(fs) != 1 {
		t.Errorf("%v, %v\n%s", err, fs, out)
	}
}
