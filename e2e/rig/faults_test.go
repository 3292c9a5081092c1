//go:build rig

package rig_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/prove/rig"
)

// hollowNodes is how many nodes heartbeat while something is broken.
const hollowNodes = 50

// reconnected is how long an apiserver may take to see that a store is back:
// gRPC doubles its pause between two attempts, nearly, up to 120 s and a fifth.
const reconnected = 150 * time.Second

// candidates gives the only host a second controller manager and scheduler,
// which wait to lead: without them two leaders could not be seen.
func candidates(t *testing.T, files []file.File) []file.File {
	t.Helper()
	added := 0
	for _, f := range files {
		for _, c := range []struct{ name, port, other string }{{"kube-controller-manager", "10257", "20257"}, {"kube-scheduler", "10259", "20259"}} {
			if f.Path != "manifests/cp-1/"+c.name+".yaml" {
				continue
			}
			data := bytes.ReplaceAll(f.Data, []byte(c.port), []byte(c.other))
			data = bytes.Replace(data, []byte("name: "+c.name+"\n"), []byte("name: "+c.name+"-b\n"), 1)
			data = bytes.Replace(data, []byte("    - "+c.name+"\n"), []byte("    - "+c.name+"\n    - --secure-port="+c.other+"\n"), 1)
			files = append(files, file.File{Path: "manifests/cp-1/" + c.name + "-b.yaml", Data: data})
			added++
		}
	}
	if added != 2 {
		t.Fatalf("%d candidates added, want 2", added)
	}
	return files
}

// heartbeat has hollow nodes renew their leases as kubelets do, until the test
// ends, and returns when a leader sees them.
func heartbeat(t *testing.T, server *rest.Config) {
	t.Helper()
	// The kubelet's heartbeats time out with its status update frequency, 10 s.
	driver, err := load.NewDriver(load.Options{Servers: []*rest.Config{server}, Timeout: 10 * time.Second, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	nodes := &load.Nodes{Driver: driver, Count: hollowNodes, Images: 5}
	if err := nodes.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r, err := nodes.Run(ctx, time.Hour)
		if ctx.Err() == nil {
			t.Errorf("the nodes' heartbeats ended: %v", err)
		}
		if r == nil {
			return
		}
		made, _ := r.Value("lease-renewals")
		failed, _ := r.Value("lease-renewals-failed")
		gap, _ := r.Value("lease-gap-max-seconds")
		t.Logf("%.0f renewals, %.0f failed %v, longest gap of a node %.1f s", made, failed, r.Failures, gap)
	}()
	t.Cleanup(func() { cancel(); <-done })
}

// faulty starts a profile with its rung under supervision by the rendered
// probes, with nodes, and looks at it from when it is led.
func faulty(t *testing.T, files []file.File) (*rig.Rig, *observer) {
	t.Helper()
	r := start(t, rig.Options{Files: files, Supervise: true})
	heartbeat(t, r.Config(""))
	admin := client(t, r, "")
	o := observe(t, r, admin, liveness(t, files))
	o.await(time.Minute)
	return r, o
}

// The loss of the events store costs events and nothing else, for longer than
// the rendered probes are patient.
func TestFaultEventsStore(t *testing.T) {
	r, o := faulty(t, render(t, "one.cue", "--rung", "churn/events-store"))
	events := r.Process("etcd-events@cp-1")
	events.Kill()
	killed := time.Now()
	// One call without a limit of the client's own: the server's.
	began := time.Now()
	_, err := o.api.CoreV1().Events("default").Create(t.Context(), happening("hangs", 0), metav1.CreateOptions{})
	if err == nil {
		t.Error("an event is created without its store")
	}
	t.Logf("an event hangs for %s: %v", time.Since(began).Round(100*time.Millisecond), err)
	if _, err := o.api.CoreV1().Pods("default").Create(t.Context(), waiting("during"), metav1.CreateOptions{}); err != nil {
		t.Errorf("a pod: %v", err)
	}
	time.Sleep(time.Until(killed.Add(95 * time.Second))) // eight probes, one every 10 s
	if events.Running() {
		t.Error("a killed store came back by itself")
	}
	if err := events.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	back := time.Now()
	eventually(t, "an event after the store is back", reconnected, func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err := o.api.CoreV1().Events("default").Create(ctx, happening(fmt.Sprint("after-", time.Now().UnixNano()), 0), metav1.CreateOptions{})
		return err
	})
	t.Logf("events are written %s after the store is back", time.Since(back).Round(100*time.Millisecond))
	if _, err := o.api.CoreV1().Pods("default").Create(t.Context(), waiting("after"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the scheduler's own event", time.Minute, func() error {
		return told(t.Context(), o.api, "after")
	})
	t.Logf("the scheduler's own arrive after %s; what it said meanwhile: %v", time.Since(back).Round(100*time.Millisecond), told(t.Context(), o.api, "during"))
	o.tell("events store down for 95 s")
	o.promises()
	for _, component := range []string{"kube-controller-manager", "kube-scheduler"} {
		if n := o.restarted(component); n > 0 || o.elections[component].changes > 0 {
			t.Errorf("%s was restarted %d times, and led anew %d times", component, n, o.elections[component].changes)
		}
	}
}

