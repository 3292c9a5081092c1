package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
)

const (
	liveConfig = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\napiServer:\n  extraArgs:\n  - {name: goaway-chance, value: \"0.001\"}\n  - {name: event-ttl, value: 20m}\n"
	livePod    = "apiVersion: v1\nkind: Pod\nmetadata: {name: kube-apiserver, namespace: kube-system}\nspec:\n  hostNetwork: true\n  containers:\n  - name: kube-apiserver\n    image: i\n    command:\n    - kube-apiserver\n    - --event-ttl=30m\n    - --v=2\n    - --etcd-servers=https://127.0.0.1:2379\n"
	liveEtcd   = "apiVersion: v1\nkind: Pod\nmetadata: {name: NAME, namespace: kube-system}\nspec:\n  hostNetwork: true\n  containers:\n  - name: etcd\n    image: registry.k8s.io/etcd:3.7.0-0\n    command:\n    - etcd\n    - --data-dir=/var/lib/NAME\n    - --listen-client-urls=http://127.0.0.1:PORT\n    - --listen-peer-urls=http://127.0.0.1:1PORT\n    volumeMounts: [{name: d, mountPath: /var/lib/NAME}]\n  volumes: [{name: d, hostPath: {path: /var/lib/NAME}}]\n"
)

// TestExisting: of what runs today, absence proves nothing, and kubeadm's
// manifests are compared with kubeadm's configuration.
func TestExisting(t *testing.T) {
	t.Parallel()
	files := []file.File{
		{Path: "config.yaml", Data: []byte(liveConfig)},
		{Path: "manifests/kube-apiserver.yaml", Data: []byte(livePod)},
		{Path: "manifests/events.yaml", Data: []byte(strings.NewReplacer("NAME", "events", "PORT", "2383").Replace(liveEtcd))},
		{Path: "manifests/leases.yaml", Data: []byte(strings.NewReplacer("NAME", "leases", "PORT", "2386").Replace(liveEtcd))},
	}
	want := []string{
		"config.yaml 6 warning upgrade-adds-flag",
		"manifests/kube-apiserver.yaml 11 warning upgrade-changes-flag",
		"manifests/kube-apiserver.yaml 12 error upgrade-drops-flag",
		"manifests/leases.yaml 11 info etcd-same-disk",
	}
	var got []string
	for _, f := range Check(Input{Files: files, Target: newest, Existing: true}) {
		got = append(got, f.File+" "+brief([]finding.Finding{f})[0])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if judged := brief(Check(Input{Files: files, Target: newest})); !slices.Contains(judged, "3 error pod-name-conflict") {
		t.Errorf("of files that are to run, one pod is too many: %v", judged)
	}
}

// TestVersionsOfKubeadm: API versions that only existing files have.
func TestVersionsOfKubeadm(t *testing.T) {
	t.Parallel()
	old := minor(30)
	v4 := "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.30.0\n"
	if got := brief(Check(Input{Files: []file.File{{Path: "a.yaml", Data: []byte(v4)}}, Target: old, Existing: true})); !slices.Contains(got, "1 error kubeadm-newer-api") {
		t.Errorf("v1beta4 in 1.30: %v", got)
	}
	v1 := "apiVersion: kubeadm.k8s.io/v1\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\napiServer:\n  extraArgs:\n  - {name: event-ttl, value: 30m, mergeMethod: append}\n  - {name: enable-admission-plugins, value: \",PodNodeSelector\", mergeMethod: append}\n"
	got := brief(Check(Input{Files: []file.File{{Path: "a.yaml", Data: []byte(v1)}}, Target: newest, Experimental: true}))
	if diff := cmp.Diff([]string{"6 error kubeadm-merge-ignored"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCommands: command lines that stand in no manifest.
func TestCommands(t *testing.T) {
	t.Parallel()
	in := Input{Target: newest, Existing: true, Commands: []Command{{
		File: "a.flags", Component: "kube-apiserver",
		Words: []Word{{"--event-ttl=0", 3}, {"--etcd-servers-overrides", 4}, {"/events#https://a:2379,https://b:2379", 5}, {"--no-such-flag", 7}},
	}}}
	want := []string{"3 error event-ttl-zero", "5 error override-comma-between-servers", "7 error flag-unknown"}
	if diff := cmp.Diff(want, brief(Check(in))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
