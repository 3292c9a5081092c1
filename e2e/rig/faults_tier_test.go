//go:build rig

package rig_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/kubeseams/seams/internal/binaries"
	"github.com/kubeseams/seams/internal/cli"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/prove/rig"
)

// brokenTier is a control plane with a rendered tier that something happens to,
// under supervision by the rendered probes and looked at all the time.
type brokenTier struct {
	*observer
	tier   string
	server *rig.Process
	// sessions are the tier's objects through kube-apiserver.
	sessions dynamic.NamespaceableResourceInterface
	services dynamic.ResourceInterface
}

func breakTier(t *testing.T) *brokenTier {
	t.Helper()
	set, err := binaries.Find("", "", "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcdctl", "apiextensions-apiserver")
	if err != nil {
		t.Fatal(err)
	}
	files := render(t, "tier.cue", "--rung", "churn/aggregated-tier")
	r, err := rig.Start(t.Context(), rig.Options{Files: files, Bin: set, Dir: t.TempDir(), Log: t.Output(), Supervise: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, r) })
	b := &brokenTier{}
	b.tier, _ = r.TierOf(hotGroup)
	b.server = r.TierServers(b.tier)[0]
	placeCRD(t, r, b.tier)
	if err := r.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	d, err := dynamic.NewForConfig(r.Config(""))
	if err != nil {
		t.Fatal(err)
	}
	b.sessions = d.Resource(schema.GroupVersionResource{Group: hotGroup, Version: "v1", Resource: "sessions"})
	b.services = d.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	heartbeat(t, r.Config(""))
	b.observer = observe(t, r, client(t, r, ""), liveness(t, files))
	b.await(time.Minute)
	eventually(t, "a session", 30*time.Second, func() error { return b.create("default", "before") })
	return b
}

// briefly bounds a call at what a patient client would wait.
func (b *brokenTier) briefly() (context.Context, context.CancelFunc) {
	return context.WithTimeout(b.t.Context(), 15*time.Second)
}

func (b *brokenTier) create(namespace, name string) error {
	ctx, cancel := b.briefly()
	defer cancel()
	_, err := b.sessions.Namespace(namespace).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": hotGroup + "/v1", "kind": "Session", "metadata": map[string]any{"name": name}, "spec": map[string]any{"a": int64(1)},
	}}, metav1.CreateOptions{})
	return err
}

func (b *brokenTier) get(name string) error {
	ctx, cancel := b.briefly()
	defer cancel()
	_, err := b.sessions.Namespace("default").Get(ctx, name, metav1.GetOptions{})
	return err
}

// list counts the sessions, as of a resourceVersion.
func (b *brokenTier) list(version string) (int, error) {
	ctx, cancel := b.briefly()
	defer cancel()
	l, err := b.sessions.Namespace("default").List(ctx, metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		return 0, err
	}
	return len(l.Items), nil
}

// available is what the APIService says of itself: nil, or the reason why not.
func (b *brokenTier) available() error {
	ctx, cancel := b.briefly()
	defer cancel()
	o, err := b.services.Get(ctx, "v1."+hotGroup, metav1.GetOptions{})
	if err != nil {
		return err
	}
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if f, _ := c.(map[string]any); f["type"] == "Available" && f["status"] != "True" {
			return fmt.Errorf("%s: %s", f["reason"], f["message"])
		}
	}
	return nil
}

// until waits for something and says how long it took.
func (b *brokenTier) until(what string, limit time.Duration, done func() error) {
	b.t.Helper()
	began := time.Now()
	eventually(b.t, what, limit, done)
	b.t.Logf("%s: after %s", what, time.Since(began).Round(100*time.Millisecond))
}

