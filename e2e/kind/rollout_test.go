//go:build kind

package kind

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubeseams/seams/e2e/kind/cluster"
	"github.com/kubeseams/seams/e2e/kind/runbook"
)

// graceSeconds is after how long without a renewal a node is taken for dead,
// upstream's default and the profile's.
const graceSeconds = 50

// TestRollout takes a cluster with three control planes from stock to etcds for
// events and leases by the commands of rollout.md as they stand, with pods that
// run: no node is taken for dead, no pod is moved or restarted, no election has
// two leaders, and no object is lost.
func TestRollout(t *testing.T) {
	live := stock(t, "roll", 3)
	w := live.rollOut(t)
	for _, o := range w.overlaps() {
		t.Errorf("%s led on %s and on %s, for %s from %s on", o.program, o.one, o.other, o.length, o.from)
	}
}

// rollOut does every step of rollout.md under the eyes of a witness: no object
// may be lost, no node be taken for dead, and everything be in its place.
func (live *running) rollOut(t *testing.T) *witness {
	t.Helper()
	live.book(t)
	return live.follow(t)
}

// follow does the steps of the book.
func (live *running) follow(t *testing.T) *witness {
	t.Helper()
	before := contentsOf(t, live.c, live.hosts[0])
	w := witnessed(t, live.c, live.hosts)
	for _, s := range live.steps {
		live.step(t, s)
	}
	// What a rollout broke shows within the time that controllers take to act.
	time.Sleep(2 * graceSeconds * time.Second)
	w.end()
	after := contentsOf(t, live.c, live.hosts[0])
	before.keptIn(t, after)
	w.writtenIn(t, after)
	w.report(t)
	for n, how := range w.unready {
		t.Errorf("node %s was %s", n, how)
	}
	for _, h := range live.hosts {
		moved(t, live.c, h)
	}
	return w
}

// TestRolloutSingle is TestRollout on one control plane. It shows less: while
// the only apiserver restarts nobody writes, and one process of each program
// has no second leader beside it.
func TestRolloutSingle(t *testing.T) {
	stock(t, "rollone", 1).rollOut(t)
}

// TestNaiveRollout switches the apiservers one after the other, as one changes
// any flag, with controller managers and schedulers running. It holds rollout.md
// to its word: two leaders in one election, and nodes taken for dead that are not.
func TestNaiveRollout(t *testing.T) {
	live := stock(t, "naive", 3)
	live.book(t)
	before := contentsOf(t, live.c, live.hosts[0])
	w := witnessed(t, live.c, live.hosts)
	last := slices.IndexFunc(live.steps, func(s runbook.Step) bool { return strings.HasPrefix(s.Title, "Stop controller managers") })
	if last < 0 {
		t.Fatal("rollout.md has no step that stops controller managers")
	}
	for _, s := range live.steps[:last] {
		// The quota of main has no part in this, and takes three restarts.
		if !strings.HasPrefix(s.Title, "Raise the quota") {
			live.step(t, s)
		}
	}
	if found := w.overlaps(); len(found) > 0 || len(w.unready) > 0 {
		t.Fatalf("broken before anything was switched: %v, %v", found, w.unready)
	}
	for _, h := range live.hosts {
		// kubeadm's own way, and longer than the grace period between two hosts.
		node(t, live.c, h, "kubeadm", "init", "phase", "control-plane", "apiserver", "--config", "/etc/kubernetes/seams/this-host.yaml")
		eventually(t, 5*time.Minute, func(ctx context.Context) error { return live.switched(ctx, h) })
		t.Logf("%s switched %s after the start", h, time.Since(w.began).Round(time.Second))
		time.Sleep((graceSeconds + 25) * time.Second)
	}
	w.end()
	after := contentsOf(t, live.c, live.hosts[0])
	w.report(t)
	w.writtenIn(t, after)
	if len(w.unready) == 0 {
		t.Error("no node was taken for dead, though rollout.md says so")
	}
	found := w.overlaps()
	for _, o := range found {
		t.Logf("%s led on %s and on %s, for %s from %s on", o.program, o.one, o.other, o.length, o.from)
	}
	if !slices.ContainsFunc(found, func(o overlap) bool { return o.length > 2*time.Second }) {
		t.Error("no election had two leaders, though rollout.md says so")
	}
	t.Logf("before: %d keys, %d leases, %d pods", len(before.keys), len(before.leases), len(before.pods))
}

// running is a stock cluster with what is rendered to bring a plan to it.
type running struct {
	c    *cluster.Cluster
	name string
	// more is what the profile has besides its hosts, and rungs are those of the
	// book.
	more  string
	rungs []string
	hosts []string
	steps []runbook.Step
	shell *runbook.Shell
	// began is when the step under way was.
	began time.Time
}

// stock brings up a cluster of upstream's defaults, with pods that run.
func stock(t *testing.T, name string, controlPlanes int) *running {
	t.Helper()
	live := &running{name: name, hosts: hostsOf(name)[:controlPlanes], rungs: threeRungs}
	live.start(t)
	return live
}

func (live *running) start(t *testing.T) {
	t.Helper()
	profile := live.profile(t, func(i int) string { return fmt.Sprintf("10.0.0.1%d", i+1) })
	dir := renderFile(t, "kind", profile, "--rung", "node/stock", "--rung", "churn/stock", "--rung", "state/stock")
	live.c = up(t, dir)
	podsWork(t, live.c)
	runApplication(t, live.c, live.hosts[0])
}

