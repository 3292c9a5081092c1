//go:build rig

package rig_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

const (
	movedGroup   = "hot.example.dev"
	movedObjects = 500
)

// moveFlags say how a mover reaches both etcds. The lock of one that was killed
// is free soon; it is lost when one renewal takes half of that time, which a
// machine that is busy with other tests may take for a call.
func (l *liveTier) moveFlags(t *testing.T) []string {
	t.Helper()
	main, err := l.EtcdClient("main")
	if err != nil {
		t.Fatal(err)
	}
	return []string{
		"--main-etcd", strings.Join(main.Endpoints, ","), "--main-etcd-ca", main.CAFile, "--main-etcd-cert", main.CertFile, "--main-etcd-key", main.KeyFile,
		"--tier-etcd", strings.Join(l.etcd.Endpoints, ","), "--tier-etcd-ca", l.etcd.CAFile, "--tier-etcd-cert", l.etcd.CertFile, "--tier-etcd-key", l.etcd.KeyFile,
		"--settle", "500ms", "--lock", "5s",
	}
}

func (l *liveTier) move(t *testing.T, code int, says string, args ...string) {
	t.Helper()
	l.must(t, code, says, slices.Concat([]string{"tier", "move", movedGroup}, args, l.moveFlags(t))...)
}

// fill defines the group in main and makes objects: with statuses, finalizers,
// one that is being deleted, some that are owned and some that own.
func (l *liveTier) fill(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	crd := &unstructured.Unstructured{}
	data, err := readJSON("testdata/widgets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := crd.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	unstructured.RemoveNestedField(crd.Object, "status")
	if _, err := l.dyn.Resource(crdResource).Create(ctx, crd, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	all := l.dyn.Resource(widgets).Namespace("default")
	eventually(t, "the group in main", 20*time.Second, func() error {
		_, err := all.List(ctx, metav1.ListOptions{})
		return err
	})
	owner, err := l.kube.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var failed atomic.Value
	for w := range 8 {
		wg.Go(func() {
			for i := w; i < movedObjects; i += 8 {
				if err := l.one(ctx, i, owner); err != nil {
					failed.Store(err)
				}
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		t.Fatal(err)
	}
	if err := all.Delete(ctx, "w7", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// one makes a widget and writes its status: every tenth is owned by a config
// map, every hundredth owns one, and a few have a finalizer.
func (l *liveTier) one(ctx context.Context, i int, owner *corev1.ConfigMap) error {
	w := widget("w" + strconv.Itoa(i))
	_ = unstructured.SetNestedField(w.Object, strings.Repeat("x", 100+i), "spec", "note")
	switch {
	case i%100 == 7:
		w.SetFinalizers([]string{"hot.example.dev/hold"})
	case i%10 == 0 && i%100 != 0:
		w.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}})
	}
	all := l.dyn.Resource(widgets).Namespace("default")
	made, err := all.Create(ctx, w, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if _, err := all.Patch(ctx, made.GetName(), types.MergePatchType, []byte(`{"status":{"phase":"Running"}}`), metav1.PatchOptions{}, "status"); err != nil {
		return err
	}
	if i%100 != 0 {
		return nil
	}
	_, err = l.kube.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: "of-" + made.GetName(), OwnerReferences: []metav1.OwnerReference{{APIVersion: "hot.example.dev/v1", Kind: "Widget", Name: made.GetName(), UID: made.GetUID()}},
	}}, metav1.CreateOptions{})
	return err
}

// snapshot is every object as a client sees it through main, but for its
// resourceVersion, which is of the etcd.
func (l *liveTier) snapshot(t *testing.T) map[string]string {
	t.Helper()
	all, err := l.dyn.Resource(widgets).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, o := range all.Items {
		o.SetResourceVersion("")
		data, err := json.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		seen[o.GetName()] = string(data)
	}
	return seen
}

// same compares snapshots.
func same(t *testing.T, when string, before, after map[string]string) {
	t.Helper()
	if len(before) != len(after) {
		t.Errorf("%s: %d objects, %d before", when, len(after), len(before))
	}
	told := 0
	for name, want := range before {
		if after[name] != want && told < 3 {
			told++
			t.Errorf("%s: %s is\n%s\nand was\n%s", when, name, after[name], want)
		}
	}
}

// follower is an informer through main, and counts what it was told.
type follower struct {
	informer cache.SharedIndexInformer
	deleted  atomic.Int64
}

func (l *liveTier) follow(t *testing.T) *follower {
	t.Helper()
	f := &follower{informer: dynamicinformer.NewFilteredDynamicInformer(l.dyn, widgets, "", 0, cache.Indexers{}, nil).Informer()}
	if _, err := f.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(any) { f.deleted.Add(1) }}); err != nil {
		t.Fatal(err)
	}
	go f.informer.RunWithContext(t.Context())
	if !cache.WaitForCacheSync(t.Context().Done(), f.informer.HasSynced) {
		t.Fatal("no sync")
	}
	return f
}