// want turns a condition into what eventually waits for.
func want(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// The tier's only server is down for a minute: its group answers 503, a namespace
// that is deleted meanwhile waits, and nothing else notices. Both come back with
// the server, and no object is lost.
func TestFaultTierDown(t *testing.T) {
	b := breakTier(t)
	b.doom()
	b.server.Kill()
	down := time.Now()
	b.until("the group answers 503", 30*time.Second, func() error {
		err := b.get("before")
		return want(apierrors.IsServiceUnavailable(err), "%v", err)
	})
	t.Logf("it says: %v", b.get("before"))
	b.until("its APIService is not available", time.Minute, func() error {
		return want(b.available() != nil, "available")
	})
	t.Logf("the APIService says: %v", b.available())
	b.discovers()
	if err := b.api.CoreV1().Namespaces().Delete(t.Context(), "doomed", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	b.collects()
	time.Sleep(time.Until(down.Add(time.Minute)))
	n, err := b.api.CoreV1().Namespaces().Get(t.Context(), "doomed", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("the namespace did not wait for the tier: %v", err)
	}
	for _, c := range n.Status.Conditions {
		t.Logf("the namespace: %s %s: %s", c.Type, c.Status, c.Reason)
	}
	_, err = b.api.CoreV1().ConfigMaps("doomed").Get(t.Context(), "inside", metav1.GetOptions{})
	t.Logf("a ConfigMap of the waiting namespace: %v", err)
	if b.server.Running() {
		t.Error("a killed server came back by itself")
	}
	if err := b.server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.until("the group is served again", time.Minute, func() error { return b.get("before") })
	b.until("the namespace is gone", 3*time.Minute, func() error {
		_, err := b.api.CoreV1().Namespaces().Get(t.Context(), "doomed", metav1.GetOptions{})
		return want(apierrors.IsNotFound(err), "%v", err)
	})
	if in := keysOf(t, b.Rig, b.tier, "/registry/"+hotGroup+"/"); strings.Contains(in, "/doomed/") || !strings.Contains(in, "/default/before") {
		t.Errorf("the tier has %q", in)
	}
	b.tell("the tier's server down for 60 s")
	b.promises()
}

// doom makes the namespace that is to be deleted, with a session in it.
func (b *brokenTier) doom() {
	b.t.Helper()
	if _, err := b.api.CoreV1().Namespaces().Create(b.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "doomed"}}, metav1.CreateOptions{}); err != nil {
		b.t.Fatal(err)
	}
	eventually(b.t, "a session in the namespace", 30*time.Second, func() error { return b.create("doomed", "inside") })
	inside := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "inside"}}
	if _, err := b.api.CoreV1().ConfigMaps("doomed").Create(b.t.Context(), inside, metav1.CreateOptions{}); err != nil {
		b.t.Fatal(err)
	}
}

// discovers has discovery lack the tier's group and nothing else.
func (b *brokenTier) discovers() {
	b.t.Helper()
	_, lists, err := b.api.Discovery().ServerGroupsAndResources()
	var failed *discovery.ErrGroupDiscoveryFailed
	if !errors.As(err, &failed) || len(failed.Groups) != 1 {
		b.t.Errorf("discovery: %v; want a failure of one group", err)
	}
	core := 0
	for _, l := range lists {
		if l.GroupVersion == "v1" {
			core = len(l.APIResources)
		}
	}
	if core == 0 {
		b.t.Error("discovery has lost the core group")
	}
	b.t.Logf("discovery: %v", err)
}

// collects has garbage collection of core objects go on: a dependent goes with
// its owner.
func (b *brokenTier) collects() {
	b.t.Helper()
	maps := b.api.CoreV1().ConfigMaps("default")
	owner, err := maps.Create(b.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	dependent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "dependent", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID},
	}}}
	if _, err := maps.Create(b.t.Context(), dependent, metav1.CreateOptions{}); err != nil {
		b.t.Fatal(err)
	}
	if err := maps.Delete(b.t.Context(), "owner", metav1.DeleteOptions{}); err != nil {
		b.t.Fatal(err)
	}
	b.until("garbage of the core group is collected", 30*time.Second, func() error {
		_, err := maps.Get(b.t.Context(), "dependent", metav1.GetOptions{})
		return want(apierrors.IsNotFound(err), "%v", err)
	})
}

