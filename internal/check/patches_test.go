package check

import (
	"fmt"
	"testing"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

// TestPatchesOfKubeadmsPods: what a user patches most is there in every pod that
// kubeadm makes, and the patched pod is a valid one.
func TestPatchesOfKubeadmsPods(t *testing.T) {
	t.Parallel()
	const config = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v%s\n"
	for _, at := range target.Minors() {
		for _, component := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"} {
			for name, patch := range map[string]string{
				"+strategic.yaml": "spec: {containers: [{name: " + component + ", resources: {requests: {cpu: \"2\"}}}]}\n",
				"0+merge.yaml":    "spec: {priority: 2000001000}\n",
				"1+json.yaml": "- {op: replace, path: /spec/containers/0/resources/requests/cpu, value: \"2\"}\n" +
					"- {op: add, path: /spec/containers/0/volumeMounts/-, value: {name: more, mountPath: /more}}\n" +
					"- {op: add, path: /spec/volumes/-, value: {name: more, hostPath: {path: /more}}}\n" +
					"- {op: replace, path: /spec/containers/0/livenessProbe/failureThreshold, value: 10}\n",
			} {
				got := Check(Input{Target: target.Target{Kubernetes: at, Platform: target.Kubeadm}, Existing: true, Files: []file.File{
					{Path: "init.yaml", Data: []byte(fmt.Sprintf(config, at))},
					{Path: "patches/" + component + name, Data: []byte(patch)},
				}})
				for _, f := range got {
					if f.Severity == finding.Error {
						t.Errorf("%s %s%s: %s", at, component, name, f)
					}
				}
			}
		}
	}
	// The etcd has an annotation, its address, and a port, that of its probes.
	got := Check(Input{Existing: true, Files: []file.File{
		{Path: "init.yaml", Data: []byte(fmt.Sprintf(config, "1.37.2"))},
		{Path: "patches/etcd+json.yaml", Data: []byte("- {op: add, path: /metadata/annotations/x, value: \"y\"}\n- {op: add, path: /spec/containers/0/ports/0/hostPort, value: 2381}\n")},
	}})
	if finding.AtLeast(got, finding.Error) {
		t.Error(got)
	}
}
