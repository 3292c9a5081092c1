package check

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/target"
)

// TestHostsOfDifferentVersions: in the middle of an upgrade each host's pods are
// judged for the version that they run, whichever host comes first.
func TestHostsOfDifferentVersions(t *testing.T) {
	t.Parallel()
	pod := func(host, image, flag string) file.File {
		return file.File{Path: host + "/kube-apiserver.yaml", Data: []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: kube-apiserver, namespace: kube-system}\n" +
			"spec:\n  containers:\n  - name: kube-apiserver\n    image: " + image + "\n    command: [kube-apiserver, " + flag + "]\n")}
	}
	// SidecarContainers went with 1.36, and is locked before.
	const gate, bogus = "--feature-gates=SidecarContainers=true", "--bogus-flag=1"
	for name, c := range map[string]struct {
		files []file.File
		want  []string
	}{
		"the older first": {
			[]file.File{pod("a", "registry.k8s.io/kube-apiserver:v1.33.4", bogus), pod("b", "registry.k8s.io/kube-apiserver:v1.34.1", bogus), pod("c", "example.com:5000/x/kube-apiserver-arm64:v1.32.9-7@sha256:aa", bogus)},
			[]string{"a flags-not-checked", "b flag-unknown", "c flags-not-checked"},
		},
		"the newer first": {
			[]file.File{pod("a", "registry.k8s.io/kube-apiserver:v1.37.2", gate), pod("b", "registry.k8s.io/kube-apiserver:v1.34.1", gate)},
			[]string{"a gate-not-in-version", "b gate-no-effect"},
		},
		"the newer last": {
			[]file.File{pod("a", "registry.k8s.io/kube-apiserver:v1.34.1", gate), pod("b", "registry.k8s.io/kube-apiserver:v1.37.2", gate)},
			[]string{"a gate-no-effect", "b gate-not-in-version"},
		},
		"no version told": {
			[]file.File{pod("a", "example.com/ours/apiserver:7", bogus), pod("b", "registry.k8s.io/kube-apiserver:latest", bogus)},
			[]string{"a flag-unknown", "b flag-unknown"},
		},
	} {
		version, _ := target.ParseVersion("1.37")
		var got []string
		for _, f := range Check(Input{Existing: true, Files: c.files, Target: target.Target{Kubernetes: version}}) {
			if strings.HasPrefix(f.Code, "flag") || strings.HasPrefix(f.Code, "gate") {
				got = append(got, f.File[:1]+" "+f.Code)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