// crdFlags are how seams reaches the tier.
func (b *brokenTier) crdFlags() []string {
	host := b.TierConfig(b.tier)
	service, err := b.api.CoreV1().Services(plan.Namespace).Get(b.t.Context(), b.tier, metav1.GetOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	return []string{"--kubeconfig", b.Kubeconfig(), "--main-server", b.Config("").Host, "--tier-server", host.Host,
		"--tier-ca", b.at("aggregated/ca.crt"), "--tier-service", fmt.Sprintf("%s/%s:%d", plan.Namespace, b.tier, service.Spec.Ports[0].Port)}
}

// at is a file below the host's pki directory.
func (b *brokenTier) at(name string) string {
	return filepath.Join(b.Dir(), b.server.Host, "etc", "kubernetes", "pki", filepath.FromSlash(name))
}

// A tier's etcd that lost everything loses the definitions with the objects. Its
// servers do not see that by themselves: their caches go on with what was.
// Restarted, and the definitions put back by seams tier crds, they serve again.
func TestFaultTierEtcdWiped(t *testing.T) {
	b := breakTier(t)
	age(t, b.Rig, b.tier)
	for i := range 5 {
		if err := b.create("default", fmt.Sprint("old-", i)); err != nil {
			t.Fatal(err)
		}
	}
	old := b.version()
	w, err := b.sessions.Namespace("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: old})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	wiped := time.Now()
	if err := b.Renew(t.Context(), b.tier); err != nil {
		t.Fatal(err)
	}
	for _, at := range []time.Duration{5 * time.Second, 30 * time.Second, time.Minute} {
		time.Sleep(time.Until(wiped.Add(at)))
		b.sayState(at)
	}
	t.Logf("a watch from before has had %v", received(w))
	if n := b.server.Restarts(); n > 0 {
		t.Errorf("the probes restarted the server %d times", n)
	}
	b.definedAnew(old)
	b.tell("the tier's etcd wiped")
	b.promises()
}

// version is the resourceVersion of the newest list.
func (b *brokenTier) version() string {
	b.t.Helper()
	l, err := b.sessions.Namespace("default").List(b.t.Context(), metav1.ListOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	return l.GetResourceVersion()
}

// sayState logs what clients see of a tier whose etcd is empty.
func (b *brokenTier) sayState(at time.Duration) {
	b.t.Helper()
	cached, errCached := b.list("0")
	newest, errNewest := b.list("")
	b.t.Logf("%s after: get: %v; list of the cache: %d, %v; newest list: %d, %v; create: %v; APIService: %v", at,
		b.get("before"), cached, errCached, newest, errNewest, b.create("default", fmt.Sprint("new-", at)), b.available())
}

// received are the types of events that a watch has had, without waiting.
func received(w watch.Interface) map[watch.EventType]int {
	n := map[watch.EventType]int{}
	for {
		select {
		case e, open := <-w.ResultChan():
			if !open {
				n["CLOSED"]++
				return n
			}
			n[e.Type]++
		default:
			return n
		}
	}
}

// definedAnew restarts the server, puts the definition back and has everything
// work that should; what was in the etcd is gone.
func (b *brokenTier) definedAnew(old string) {
	t := b.t
	t.Helper()
	began := time.Now()
	if err := b.server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("restarted, the server knows: get: %v; APIService: %v", b.get("before"), b.available())
	crds := filepath.Join(t.TempDir(), "sessions.json")
	if err := os.WriteFile(crds, []byte(hotCRD), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	code := cli.Main(t.Context(), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out}, append([]string{"tier", "crds", "-f", crds}, b.crdFlags()...))
	t.Logf("seams tier crds: exit code %d\n%s", code, out.String())
	if code != 0 {
		t.Error("the definition could not be put back")
	}
	b.until("a session after the definition is back", 30*time.Second, func() error { return b.create("default", "after") })
	t.Logf("served again %s after the restart began", time.Since(began).Round(100*time.Millisecond))
	b.until("the newest list has what is there", 10*time.Second, func() error {
		n, err := b.list("")
		return want(err == nil && n > 0 && b.get("after") == nil && b.get("before") != nil, "%d sessions, %v", n, err)
	})
	_, err := b.list(old)
	t.Logf("a list at a resourceVersion of the lost etcd, %s: %v", old, err)
	if err == nil {
		t.Error("a list at a resourceVersion of the lost etcd is answered")
	}
	if in := keysOf(t, b.Rig, b.tier, "/registry/"+hotGroup+"/"); !strings.Contains(in, "/default/after") || strings.Contains(in, "/default/before") {
		t.Errorf("the tier has %q", in)
	}
}