// consistent writes through main, and wants the informer to have seen that and
// nothing else: no object went away in between.
func (f *follower) consistent(t *testing.T, l *liveTier) {
	t.Helper()
	all := l.dyn.Resource(widgets).Namespace("default")
	note := fmt.Sprint("written ", time.Now().UnixNano())
	patch, _ := json.Marshal(map[string]any{"spec": map[string]any{"note": note}})
	eventually(t, "a write", 20*time.Second, func() error {
		_, err := all.Patch(t.Context(), "w1", types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	})
	want := l.snapshot(t)
	eventually(t, "an informer with what is there", time.Minute, func() error {
		have := f.informer.GetStore().List()
		if len(have) != len(want) {
			return fmt.Errorf("it has %d objects of %d", len(have), len(want))
		}
		for _, item := range have {
			o := item.(*unstructured.Unstructured).DeepCopy()
			o.SetResourceVersion("")
			data, _ := json.Marshal(o.Object)
			if want[o.GetName()] != string(data) {
				return fmt.Errorf("%s is not as it is", o.GetName())
			}
		}
		return nil
	})
	if n := f.deleted.Load(); n != 0 {
		t.Errorf("the informer was told that %d objects were deleted", n)
	}
}

// A group goes into the tier and back, with everything that its objects are, an
// informer that notices nothing, and garbage collection that goes on.
func TestTierMove(t *testing.T) {
	l := startTier(t)
	l.fill(t)
	f := l.follow(t)
	before := l.snapshot(t)
	old := l.version(t)
	l.move(t, 0, "nothing was done", "--to", "tier")
	if main, there := l.stored(t, "/registry/"+movedGroup+"/"); main != movedObjects || there != 0 {
		t.Fatalf("%d and %d keys", main, there)
	}
	l.move(t, 2, "no move of hot.example.dev was begun", "--resume")
	began := time.Now()
	l.move(t, 0, "is in tier", "--to", "tier", "--yes")
	t.Logf("moved %d objects in %s", movedObjects, time.Since(began))
	same(t, "in the tier", before, l.snapshot(t))
	if by := l.served(t, "v1.hot.example.dev"); by != "tier" {
		t.Errorf("served by %s", by)
	}
	l.outdated(t, old)
	f.consistent(t, l)
	l.collects(t, "in the tier", "w100", "owned-1")
	l.move(t, 2, "was moved to tier already", "--to", "tier", "--yes")
	if main, there := l.stored(t, "/registry/"+movedGroup+"/"); main != movedObjects || there != movedObjects-1 {
		t.Errorf("%d keys in main's etcd, %d in the tier's", main, there)
	}
	l.move(t, 0, "keys deleted from main's etcd", "--clean-up", "--keep-definition")
	if main, _ := l.stored(t, "/registry/"+movedGroup+"/"); main != 0 {
		t.Errorf("%d keys left in main's etcd", main)
	}
	f.deleted.Store(0) // the collected one
	f.consistent(t, l)

	before, old = l.snapshot(t), l.version(t)
	l.move(t, 0, "is in main", "--to", "main", "--yes")
	same(t, "back in main", before, l.snapshot(t))
	if by := l.served(t, "v1.hot.example.dev"); by != "main" {
		t.Errorf("served by %s", by)
	}
	l.outdated(t, old)
	f.consistent(t, l)
	l.collects(t, "back in main", "w200", "owned-2")
	l.move(t, 0, "keys deleted from tier's etcd", "--clean-up")
	if _, there := l.stored(t, "/registry/"+movedGroup+"/"); there != 0 {
		t.Errorf("%d keys left in the tier's etcd", there)
	}
}

// version is the resourceVersion of a list through main.
func (l *liveTier) version(t *testing.T) string {
	t.Helper()
	all, err := l.dyn.Resource(widgets).List(t.Context(), metav1.ListOptions{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	return all.GetResourceVersion()
}

// outdated wants a resourceVersion of before a move to be of the past where the
// group is now: a watch from it is told to list anew, rather than to wait, and
// what is listed is newer.
func (l *liveTier) outdated(t *testing.T, version string) {
	t.Helper()
	before, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if now, err := strconv.ParseInt(l.version(t), 10, 64); err != nil || now <= before {
		t.Errorf("the resourceVersion is %d after the move, and was %d", now, before)
	}
	w, err := l.dyn.Resource(widgets).Watch(t.Context(), metav1.ListOptions{ResourceVersion: version})
	if err == nil {
		defer w.Stop()
		event, ok := <-w.ResultChan()
		if !ok {
			t.Fatal("the watch ended without a word")
		}
		err = apierrors.FromObject(event.Object)
	}
	if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		t.Errorf("a watch from resourceVersion %s: %v, want 410", version, err)
	}
	if _, err := l.dyn.Resource(widgets).List(t.Context(), metav1.ListOptions{ResourceVersion: version, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}); err != nil {
		t.Errorf("a list not older than %s: %v", version, err)
	}
}

// collects wants garbage to be collected in both directions: a config map whose
// owner, a widget, is deleted, and a widget whose owner, a config map, is. Those
// whose owners live stay.
func (l *liveTier) collects(t *testing.T, when, owner, owned string) {
	t.Helper()
	ctx, all := t.Context(), l.dyn.Resource(widgets).Namespace("default")
	if err := all.Delete(ctx, owner, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	maps := l.kube.CoreV1().ConfigMaps("default")
	of, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: owned + "-by"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w := widget(owned)
	w.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: of.Name, UID: of.UID}})
	if _, err := all.Create(ctx, w, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(ctx, of.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, when+": garbage of both kinds", time.Minute, func() error {
		if _, err := maps.Get(ctx, "of-"+owner, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("config map of %s: %v", owner, err)
		}
		if _, err := all.Get(ctx, owned, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("widget %s: %v", owned, err)
		}
		return nil
	})
	// w10 is owned by a config map that lives, of-w300 by a widget that does.
	if _, err := all.Get(ctx, "w10", metav1.GetOptions{}); err != nil {
		t.Errorf("%s: %v", when, err)
	}
	if _, err := maps.Get(ctx, "of-w300", metav1.GetOptions{}); err != nil {
		t.Errorf("%s: %v", when, err)
	}
}
