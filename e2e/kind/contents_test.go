//go:build kind

package kind

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubeseams/seams/e2e/kind/cluster"
)

// contents is what a change must not cost: every key of the main etcd, every
// lease, and every pod with its identity and its restarts.
type contents struct {
	keys   map[string]bool
	leases map[string]bool
	pods   map[string]string
}

// contentsOf reads a cluster. Keys of events and leases are left out, which
// move; so are masterleases, which apiservers renew, and static pods and what
// comes and goes with a certificate request, whose names change with the hosts.
func contentsOf(t *testing.T, c *cluster.Cluster, host string) contents {
	t.Helper()
	got := contents{keys: map[string]bool{}, leases: map[string]bool{}, pods: podsOf(t, c)}
	out, err := etcdctl(t.Context(), c, host, mainPort, "get", "/registry/", "--prefix", "--keys-only")
	if err != nil {
		t.Fatal(err)
	}
	for key := range strings.FieldsSeq(out) {
		switch {
		case strings.HasPrefix(key, "/registry/events/"), strings.HasPrefix(key, "/registry/leases/"), strings.HasPrefix(key, "/registry/masterleases/"):
		case strings.HasPrefix(key, "/registry/pods/kube-system/") && slices.ContainsFunc([]string{"/etcd-", "/kube-apiserver-", "/kube-controller-manager-", "/kube-scheduler-"}, func(s string) bool { return strings.Contains(key, s) }):
		default:
			got.keys[key] = true
		}
	}
	for name := range strings.FieldsSeq(kubectl(t, c, "get", "leases", "-A", "-o", `jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name}{"\n"}{end}`)) {
		got.leases[name] = true
	}
	return got
}

// podsOf gives the pods that are not a manifest's, by name, with what would
// change if one was moved or restarted.
func podsOf(t *testing.T, c *cluster.Cluster) map[string]string {
	t.Helper()
	var list corev1.PodList
	if err := json.Unmarshal([]byte(kubectl(t, c, "get", "pods", "-A", "-o", "json")), &list); err != nil {
		t.Fatal(err)
	}
	pods := map[string]string{}
	for _, p := range list.Items {
		if p.Annotations[corev1.MirrorPodAnnotationKey] != "" {
			continue
		}
		restarts := int32(0)
		for _, s := range p.Status.ContainerStatuses {
			restarts += s.RestartCount
		}
		pods[p.Namespace+"/"+p.Name] = fmt.Sprintf("%s on %s, %d restarts", p.UID, p.Spec.NodeName, restarts)
	}
	return pods
}

// keptIn reports what of before is missing in after.
func (before contents) keptIn(t *testing.T, after contents) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(before.keys)) {
		if !after.keys[key] {
			t.Errorf("lost from the main etcd: %s", key)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before.leases)) {
		if !after.leases[name] {
			t.Errorf("no lease any more: %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before.pods)) {
		if after.pods[name] != before.pods[name] {
			t.Errorf("pod %s was %s, and is %s", name, before.pods[name], after.pods[name])
		}
	}
	t.Logf("before: %d keys, %d leases, %d pods; after: %d, %d, %d", len(before.keys), len(before.leases), len(before.pods), len(after.keys), len(after.leases), len(after.pods))
}

// writtenIn reports every object whose creation was answered and that is not there.
func (w *witness) writtenIn(t *testing.T, after contents) {
	t.Helper()
	for _, name := range w.written {
		if !after.keys["/registry/configmaps/default/"+name] {
			t.Errorf("lost: configmap %s, whose creation was answered", name)
		}
	}
}

// application is a Deployment that a rollout must leave alone.
const application = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: application, namespace: default}
spec:
  replicas: 6
  selector: {matchLabels: {app: application}}
  template:
    metadata: {labels: {app: application}}
    spec:
      tolerations: [{key: node-role.kubernetes.io/control-plane, operator: Exists}]
      containers: [{name: pause, image: %s}]
`

// runApplication starts pods on all nodes, out of an image that nodes have.
func runApplication(t *testing.T, c *cluster.Cluster, host string) {
	t.Helper()
	image := ""
	for line := range strings.Lines(node(t, c, host, "crictl", "images")) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasSuffix(f[0], "/pause") {
			image = f[0] + ":" + f[1]
		}
	}
	if image == "" {
		t.Fatal("the node has no image to run")
	}
	if err := c.Apply(t.Context(), fmt.Sprintf(application, image)); err != nil {
		t.Fatal(err)
	}
	kubectl(t, c, "rollout", "status", "deployment/application", "--timeout=180s")
}
