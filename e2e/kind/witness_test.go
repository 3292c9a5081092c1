//go:build kind

package kind

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubeseams/seams/e2e/kind/cluster"
	"github.com/kubeseams/seams/internal/apiclient"
)

// witness looks at a cluster while it is changed: what each apiserver says of
// the nodes, who of the elected processes leads, and which writes were answered.
type witness struct {
	c     *cluster.Cluster
	hosts []string
	stop  func()
	wg    sync.WaitGroup

	mu sync.Mutex
	// looks counts the lists of nodes that an apiserver answered.
	looks map[string]int
	// unready has, by node, when and by which apiserver it was first seen so.
	unready map[string]string
	// leads are samples of each process that elects, by program and host.
	leads map[string]map[string][]sample
	// written are the objects whose creation was answered.
	written []string
	// silent is the longest time without an answered write, and since when.
	silent, since time.Duration
	last, began   time.Time
}

// witnessed begins to look; end stops it, as does the end of the test.
func witnessed(t *testing.T, c *cluster.Cluster, hosts []string) *witness {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	w := &witness{
		c: c, hosts: hosts, stop: stop, began: time.Now(), last: time.Now(),
		looks: map[string]int{}, unready: map[string]string{}, leads: map[string]map[string][]sample{},
	}
	for _, program := range elected {
		w.leads[program] = map[string][]sample{}
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client := func(host string) *apiclient.Client {
		if host != "" {
			config.Host = host
		}
		// Connections of its own: each is to the one apiserver that is looked at.
		client, err := apiclient.New(config, "witness", apiclient.Dialer(5*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		return client
	}
	front := client("")
	w.wg.Go(func() { w.write(ctx, front) })
	for _, h := range hosts {
		one := client("https://" + address(t, c, h) + ":6443")
		w.wg.Go(func() { w.nodes(ctx, h, one) })
		w.wg.Go(func() { w.leaders(ctx, h) })
	}
	t.Cleanup(w.end)
	return w
}

func (w *witness) end() {
	w.stop()
	w.wg.Wait()
}

// address is a node's own.
func address(t *testing.T, c *cluster.Cluster, host string) string {
	t.Helper()
	out := kubectl(t, c, "get", "node", host, "-o", `jsonpath={.status.addresses[?(@.type=="InternalIP")].address}`)
	return strings.TrimSpace(out)
}

// every calls f twice a second until the context ends.
func every(ctx context.Context, f func(context.Context)) {
	for tick := time.NewTicker(500 * time.Millisecond); ctx.Err() == nil; {
		limited, cancel := context.WithTimeout(ctx, 3*time.Second)
		f(limited)
		cancel()
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// nodes notes every node that an apiserver calls anything but Ready. What does
// not answer says nothing.
func (w *witness) nodes(ctx context.Context, host string, client *apiclient.Client) {
	every(ctx, func(ctx context.Context) {
		var list corev1.NodeList
		if err := client.Do(ctx, http.MethodGet, "/api/v1/nodes", nil, "", nil, &list); err != nil {
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.looks[host]++
		for _, n := range list.Items {
			if status := ready(n); status != corev1.ConditionTrue && w.unready[n.Name] == "" {
				w.unready[n.Name] = fmt.Sprintf("%s by %s after %s", status, host, time.Since(w.began).Round(time.Second))
			}
		}
	})
}

func ready(n corev1.Node) corev1.ConditionStatus {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	return corev1.ConditionUnknown
}

// write creates objects by the balancer, and notes which were answered.
func (w *witness) write(ctx context.Context, client *apiclient.Client) {
	n := 0
	every(ctx, func(ctx context.Context) {
		n++
		name := fmt.Sprintf("written-%d", n)
		object := corev1.ConfigMap{}
		object.Name, object.Labels = name, map[string]string{"of": "witness"}
		err := client.Do(ctx, http.MethodPost, "/api/v1/namespaces/default/configmaps", nil, "application/json", object, nil)
		w.mu.Lock()
		defer w.mu.Unlock()
		if err != nil {
			return
		}
		w.written = append(w.written, name)
		if gap := time.Since(w.last); gap > w.silent {
			w.silent, w.since = gap, w.last.Sub(w.began)
		}
		w.last = time.Now()
	})
}

// report writes what was seen, and fails a witness that saw too little to say
// anything.
func (w *witness) report(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	t.Logf("%d writes answered; none for %s from %s on", len(w.written), w.silent.Round(time.Second), w.since.Round(time.Second))
	for _, h := range w.hosts {
		t.Logf("%s: %d lists of nodes", h, w.looks[h])
		if w.looks[h] < 20 {
			t.Errorf("the witness saw next to nothing through %s", h)
		}
		for _, program := range slices.Sorted(maps.Keys(w.leads)) {
			samples := w.leads[program][h]
			var times []string
			for _, s := range held(samples) {
				times = append(times, fmt.Sprintf("%s to %s", s[0].Sub(w.began).Round(time.Second), s[1].Sub(w.began).Round(time.Second)))
			}
			t.Logf("%s of %s: %d samples, led %s", program, h, len(samples), strings.Join(times, ", "))
			if len(samples) < 20 {
				t.Errorf("the witness saw next to nothing of %s of %s", program, h)
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(w.unready)) {
		t.Logf("node %s was %s", n, w.unready[n])
	}
}
