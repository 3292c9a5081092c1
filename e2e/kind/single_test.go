//go:build kind

package kind

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubeseams/seams/e2e/kind/cluster"
)

// Of testdata/single.cue: the name of its control plane, and the ports of its
// stores, which the plan gives in the order of the stores.
const (
	single     = "single-control-plane"
	mainPort   = 2379
	eventsPort = 2383
	leasesPort = 2386
)

// rungs put events and leases apart and open lists to shards.
var rungs = []string{"--rung", "node/leases-store", "--rung", "churn/leases-store", "--rung", "state/client-shards"}

// TestSingle brings one control plane and a worker up from what is rendered and
// looks at what really runs. Its parts share the cluster, in their order.
func TestSingle(t *testing.T) {
	dir := render(t, "kind", "single.cue", rungs...)
	want := read(t, dir)
	c := up(t, dir)
	t.Run("pods work", func(t *testing.T) { podsWork(t, c) })
	t.Run("stores", func(t *testing.T) { stores(t, c) })
	t.Run("settings in force", func(t *testing.T) { inForce(t, c, single, want) })
	t.Run("shards", func(t *testing.T) { shards(t, c) })
	t.Run("events store dead", func(t *testing.T) { eventsStoreDead(t, c) })
	t.Run("upgrade keeps the settings", func(t *testing.T) {
		spoil(t, c)
		t.Run("a custom resource without a watch cache", func(t *testing.T) { uncached(t, c) })
		t.Run("events store dead with plain probes", func(t *testing.T) { plainProbes(t, c) })
		upgrade(t, c)
		inForce(t, c, single, want)
		probesExclude(t, c)
		stores(t, c)
	})
}

// podsWork waits for the cluster's DNS: pods on the network, a Service, and the
// controllers that make them.
func podsWork(t *testing.T, c *cluster.Cluster) {
	kubectl(t, c, "-n", "kube-system", "rollout", "status", "deployment/coredns", "--timeout=120s")
	kubectl(t, c, "-n", "kube-system", "wait", "--for=condition=Ready", "pods", "--all", "--timeout=120s")
}

// stores reads every etcd of the only control plane.
func stores(t *testing.T, c *cluster.Cluster) { storesAt(t, c, single) }

// storesAt reads every etcd of a control plane: what is routed away is in its
// store and nowhere else.
func storesAt(t *testing.T, c *cluster.Cluster, host string) {
	t.Helper()
	for _, s := range []struct {
		prefix string
		home   int
	}{{"/registry/events/", eventsPort}, {"/registry/leases/", leasesPort}, {"/registry/pods/", mainPort}} {
		for _, port := range []int{mainPort, eventsPort, leasesPort} {
			n := keys(t, c, host, port, s.prefix)
			if port == s.home && n == 0 {
				t.Errorf("%s: no %s in its store at %d", host, s.prefix, port)
			}
			if port != s.home && n > 0 {
				t.Errorf("%s: %d keys of %s in the store at %d, which is not theirs", host, n, s.prefix, port)
			}
		}
	}
}

// shards lists two halves of a hundred objects. An apiserver without the gate
// ignores the parameter and sends everything twice.
func shards(t *testing.T, c *cluster.Cluster) {
	const objects = 100
	var manifest strings.Builder
	for i := range objects {
		fmt.Fprintf(&manifest, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: shard-%d, namespace: default, labels: {of: shards}}\n", i)
	}
	if err := c.Apply(t.Context(), manifest.String()); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, bounds := range [][2]string{{"0x0000000000000000", "0x8000000000000000"}, {"0x8000000000000000", "0x10000000000000000"}} {
		selector := fmt.Sprintf("shardRange(object.metadata.uid, '%s', '%s')", bounds[0], bounds[1])
		path := "/api/v1/namespaces/default/configmaps?labelSelector=of%3Dshards&shardSelector=" + strings.NewReplacer(" ", "%20", "'", "%27", ",", "%2C").Replace(selector)
		var list struct {
			Items []struct {
				Metadata struct{ Name string }
			}
		}
		if err := json.Unmarshal([]byte(kubectl(t, c, "get", "--raw", path)), &list); err != nil {
			t.Fatal(err)
		}
		// Both halves are even but for chance: 20 of 100 is six deviations away.
		if n := len(list.Items); n < objects/5 || n > objects*4/5 {
			t.Errorf("%d of %d objects in the shard from %s", n, objects, bounds[0])
		}
		for _, item := range list.Items {
			seen[item.Metadata.Name]++
		}
	}
	for name, times := range seen {
		if times != 1 {
			t.Errorf("%s is in %d shards", name, times)
		}
	}
	if len(seen) != objects {
		t.Errorf("the shards have %d of %d objects", len(seen), objects)
	}
}

