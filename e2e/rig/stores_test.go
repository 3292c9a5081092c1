//go:build rig

package rig_test

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	coordination "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/prove/rig"
)

// etcdctl runs upstream's client against a store and returns what it says.
func etcdctl(t *testing.T, c rig.EtcdClient, args ...string) string {
	t.Helper()
	args = append([]string{"--endpoints", strings.Join(c.Endpoints, ","), "--cacert", c.CAFile, "--cert", c.CertFile, "--key", c.KeyFile}, args...)
	out, err := exec.CommandContext(t.Context(), programs(t).Path("etcdctl"), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("etcdctl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// keys counts the keys of a store below a prefix.
func keys(t *testing.T, r *rig.Rig, store, prefix string) int {
	t.Helper()
	c, err := r.EtcdClient(store)
	if err != nil {
		t.Fatal(err)
	}
	return len(strings.Fields(etcdctl(t, c, "get", prefix, "--prefix", "--keys-only")))
}

// write creates a lease, an event and a config map of a name.
func write(ctx context.Context, c kubernetes.Interface, name string) error {
	meta := metav1.ObjectMeta{Name: name, Namespace: "default"}
	if _, err := c.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: meta}, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("config map: %w", err)
	}
	if _, err := c.CoordinationV1().Leases("default").Create(ctx, &coordination.Lease{ObjectMeta: meta}, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	event := &corev1.Event{ObjectMeta: meta, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "x"}, Reason: "Test"}
	if _, err := c.CoreV1().Events("default").Create(ctx, event, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("event: %w", err)
	}
	return nil
}

// routed checks that what was written is in its own store and in no other.
func routed(t *testing.T, r *rig.Rig, name string) {
	t.Helper()
	homes := map[string]string{"/registry/configmaps/default/": "main", "/registry/leases/default/": "leases", "/registry/events/default/": "events"}
	for prefix, home := range homes {
		for _, store := range []string{"main", "events", "leases"} {
			want := 0
			if store == home {
				want = 1
			}
			if got := keys(t, r, store, prefix+name); got != want {
				t.Errorf("store %s has %d keys %s%s, want %d", store, got, prefix, name, want)
			}
		}
	}
}

// impatient gives the liveness probe of the apiservers small numbers, so that
// a test need not wait for a minute and a half; edit changes the manifest more.
func impatient(files []file.File, edit func([]byte) []byte) []file.File {
	block := regexp.MustCompile(`(?s)livenessProbe:.*?failureThreshold: \d+`)
	numbers := regexp.MustCompile(`(initialDelaySeconds|timeoutSeconds|periodSeconds): \d+`)
	failures := regexp.MustCompile(`failureThreshold: \d+`)
	for i, f := range files {
		if !strings.Contains(f.Path, "/kube-apiserver") {
			continue
		}
		files[i].Data = edit(block.ReplaceAllFunc(f.Data, func(b []byte) []byte {
			return failures.ReplaceAll(numbers.ReplaceAll(b, []byte("$1: 2")), []byte("failureThreshold: 3"))
		}))
	}
	return files
}

// A store whose loss apiservers are to survive takes none of them down. The
// same store behind the probes that kubeadm writes gets them restarted: that
// is what the exclusions of the rendered probes are for.
func TestDeadStoreUnderSupervision(t *testing.T) {
	for _, c := range []struct {
		name     string
		edit     func([]byte) []byte
		restarts bool
	}{
		{"as rendered", func(b []byte) []byte { return b }, false},
		{"with kubeadm's probes", func(b []byte) []byte {
			return regexp.MustCompile(`path: /livez\?\S+`).ReplaceAll(b, []byte("path: /livez"))
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := impatient(render(t, "one.cue", "--rung", "node/leases-store"), c.edit)
			r := start(t, rig.Options{Files: files, Supervise: true})
			admin := client(t, r, "")
			if err := write(t.Context(), admin, "before"); err != nil {
				t.Fatal(err)
			}
			routed(t, r, "before")
			api, events := r.Process("kube-apiserver@cp-1"), r.Process("etcd-events@cp-1")
			events.Kill()
			if c.restarts {
				eventually(t, "restart of the apiserver", time.Minute, func() error {
					if api.Restarts() == 0 {
						return fmt.Errorf("not restarted")
					}
					return nil
				})
				return
			}
			survives(t, admin, api)
			if events.Running() {
				t.Error("a killed store came back by itself")
			}
			if err := events.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			eventually(t, "writes after the store is back", time.Minute, func() error {
				return write(t.Context(), admin, fmt.Sprintf("after-%d", time.Now().UnixNano()))
			})
			if api.Restarts() != 0 {
				t.Errorf("the apiserver was restarted %d times", api.Restarts())
			}
		})
	}
}

// survives waits for twice as long as the probes take to give up, and checks
// that only events are lost.
func survives(t *testing.T, admin kubernetes.Interface, api *rig.Process) {
	t.Helper()
	pid := api.PID()
	for i := range 8 {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		err := write(ctx, admin, fmt.Sprintf("during-%d", i))
		cancel()
		if err == nil || !strings.HasPrefix(err.Error(), "event: ") {
			t.Fatalf("without the events store: %v; want only the event to fail", err)
		}
	}
	if api.Restarts() != 0 || api.PID() != pid {
		t.Errorf("the apiserver was restarted %d times", api.Restarts())
	}
}

// A process that ends by itself is started again, as a kubelet would.
func TestSupervisionRestartsWhatEnds(t *testing.T) {
	r := start(t, rig.Options{Files: render(t, "one.cue"), Supervise: true})
	scheduler := r.Process("kube-scheduler@cp-1")
	before := scheduler.PID()
	if out, err := exec.Command("kill", "-9", fmt.Sprint(before)).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	eventually(t, "another scheduler", 30*time.Second, func() error {
		if !scheduler.Running() || scheduler.PID() == before {
			return fmt.Errorf("none yet")
		}
		return nil
	})
	if scheduler.Restarts() != 1 {
		t.Errorf("restarted %d times", scheduler.Restarts())
	}
	if err := scheduler.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}
