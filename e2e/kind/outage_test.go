//go:build kind

package kind

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubeseams/seams/e2e/kind/cluster"
)

// outage is longer than an apiserver with kubeadm's probes lives without the
// store: eight failures, ten seconds apart, and its time to end. plainProbes says
// how long that takes; it was 111 s.
const outage = 150 * time.Second

// holdDown keeps the events store from serving until the context ends or the
// limit is reached; what it gives is closed then. It kills whatever kubelet
// starts, ten times a second.
func holdDown(ctx context.Context, c *cluster.Cluster, limit time.Duration) <-chan struct{} {
	const loop = `while sleep 0.1; do pkill -KILL -f "^etcd .*--data-dir=/var/lib/etcd-events"; done`
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ctx, cancel := context.WithTimeout(ctx, limit+5*time.Second)
		defer cancel()
		// The loop is ended where it runs: a killed docker exec would leave it there.
		_, _ = c.Exec(ctx, single, "timeout", strconv.Itoa(int(limit.Seconds())), "bash", "-c", loop)
	}()
	return ended
}

// eventsStoreDead keeps the events store from serving and sees that nothing but
// events suffers: the probes that are rendered leave the store out.
func eventsStoreDead(t *testing.T, c *cluster.Cluster) {
	before := container(t, c, single, "kube-apiserver")
	down := holdDown(t.Context(), c, outage)
	time.Sleep(10 * time.Second)
	if err := event(t, c, "during"); err == nil {
		t.Error("an event was written with its store dead: the store was not dead")
	}
	for writes := 0; ; writes++ {
		if _, err := c.Kubectl(t.Context(), "create", "configmap", fmt.Sprintf("alive-%d", time.Now().UnixNano())); err != nil {
			t.Errorf("a write to main: %v", err)
		}
		select {
		case <-time.After(5 * time.Second):
			continue
		case <-down:
		}
		t.Logf("%d writes to main while events had no store", writes+1)
		break
	}
	if after := container(t, c, single, "kube-apiserver"); after != before {
		t.Errorf("kube-apiserver was restarted: container %s, then %s", before, after)
	}
	kubectl(t, c, "wait", "--for=condition=Ready", "nodes", "--all", "--timeout=1s")
	eventsAgain(t, c)
}

// plainProbes is the control of eventsStoreDead: with kubeadm's own probes the
// same outage gets the apiserver killed, and everything suffers.
func plainProbes(t *testing.T, c *cluster.Cluster) {
	// Until its startup probe has passed once kubelet gives an apiserver four minutes.
	kubectl(t, c, "-n", "kube-system", "wait", "--for=condition=Ready", "pod/kube-apiserver-"+single, "--timeout=180s")
	before := container(t, c, single, "kube-apiserver")
	began := time.Now()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	down := holdDown(ctx, c, 2*outage)
	var after time.Duration
	eventually(t, 2*outage, func(ctx context.Context) error {
		out, err := c.Exec(ctx, single, "crictl", "ps", "-q", "--state", "Running", "--label", "io.kubernetes.pod.name=kube-apiserver-"+single)
		if err == nil && strings.Contains(out, before) {
			err = fmt.Errorf("container %s of the apiserver still runs", before)
		}
		after = time.Since(began)
		return err
	})
	t.Logf("without the rendered probes kubelet killed the apiserver %s after the events store had gone", after.Round(time.Second))
	node(t, c, single, "pkill", "-f", "^timeout "+strconv.Itoa(int((2*outage).Seconds())))
	<-down
	eventsAgain(t, c)
	eventually(t, 3*time.Minute, func(ctx context.Context) error {
		_, err := c.Kubectl(ctx, "get", "--raw", "/readyz")
		return err
	})
}

// eventsAgain waits for the events store. kubelet has backed off from its pod,
// for up to five minutes, unless it is restarted.
func eventsAgain(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	node(t, c, single, "systemctl", "restart", "kubelet")
	eventually(t, 6*time.Minute, func(context.Context) error { return event(t, c, fmt.Sprintf("after-%d", time.Now().UnixNano())) })
}