// profile writes that of the cluster, with the addresses that its hosts have.
func (live *running) profile(t *testing.T, address func(int) string) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\nplatform: {kind: kubeadm}\nnodes: {count: %d}\ncontrolPlane:\n  memoryGiB: 16\n  hosts:\n", live.name, len(live.hosts)+1)
	for i, h := range live.hosts {
		fmt.Fprintf(&b, "  - {name: %s, address: %s}\n", h, address(i))
	}
	if len(live.hosts) > 1 {
		fmt.Fprintf(&b, "  endpoint: %s-external-load-balancer:6443\n", live.name)
	}
	b.WriteString(live.more)
	file := filepath.Join(t.TempDir(), "profile.yaml")
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// book renders the rollout for the cluster as it is: into its own configuration.
func (live *running) book(t *testing.T) {
	t.Helper()
	addresses := make([]string, len(live.hosts))
	for i, h := range live.hosts {
		addresses[i] = address(t, live.c, h)
	}
	profile := live.profile(t, func(i int) string { return addresses[i] })
	present := filepath.Join(t.TempDir(), "present.yaml")
	own := kubectl(t, live.c, "-n", "kube-system", "get", "configmap", "kubeadm-config", "-o", "jsonpath={.data.ClusterConfiguration}") +
		"\n---\n" + kubectl(t, live.c, "-n", "kube-system", "get", "configmap", "kubelet-config", "-o", "jsonpath={.data.kubelet}")
	if err := os.WriteFile(present, []byte(own), 0o644); err != nil {
		t.Fatal(err)
	}
	dir := renderFile(t, "kubeadm", profile, append([]string{"--into", present}, live.rungs...)...)
	markdown, err := os.ReadFile(filepath.Join(dir, "rollout.md"))
	if err != nil {
		t.Fatal(err)
	}
	if live.steps, err = runbook.Steps(string(markdown), "A cluster that runs"); err != nil {
		t.Fatal(err)
	}
	hosts := map[string]string{}
	nodes, err := live.c.Nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		hosts[n], hosts[address(t, live.c, n)] = n, n
	}
	for i := range live.steps {
		live.steps[i].Commands = runbook.ForNodes(live.steps[i].Commands, nodes)
	}
	live.shell = &runbook.Shell{
		Dir: dir, Hosts: hosts, Talk: t.Output(),
		Programs: map[string]string{"kubectl": need(t, "SEAMS_KUBECTL"), "seams": need(t, "SEAMS"), "etcdutl": need(t, "SEAMS_ETCDUTL")},
		Env:      []string{"KUBECONFIG=" + live.c.Kubeconfig, "PROFILE=" + profile},
	}
}

// step does one step, and goes on when its check shows what is expected.
func (live *running) step(t *testing.T, s runbook.Step) {
	t.Helper()
	i := slices.IndexFunc(expectations, func(e expectation) bool { return strings.HasPrefix(s.Title, e.title) })
	if i < 0 {
		t.Fatalf("nobody here knows what %q shows: %s", s.Title, s.Expect)
	}
	live.began = time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	if err := live.shell.Run(ctx, s.Commands); err != nil {
		t.Fatalf("%s: %v", s.Title, err)
	}
	eventually(t, 4*time.Minute, func(ctx context.Context) error {
		out, err := live.shell.Ask(ctx, s.Check)
		if err := expectations[i].met(live, out); err != nil {
			return fmt.Errorf("%s: %w; it says %q", s.Title, err, s.Expect)
		}
		// A check that compares two files fails when they differ, as they shall.
		if strings.Contains(s.Check, "diff ") {
			err = nil
		}
		return err
	})
	t.Logf("%s: as expected after %s", s.Title, time.Since(live.began).Round(time.Second))
}

// switched reports that the apiserver of a host runs with the routes and serves.
func (live *running) switched(ctx context.Context, host string) error {
	out, err := live.c.Exec(ctx, host, "bash", "-c", "cat /proc/$(pgrep -x kube-apiserver)/cmdline | tr '\\0' ' '")
	if err == nil && !strings.Contains(out, "etcd-servers-overrides") {
		err = fmt.Errorf("the apiserver of %s runs without routes", host)
	}
	if err == nil {
		_, err = live.c.Exec(ctx, host, "kubectl", "--kubeconfig", "/etc/kubernetes/admin.conf", "--server", "https://"+host+":6443", "get", "--raw", "/readyz")
	}
	return err
}

// moved sees that leases are in their store alone, and that new events go to
// theirs: those of before expire where they are.
func moved(t *testing.T, c *cluster.Cluster, host string) {
	t.Helper()
	if n := keys(t, c, host, mainPort, "/registry/leases/"); n > 0 {
		t.Errorf("%s: %d leases in the main etcd", host, n)
	}
	if n := keys(t, c, host, leasesPort, "/registry/leases/"); n == 0 {
		t.Errorf("%s: no lease in its store", host)
	}
	name := fmt.Sprintf("moved-%d", time.Now().UnixNano())
	if err := event(t, c, name); err != nil {
		t.Fatal(err)
	}
	key := "/registry/events/default/" + name
	if in, out := keys(t, c, host, eventsPort, key), keys(t, c, host, mainPort, key); in != 1 || out != 0 {
		t.Errorf("%s: a new event is %d times in its store, %d times in main", host, in, out)
	}
}
