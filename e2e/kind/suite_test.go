//go:build kind

// Package kind runs what seams renders as a cluster of node containers: real
// kubelets, kubeadm's own static pods, real certificates. make e2e brings its
// tools; without them its tests fail, none is skipped.
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
)

// need is a setting of hack/kind/e2e.sh.
func need(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set: run these tests by make e2e", name)
	}
	return value
}

// render writes a profile of testdata for a target and gives the directory.
func render(t *testing.T, target, profile string, flags ...string) string {
	t.Helper()
	return renderFile(t, target, filepath.Join("testdata", profile), flags...)
}

// renderFile is render for a profile anywhere.
func renderFile(t *testing.T, target, profile string, flags ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), target)
	args := append([]string{"render", "-q", "-f", profile, "--target", target,
		"--kubernetes", need(t, "SEAMS_KUBERNETES"), "-d", dir}, flags...)
	if out, err := exec.Command(need(t, "SEAMS"), args...).CombinedOutput(); err != nil {
		t.Fatalf("seams %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return dir
}

// up brings a rendered directory up for the time of a test. Logs of a test that
// failed are kept.
func up(t *testing.T, dir string) *cluster.Cluster {
	t.Helper()
	o := cluster.Options{
		Dir: dir, Image: need(t, "SEAMS_KIND_IMAGE"), Kind: need(t, "SEAMS_KIND"), Kubectl: need(t, "SEAMS_KUBECTL"),
		Record: os.Getenv("SEAMS_KIND_RECORD"), Talk: os.Stderr,
	}
	logs := filepath.Join(need(t, "SEAMS_KIND_LOGS"), t.Name())
	c, err := cluster.Create(t.Context(), o)
	if c != nil {
		t.Cleanup(func() {
			// The test's own context has ended by now. Logs of a machine under load
			// take long: the deletion has a time of its own.
			if t.Failed() {
				ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
				defer cancel()
				t.Logf("logs of nodes and pods: %s (%v)", logs, c.Logs(ctx, logs))
			}
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
			defer cancel()
			if err := c.Delete(ctx); err != nil {
				t.Errorf("cluster %s stays: %v", c.Name, err)
			}
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// node runs a command in a node and gives its output.
func node(t *testing.T, c *cluster.Cluster, name string, args ...string) string {
	t.Helper()
	out, err := c.Exec(t.Context(), name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// kubectl runs kubectl and gives its output.
func kubectl(t *testing.T, c *cluster.Cluster, args ...string) string {
	t.Helper()
	out, err := c.Kubectl(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// eventually tries for a while.
func eventually(t *testing.T, limit time.Duration, f func(context.Context) error) {
	t.Helper()
	if err := cluster.Until(t.Context(), limit, f); err != nil {
		t.Fatal(err)
	}
}

// container is the one that runs in a pod of a node now.
func container(t *testing.T, c *cluster.Cluster, name, pod string) string {
	t.Helper()
	id := strings.TrimSpace(node(t, c, name, "crictl", "ps", "-q", "--label", "io.kubernetes.pod.name="+pod+"-"+name))
	if id == "" || strings.Contains(id, "\n") {
		t.Fatalf("pod %s of %s has not one container: %q", pod, name, id)
	}
	return id
}

// keys counts the keys below a prefix in the store whose clients use a port.
func keys(t *testing.T, c *cluster.Cluster, name string, port int, prefix string) int {
	t.Helper()
	const pki = "/etc/kubernetes/pki/etcd/"
	out := node(t, c, name, "crictl", "exec", container(t, c, name, "etcd"), "etcdctl",
		"--endpoints", fmt.Sprintf("https://127.0.0.1:%d", port),
		"--cacert", pki+"ca.crt", "--cert", pki+"server.crt", "--key", pki+"server.key",
		"get", prefix, "--prefix", "--keys-only")
	return len(strings.Fields(out))
}

// processes are the command lines of a program in a node, as lists of arguments.
// One that elects a leader ends when it loses, and kubelet starts it again.
func processes(t *testing.T, c *cluster.Cluster, name, program string) [][]string {
	t.Helper()
	var all [][]string
	eventually(t, time.Minute, func(ctx context.Context) error {
		all = nil
		pids, err := c.Exec(ctx, name, "pgrep", "-f", "^(/usr/local/bin/|/usr/bin/)?"+program+" ")
		if err != nil {
			return fmt.Errorf("no %s runs in %s: %w", program, name, err)
		}
		for pid := range strings.FieldsSeq(pids) {
			out, err := c.Exec(ctx, name, "cat", "/proc/"+pid+"/cmdline")
			if err != nil {
				return err
			}
			all = append(all, strings.Split(strings.TrimRight(out, "\x00"), "\x00"))
		}
		return nil
	})
	return all
}
