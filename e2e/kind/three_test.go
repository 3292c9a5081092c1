//go:build kind

package kind

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubeseams/seams/e2e/kind/cluster"
	"github.com/kubeseams/seams/e2e/kind/runbook"
)

// threeRungs put events and leases apart.
var threeRungs = []string{"--rung", "node/leases-store", "--rung", "churn/leases-store"}

// hostsOf are the nodes of a cluster with three control planes as kind names them.
func hostsOf(name string) []string {
	return []string{name + "-control-plane", name + "-control-plane2", name + "-control-plane3"}
}

// TestThree brings three control planes up by what is rendered, rollout.md
// included: the extra etcds begin with one member and get the others one by
// one. Then it loses a control plane and gets it back.
func TestThree(t *testing.T) {
	dir := render(t, "kind", "three.cue", threeRungs...)
	want := read(t, dir)
	began := time.Now()
	c := up(t, dir)
	t.Logf("kind made the cluster, and every node was Ready, in %s", time.Since(began).Round(time.Second))
	hosts := hostsOf("three")
	t.Run("members join one by one", func(t *testing.T) { membersJoin(t, c, dir, hosts) })
	t.Run("pods work", func(t *testing.T) { podsWork(t, c) })
	t.Run("stores", func(t *testing.T) {
		for _, h := range hosts {
			storesAt(t, c, h)
		}
	})
	t.Run("settings in force", func(t *testing.T) {
		for _, h := range hosts {
			inForce(t, c, h, want)
		}
	})
	t.Run("a control plane lost and back", func(t *testing.T) { lostAndBack(t, c, hosts) })
}

// membersJoin runs what rollout.md says after the cluster is made, and sees
// that each extra etcd then has three voting, healthy members.
func membersJoin(t *testing.T, c *cluster.Cluster, dir string, hosts []string) {
	for _, port := range []int{eventsPort, leasesPort} {
		if n := voters(t, c, hosts[0], port); n != 1 {
			t.Errorf("the store at %d begins with %d voting members, not with one", port, n)
		}
	}
	markdown, err := os.ReadFile(filepath.Join(dir, "rollout.md"))
	if err != nil {
		t.Fatal(err)
	}
	steps, err := runbook.Steps(string(markdown), "A new cluster")
	if err != nil {
		t.Fatal(err)
	}
	if steps[0].Title != "Create the cluster" || len(steps) != 3 {
		t.Fatalf("rollout.md has other steps than this test knows: %+v", steps)
	}
	shell := &runbook.Shell{Dir: dir, Programs: map[string]string{"kubectl": need(t, "SEAMS_KUBECTL")}, Env: []string{"KUBECONFIG=" + c.Kubeconfig}}
	for _, s := range steps[1:] {
		began := time.Now()
		if err := shell.Run(t.Context(), s.Commands); err != nil {
			t.Fatalf("%s: %v", s.Title, err)
		}
		out, err := shell.Ask(t.Context(), s.Check)
		if err != nil {
			t.Fatalf("%s: %v", s.Title, err)
		}
		if n := strings.Count(out, "is healthy"); fmt.Sprintf("%d healthy endpoints", n) != s.Expect {
			t.Errorf("%s: want %s:\n%s", s.Title, s.Expect, out)
		}
		t.Logf("%s: %s", s.Title, time.Since(began).Round(time.Second))
	}
	for _, port := range []int{eventsPort, leasesPort} {
		if n := voters(t, c, hosts[0], port); n != len(hosts) {
			t.Errorf("the store at %d has %d voting members of %d", port, n, len(hosts))
		}
	}
}

// etcdctl runs etcdctl against the etcd of a node whose clients use a port.
func etcdctl(ctx context.Context, c *cluster.Cluster, host string, port int, args ...string) (string, error) {
	const pki = "/etc/kubernetes/pki/etcd/"
	id, err := c.Exec(ctx, host, "crictl", "ps", "-q", "--label", "io.kubernetes.pod.name=etcd-"+host)
	if err != nil {
		return "", err
	}
	return c.Exec(ctx, host, append([]string{"crictl", "exec", strings.TrimSpace(id), "etcdctl",
		"--endpoints", fmt.Sprintf("https://127.0.0.1:%d", port),
		"--cacert", pki + "ca.crt", "--cert", pki + "server.crt", "--key", pki + "server.key"}, args...)...)
}

// voters counts the members of a store that have a vote.
func voters(t *testing.T, c *cluster.Cluster, host string, port int) int {
	t.Helper()
	out, err := etcdctl(t.Context(), c, host, port, "member", "list", "-w", "json")
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Members []struct {
			Name      string
			IsLearner bool
		}
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	n := 0
	for _, m := range list.Members {
		if m.Name != "" && !m.IsLearner {
			n++
		}
	}
	return n
}

// lostAndBack kills a whole control plane, works on the two that are left, and
// starts it again: its members catch up by themselves, since their data is the
// host's. The last one is lost: kubectl's balancer has to notice.
func lostAndBack(t *testing.T, c *cluster.Cluster, hosts []string) {
	lost := hosts[2]
	if err := c.Stop(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	eventually(t, time.Minute, func(ctx context.Context) error {
		_, err := c.Kubectl(ctx, "create", "configmap", fmt.Sprintf("without-%d", time.Now().UnixNano()))
		return err
	})
	t.Logf("a write to main %s after the loss", time.Since(began).Round(time.Millisecond))
	eventually(t, time.Minute, func(context.Context) error { return event(t, c, "without-one") })
	// The node that is lost is noticed, by leases of a store of two members.
	eventually(t, 3*time.Minute, func(ctx context.Context) error {
		out, err := c.Kubectl(ctx, "get", "node", lost, "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].status}`)
		if err == nil && out != "Unknown" {
			err = fmt.Errorf("node %s is Ready: %s", lost, out)
		}
		return err
	})
	t.Logf("the node was taken for dead %s after the loss", time.Since(began).Round(time.Second))
	for _, n := range []string{hosts[0], hosts[1], "three-worker"} {
		kubectl(t, c, "wait", "--for=condition=Ready", "node/"+n, "--timeout=1s")
	}
	began = time.Now()
	if err := c.Start(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	kubectl(t, c, "wait", "--for=condition=Ready", "nodes", "--all", "--timeout=240s")
	for _, port := range []int{mainPort, eventsPort, leasesPort} {
		eventually(t, 3*time.Minute, func(ctx context.Context) error {
			// By name of each member: one that is away has no say for another.
			out, err := etcdctl(ctx, c, hosts[0], port, "endpoint", "health", "--cluster")
			if err == nil && strings.Count(out, "is healthy") != len(hosts) {
				err = fmt.Errorf("store at %d: %s", port, out)
			}
			return err
		})
		if n := voters(t, c, hosts[0], port); n != len(hosts) {
			t.Errorf("the store at %d has %d voting members of %d", port, n, len(hosts))
		}
	}
	t.Logf("back with all its members %s after the start", time.Since(began).Round(time.Second))
	eventually(t, 2*time.Minute, func(ctx context.Context) error {
		_, err := c.Exec(ctx, lost, "kubectl", "--kubeconfig", "/etc/kubernetes/admin.conf", "--server", "https://"+lost+":6443", "get", "--raw", "/readyz")
		return err
	})
	eventually(t, time.Minute, func(ctx context.Context) error { return event(t, c, fmt.Sprintf("back-%d", time.Now().UnixNano())) })
	podsWork(t, c)
	for _, h := range hosts {
		storesAt(t, c, h)
	}
}