// twoCustom define a resource that the flag of spoil names, and one that it does not.
const twoCustom = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: %[1]s.cold.example.dev},
spec: {group: cold.example.dev, scope: Namespaced, names: {plural: %[1]s, kind: %[2]s},
versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`

// uncached looks for what recipes with uncached custom resources rest on, which
// upstream does not document: --watch-cache-sizes turns their cache off as well.
// A minor that ends this fails here.
func uncached(t *testing.T, c *cluster.Cluster) {
	for plural, kind := range map[string]string{"records": "Record", "others": "Other"} {
		if err := c.Apply(t.Context(), fmt.Sprintf(twoCustom, plural, kind)); err != nil {
			t.Fatal(err)
		}
		// The server makes the storage of a resource when it is first asked for it.
		eventually(t, time.Minute, func(ctx context.Context) error {
			_, err := c.Kubectl(ctx, "get", plural+".cold.example.dev")
			return err
		})
	}
	caches := func(plural string) bool {
		for line := range strings.Lines(kubectl(t, c, "get", "--raw", "/metrics")) {
			if strings.HasPrefix(line, "apiserver_watch_cache_initializations_total{") && strings.Contains(line, plural) {
				return true
			}
		}
		return false
	}
	if !caches("others") {
		t.Error("a custom resource has no watch cache by default: the figures of recipes count one")
	}
	if caches("records") {
		t.Error("--watch-cache-sizes=records.cold.example.dev#0 leaves the watch cache on: WatchCacheSizesReachCustomResources is false for this version")
	}
}

// event writes one.
func event(t *testing.T, c *cluster.Cluster, name string) error {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return c.Apply(ctx, fmt.Sprintf(`{apiVersion: v1, kind: Event, metadata: {name: %s, namespace: default}, reason: Test, message: test,
involvedObject: {kind: Pod, namespace: default, name: x}, type: Normal}`, name))
}

// apiserverManifest is kubeadm's.
const apiserverManifest = "/etc/kubernetes/manifests/kube-apiserver.yaml"

// spoil takes the rendered patches out of the manifest, and gives it a flag that
// uncached looks at. kubeadm leaves a manifest alone that is what it would write:
// only so does the upgrade have to apply the patches.
func spoil(t *testing.T, c *cluster.Cluster) {
	before := container(t, c, single, "kube-apiserver")
	node(t, c, single, "sed", "-i", "-e", "s/?exclude=[^ ]*//",
		"-e", "s/^\\( *\\)- kube-apiserver$/&\\n\\1- --watch-cache-sizes=records.cold.example.dev#0/", apiserverManifest)
	eventually(t, 2*time.Minute, func(ctx context.Context) error {
		now, err := c.Exec(ctx, single, "crictl", "ps", "-q", "--name", "^kube-apiserver$")
		if err != nil {
			return err
		}
		if now = strings.TrimSpace(now); now == "" || now == before {
			return fmt.Errorf("the apiserver of the spoilt manifest does not run yet")
		}
		_, err = c.Kubectl(ctx, "get", "--raw", "/readyz")
		return err
	})
	if manifest := node(t, c, single, "cat", apiserverManifest); strings.Contains(manifest, "exclude=") {
		t.Fatalf("the manifest still has its patches:\n%s", manifest)
	}
}

// upgrade runs kubeadm with the UpgradeConfiguration of the same profile
// rendered for kubeadm, to the version that runs: the same steps, without a download.
func upgrade(t *testing.T, c *cluster.Cluster) {
	config := filepath.Join(render(t, "kubeadm", "single.cue", rungs...), "upgrade.yaml")
	if _, err := os.Stat(config); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "docker", "cp", config, single+":/upgrade.yaml").CombinedOutput(); err != nil {
		t.Fatalf("docker cp: %v\n%s", err, out)
	}
	// A container fails the checks of kernel modules and swap, on create too.
	t.Log(node(t, c, single, "kubeadm", "upgrade", "apply", "--yes", "--config", "/upgrade.yaml",
		"--ignore-preflight-errors=all", "--kubeconfig", "/etc/kubernetes/admin.conf"))
	kubectl(t, c, "wait", "--for=condition=Ready", "nodes", "--all", "--timeout=120s")
	kubectl(t, c, "-n", "kube-system", "wait", "--for=condition=Ready", "pods", "--all", "--timeout=180s")
}

// probesExclude sees that kubeadm put the rendered patches on its new manifest.
func probesExclude(t *testing.T, c *cluster.Cluster) {
	manifest := node(t, c, single, "cat", apiserverManifest)
	for _, want := range []string{"/livez?exclude=etcd-override-0", "/readyz?exclude=etcd-override-0"} {
		if !strings.Contains(manifest, want) {
			t.Errorf("the manifest after the upgrade has no probe of %s", want)
		}
	}
}