// happening is an Event of a size.
func happening(name string, bytes int) *corev1.Event {
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: name, Namespace: "default", Annotations: map[string]string{"filler": strings.Repeat("x", bytes)}},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "x"}, Reason: "Test",
	}
}

// waiting is a Pod that finds no node.
func waiting(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
		NodeSelector: map[string]string{"nowhere": "true"}, Containers: []corev1.Container{{Name: "c", Image: "none"}}}}
}

// told is an error unless there is an Event about a Pod.
func told(ctx context.Context, api kubernetes.Interface, pod string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	list, err := api.CoreV1().Events("default").List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + pod})
	if err == nil && len(list.Items) == 0 {
		err = fmt.Errorf("no event about %s", pod)
	}
	return err
}

// While the leases store is down nobody leads, so nobody marks nodes either,
// however long it takes; afterwards leaders come back and find them alive.
func TestFaultLeasesStore(t *testing.T) {
	for _, down := range []time.Duration{20 * time.Second, 70 * time.Second} {
		t.Run(down.String(), func(t *testing.T) {
			r, o := faulty(t, candidates(t, render(t, "one.cue", "--rung", "node/leases-store")))
			leases := r.Process("etcd-leases@cp-1")
			leases.Kill()
			time.Sleep(down)
			for _, component := range []string{"kube-controller-manager", "kube-scheduler"} {
				if o.led(component) == nil {
					t.Errorf("%s still leads without the store", component)
				}
			}
			if err := leases.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Logf("led again %s after the store is ready", o.await(reconnected+30*time.Second))
			// A controller manager that missed the renewals would tell after its
			// grace period.
			time.Sleep(55 * time.Second)
			o.tell(fmt.Sprintf("leases store down for %s", down))
			o.promises()
		})
	}
}

