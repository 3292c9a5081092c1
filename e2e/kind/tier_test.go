//go:build kind

package kind

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubeseams/seams/e2e/kind/cluster"
	"github.com/kubeseams/seams/e2e/kind/runbook"
)

// Of testdata/tier.cue.
const (
	tierGroup = "agents.example.dev"
	tierName  = "agents-example-dev"
	tierHost  = "tier-control-plane"
)

// sessions is the definition that the tier is to serve.
const sessions = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: sessions.agents.example.dev}
spec:
  group: agents.example.dev
  scope: Namespaced
  names: {plural: sessions, singular: session, kind: Session, listKind: SessionList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {step: {type: integer, minimum: 0}}
`

// volume is where the tier's etcd writes: the node image has no provisioner.
const volume = `
apiVersion: v1
kind: PersistentVolume
metadata: {name: tier-etcd}
spec:
  capacity: {storage: 20Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: standard
  local: {path: /var/local/tier-etcd}
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [tier-worker]}]
`

// TestTier adds an aggregated tier, as pods, to a kind cluster by the commands
// of rollout.md: the image that the rendered recipe builds, keys, workload, and
// the group's definition. What is then written to the group is in the tier's
// etcd and not in main's.
func TestTier(t *testing.T) {
	dir := render(t, "kind", "tier.cue", "--rung", "churn/aggregated-tier")
	c := up(t, dir)
	podsWork(t, c)
	t.Run("an image without a registry", func(t *testing.T) { loadsImages(t, c, dir, tierHost, "tier-worker") })
	tierIn(t, c, dir)
}

// TestSecondTier is the same with a second kube-apiserver, whose image the nodes
// have.
func TestSecondTier(t *testing.T) {
	dir := render(t, "kind", "tier-second.cue", "--rung", "churn/aggregated-tier")
	c := up(t, dir)
	podsWork(t, c)
	tierIn(t, c, dir)
}

func tierIn(t *testing.T, c *cluster.Cluster, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "CRDS.yaml"), []byte(sessions), 0o644); err != nil {
		t.Fatal(err)
	}
	node(t, c, "tier-worker", "mkdir", "-p", "/var/local/tier-etcd")
	if err := c.Apply(t.Context(), volume); err != nil {
		t.Fatal(err)
	}
	t.Run("rollout", func(t *testing.T) { addTier(t, c, dir) })
	t.Run("the tier serves", func(t *testing.T) { tierServes(t, c) })
}

// loadsImages builds the servers' image by the rendered recipe and brings it
// into the nodes by hack/kind/load-image.sh.
func loadsImages(t *testing.T, c *cluster.Cluster, dir string, nodes ...string) {
	t.Helper()
	began := time.Now()
	build := exec.CommandContext(t.Context(), "sh", filepath.Join(dir, "aggregated/image/build.sh"))
	build.Env = append(os.Environ(), "DOCKER_BUILDKIT=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build.sh: %v\n%s", err, out)
	}
	t.Logf("build.sh took %s", time.Since(began).Round(time.Second))
	const image = "registry.agents.example.dev/apiextensions-apiserver:v0.37.2"
	tar := filepath.Join(t.TempDir(), "image.tar")
	if out, err := exec.CommandContext(t.Context(), "docker", "save", "-o", tar, image).CombinedOutput(); err != nil {
		t.Fatalf("docker save: %v\n%s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), "../../hack/kind/load-image.sh", tar, c.Name).CombinedOutput(); err != nil {
		t.Fatalf("load-image.sh: %v\n%s", err, out)
	}
	for _, n := range nodes {
		name, tag, _ := strings.Cut(image, ":")
		if out := node(t, c, n, "crictl", "images", image); !strings.Contains(out, name) || !strings.Contains(out, tag) {
			t.Errorf("%s has no %s:\n%s", n, image, out)
		}
	}
}

// addTier runs the steps that follow the making of the cluster.
func addTier(t *testing.T, c *cluster.Cluster, dir string) {
	markdown, err := os.ReadFile(filepath.Join(dir, "rollout.md"))
	if err != nil {
		t.Fatal(err)
	}
	steps, err := runbook.Steps(string(markdown), "A new cluster")
	if err != nil {
		t.Fatal(err)
	}
	shell := &runbook.Shell{
		Dir: dir, Talk: t.Output(),
		Programs: map[string]string{"kubectl": need(t, "SEAMS_KUBECTL"), "seams": need(t, "SEAMS"), "kind": need(t, "SEAMS_KIND")},
		Env:      []string{"KUBECONFIG=" + c.Kubeconfig, "DOCKER_BUILDKIT=0"},
	}
	met := map[string]func(string) bool{
		"Prepare for": func(out string) bool {
			role := strings.Contains(out, "seams:aggregated-server") || strings.Contains(out, "system:auth-delegator")
			return role && strings.Contains(out, "seams-aggregated") && strings.HasSuffix(out, "yes\n")
		},
		"Start the": func(out string) bool { return strings.Contains(out, tierName) && strings.Count(out, "10.") == 2 },
		"Move the group": func(out string) bool {
			return strings.Contains(out, "seams-system/"+tierName) && strings.Contains(out, "True") && strings.Contains(out, `"v1"`)
		},
	}
	for _, s := range steps[1:] {
		began := time.Now()
		if err := shell.Run(t.Context(), withCRDs(s.Commands)); err != nil {
			t.Fatalf("%s: %v", s.Title, err)
		}
		done := false
		for title, ok := range met {
			if !strings.HasPrefix(s.Title, title) {
				continue
			}
			done = true
			eventually(t, 2*time.Minute, func(ctx context.Context) error {
				out, err := shell.Ask(ctx, s.Check)
				if err == nil && !ok(out) {
					err = fmt.Errorf("%s: want %s:\n%s", s.Title, s.Expect, out)
				}
				return err
			})
		}
		if !done {
			t.Fatalf("nobody here knows what %q shows: %s", s.Title, s.Expect)
		}
		t.Logf("%s: as expected after %s", s.Title, time.Since(began).Round(time.Second))
	}
}

// withCRDs takes the choice that the last step leaves to its reader: a group
// without objects, whose definition goes to the tier. A reader is slower than
// the port that is forwarded; a script waits for it.
func withCRDs(commands string) string {
	const wait = "\nuntil (exec 3<>/dev/tcp/127.0.0.1/9461) 2>/dev/null; do sleep 0.2; done\n"
	return strings.ReplaceAll(commands, "\n# seams tier crds ", wait+"seams tier crds ")
}

// tierServes sees sessions go to the tier's etcd, and the group outlive a server.
func tierServes(t *testing.T, c *cluster.Cluster) {
	sessionsIn(t, c, tierHost, func() int {
		return len(strings.Fields(kubectl(t, c, "-n", "seams-system", "exec", tierName+"-etcd-0", "--", "etcdctl",
			"--endpoints=https://"+tierName+"-etcd-0."+tierName+"-etcd.seams-system.svc:2379",
			"--cacert=/etc/seams/etcd/ca.crt", "--cert=/etc/seams/etcd/peer.crt", "--key=/etc/seams/etcd/peer.key",
			"get", sessionKeys, "--prefix", "--keys-only")))
	})
	// A server of two is lost: the group goes on.
	kubectl(t, c, "-n", "seams-system", "delete", "pod", "--wait=false", "-l", "app.kubernetes.io/instance="+tierName+",app.kubernetes.io/name=aggregated-server",
		"--field-selector=spec.nodeName=tier-worker")
	comesBack(t, c)
}

// comesBack sees the group after a loss, and namespaces deleted across both servers.
func comesBack(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	eventually(t, 2*time.Minute, func(ctx context.Context) error {
		_, err := c.Kubectl(ctx, "get", "sessions")
		return err
	})
	kubectl(t, c, "create", "namespace", "gone")
	kubectl(t, c, "delete", "namespace", "gone", "--timeout=60s")
}

// sessionKeys is where an etcd has sessions.
const sessionKeys = "/registry/agents.example.dev/sessions/"

// sessionsIn writes sessions through kube-apiserver and looks for them in both
// etcds, the tier's by inTier.
func sessionsIn(t *testing.T, c *cluster.Cluster, host string, inTier func() int) {
	t.Helper()
	const objects = 50
	var manifest strings.Builder
	for i := range objects {
		fmt.Fprintf(&manifest, "---\napiVersion: agents.example.dev/v1\nkind: Session\nmetadata: {name: session-%d, namespace: default}\nspec: {step: %d}\n", i, i)
	}
	// kubectl asks for the schema of a group, which a tier does not publish.
	file := filepath.Join(t.TempDir(), "sessions.yaml")
	if err := os.WriteFile(file, []byte(manifest.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	kubectl(t, c, "create", "--validate=false", "-f", file)
	if out := strings.Fields(kubectl(t, c, "get", "sessions", "-o", "name")); len(out) != objects {
		t.Errorf("%d sessions of %d are listed", len(out), objects)
	}
	if n := inTier(); n != objects {
		t.Errorf("%d sessions of %d are in the tier's etcd", n, objects)
	}
	for _, at := range []string{sessionKeys, "/registry/apiextensions.k8s.io/customresourcedefinitions/sessions." + tierGroup} {
		if n := keys(t, c, host, mainPort, at); n != 0 {
			t.Errorf("%d keys of %s are in the main etcd", n, at)
		}
	}
	// What the definition forbids is refused, by the tier.
	bad := strings.NewReplacer("session-0", "bad", "step: 0", "step: -1").Replace(strings.SplitAfter(manifest.String(), "spec: {step: 0}\n")[0])
	if err := os.WriteFile(file, []byte(bad), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Kubectl(t.Context(), "create", "--validate=false", "-f", file); err == nil || !strings.Contains(err.Error(), "greater than or equal to 0") {
		t.Errorf("a step of -1: %v", err)
	}
}