// A leases store in memory that lost everything comes back by the steps of the
// rollout: nobody who acts on leases runs before apiservers have listed anew.
func TestFaultLeasesStoreWiped(t *testing.T) {
	r, o := faulty(t, candidates(t, render(t, "one.cue", "--rung", "node/node-tier")))
	age(t, r, "leases")
	began := time.Now()
	for _, p := range actors(r) {
		p.Kill()
	}
	if err := r.Renew(t.Context(), "leases"); err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Processes() {
		if p.Component == "kube-apiserver" {
			if err := p.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	served := time.Now()
	for _, p := range actors(r) {
		if err := p.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	o.await(time.Minute)
	t.Logf("apiservers ready %s after the beginning, leaders after %s", served.Sub(began).Round(time.Second), time.Since(began).Round(time.Second))
	eventually(t, "the leases of all nodes", time.Minute, func() error {
		if n := keys(t, r, "leases", "/registry/leases/kube-node-lease/"); n != hollowNodes {
			return fmt.Errorf("%d leases", n)
		}
		return nil
	})
	t.Logf("every node has its lease again %s after the beginning", time.Since(began).Round(time.Second))
	time.Sleep(55 * time.Second)
	o.tell("leases store wiped, by the rollout")
	o.oneLeader()
	if o.unready > 0 {
		t.Errorf("%d nodes were not Ready", o.unready)
	}
}

// actors are the controller managers and schedulers.
func actors(r *rig.Rig) []*rig.Process {
	var list []*rig.Process
	for _, p := range r.Processes() {
		if p.Component == "kube-controller-manager" || p.Component == "kube-scheduler" {
			list = append(list, p)
		}
	}
	return list
}

// The same wipe with nothing stopped and nothing restarted is what the rollout
// is there for. The main API serves all the same.
func TestFaultLeasesStoreWipedUnderLeaders(t *testing.T) {
	r, o := faulty(t, candidates(t, render(t, "one.cue", "--rung", "node/node-tier")))
	age(t, r, "leases")
	began := time.Now()
	if err := r.Renew(t.Context(), "leases"); err != nil {
		t.Fatal(err)
	}
	t.Logf("the store is back after %s", time.Since(began).Round(100*time.Millisecond))
	time.Sleep(90 * time.Second)
	t.Logf("%d keys of nodes' leases in the new store", keys(t, r, "leases", "/registry/leases/kube-node-lease/"))
	o.tell("leases store wiped, and nothing restarted")
	if len(o.failed) > 0 || o.unlive > 0 || o.restarted("kube-apiserver") > 0 {
		t.Errorf("core writes failed %v, liveness %d times, apiservers restarted %d times", o.failed, o.unlive, o.restarted("kube-apiserver"))
	}
}

// age takes a store's revision far beyond what is written in a test, as that of
// a store that has been in use is, by etcd's HTTP gateway.
func age(t *testing.T, r *rig.Rig, store string) {
	t.Helper()
	c, err := r.EtcdClient(store)
	if err != nil {
		t.Fatal(err)
	}
	const writers, writes = 16, 500
	h := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: c.TLS, MaxIdleConnsPerHost: writers}}
	defer h.CloseIdleConnections()
	var wait sync.WaitGroup
	for range writers {
		wait.Go(func() {
			for range writes {
				response, err := h.Post(c.Endpoints[0]+"/v3/kv/put", "application/json", strings.NewReader(`{"key":"YWdl","value":"eA=="}`))
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
				if response.StatusCode != http.StatusOK {
					t.Errorf("put: %s", response.Status)
					return
				}
			}
		})
	}
	wait.Wait()
	revision, _ := standing(t, c)
	if revision < writers*writes {
		t.Fatalf("the store is at revision %d", revision)
	}
}

// standing is the revision and the size of a store's database.
func standing(t *testing.T, c rig.EtcdClient) (revision, size int64) {
	t.Helper()
	var answer []struct {
		Status struct {
			Header struct{ Revision int64 } `json:"header"`
			DBSize int64                    `json:"dbSize"`
		}
	}
	decode(t, etcdctl(t, c, "endpoint", "status", "-w", "json"), &answer)
	return answer[0].Status.Header.Revision, answer[0].Status.DBSize
}

// An etcd that is full refuses Events and nothing else, and takes them again
// after objects are deleted, history compacted and the alarm disarmed.
func TestFaultQuota(t *testing.T) {
	const quota = 16 << 20
	files := render(t, "one.cue", "--rung", "churn/events-store")
	for i, f := range files {
		if strings.HasSuffix(f.Path, "/etcd-events.yaml") {
			files[i].Data = bytes.ReplaceAll(f.Data, []byte("--quota-backend-bytes=8589934592"), fmt.Appendf(nil, "--quota-backend-bytes=%d", quota))
			if bytes.Equal(f.Data, files[i].Data) {
				t.Fatal("the quota is not where it was")
			}
		}
	}
	r, o := faulty(t, files)
	n, err := 0, error(nil)
	for ; n < 1000 && err == nil; n++ {
		_, err = o.api.CoreV1().Events("default").Create(t.Context(), happening(fmt.Sprint("fills-", n), 64<<10), metav1.CreateOptions{})
	}
	if err == nil || !strings.Contains(err.Error(), "database space exceeded") {
		t.Fatalf("after %d events: %v; want no space", n, err)
	}
	t.Logf("event %d of 64 KiB is refused: reason %q, %v", n, apierrors.ReasonForError(err), err)
	c, err := r.EtcdClient("events")
	if err != nil {
		t.Fatal(err)
	}
	if alarms := etcdctl(t, c, "alarm", "list"); !strings.Contains(alarms, "NOSPACE") {
		t.Errorf("alarms %q", alarms)
	}
	for path, want := range map[string]bool{o.live: true, "/livez": true, "/readyz": true} {
		_, err := o.api.CoreV1().RESTClient().Get().RequestURI(path).DoRaw(t.Context())
		t.Logf("%s of the apiserver: %v", path, err)
		if (err == nil) != want {
			t.Errorf("%s of the apiserver: %v", path, err)
		}
	}
	time.Sleep(20 * time.Second)
	empty(t, o, c)
	o.tell("events store full")
	o.promises()
	if events := r.Process("etcd-events@cp-1"); events.Restarts() > 0 {
		t.Errorf("the full etcd was restarted %d times", events.Restarts())
	}
}

// empty empties a full events store, and checks that each step does its part.
func empty(t *testing.T, o *observer, c rig.EtcdClient) {
	t.Helper()
	began := time.Now()
	_, full := standing(t, c)
	if err := o.api.CoreV1().Events("default").DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Errorf("events cannot be deleted from a full store: %v", err)
		etcdctl(t, c, "del", "--prefix", "/registry/events/")
	}
	revision, _ := standing(t, c)
	etcdctl(t, c, "compact", "--physical", fmt.Sprint(revision))
	etcdctl(t, c, "defrag")
	_, left := standing(t, c)
	if _, err := o.api.CoreV1().Events("default").Create(t.Context(), happening("alarmed", 0), metav1.CreateOptions{}); err == nil {
		t.Error("an event is written before the alarm is disarmed")
	}
	etcdctl(t, c, "alarm", "disarm")
	if _, err := o.api.CoreV1().Events("default").Create(t.Context(), happening("again", 0), metav1.CreateOptions{}); err != nil {
		t.Errorf("after the alarm is disarmed: %v", err)
	}
	if left > full/4 {
		t.Errorf("%d bytes of %d are left", left, full)
	}
	t.Logf("database %d bytes when full, %d after delete, compact and defrag, in %s", full, left, time.Since(began).Round(10*time.Millisecond))
}
