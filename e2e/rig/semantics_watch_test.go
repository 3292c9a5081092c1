//go:build rig

package rig_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// event waits for the next event of a watch; nil when the watch ends.
func event(t *testing.T, w watch.Interface, limit time.Duration) *watch.Event {
	t.Helper()
	select {
	case e, ok := <-w.ResultChan():
		if !ok {
			return nil
		}
		return &e
	case <-time.After(limit):
		t.Fatalf("no event within %s", limit)
		return nil
	}
}

// next checks the next event: TYPE NAME, and the size of a gauge.
func next(t *testing.T, w watch.Interface, want string) {
	t.Helper()
	e := event(t, w, 10*time.Second)
	if e == nil {
		t.Fatalf("the watch has ended before %s", want)
	}
	u, ok := e.Object.(*unstructured.Unstructured)
	if !ok {
		t.Fatalf("%s: %s", e.Type, asJSON(e.Object))
	}
	got := string(e.Type) + " " + u.GetName()
	if size, ok := u.Object["size"]; ok {
		got += fmt.Sprint(" ", size)
	}
	if got != want {
		t.Errorf("event %s, want %s", got, want)
	}
}

// watch gives every change in order, with its object.
func (s *semantics) watch(t *testing.T, on side) {
	ctx, sessions := t.Context(), s.sessions(on, s.namespace(t, on, "watch"))
	list, err := sessions.List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := sessions.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	create(t, sessions, on.session("one", nil))
	if _, err := sessions.Patch(ctx, "one", types.MergePatchType, []byte(`{"spec":{"note":"a"}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := sessions.Delete(ctx, "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ADDED one", "MODIFIED one", "DELETED one"} {
		next(t, w, want)
	}
}

// selectors choose by label, by name and by the fields that a definition
// offers, in lists and watches; other fields are refused.
func (s *semantics) selectors(t *testing.T, on side) {
	ctx, sessions := t.Context(), s.sessions(on, s.namespace(t, on, "selectors"))
	for _, name := range []string{"one", "two"} {
		u := on.session(name, map[string]any{"note": "note-" + name})
		u.SetLabels(map[string]string{"of": name})
		create(t, sessions, u)
	}
	for _, o := range []metav1.ListOptions{{LabelSelector: "of=two"}, {FieldSelector: "metadata.name=two"}, {FieldSelector: "spec.note=note-two"}} {
		list, err := sessions.List(ctx, o)
		if err != nil || len(list.Items) != 1 || list.Items[0].GetName() != "two" {
			t.Errorf("%+v: %v, %v", o, list, err)
		}
		w, err := sessions.Watch(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		next(t, w, "ADDED two")
		w.Stop()
	}
	if _, err := sessions.List(ctx, metav1.ListOptions{FieldSelector: "spec.replicas=1"}); !apierrors.IsBadRequest(err) {
		t.Errorf("a field that cannot be selected by: %v", err)
	}
}

// bookmarks come before a watch is ended by its timeout, at the latest, with
// how far the server is; a watch that is told nothing else learns it by them.
func (s *semantics) bookmarks(t *testing.T, on side) {
	sessions, seconds := s.sessions(on, s.namespace(t, on, "bookmarks")), int64(5)
	made := create(t, sessions, on.session("one", nil))
	w, err := sessions.Watch(t.Context(), metav1.ListOptions{
		ResourceVersion: made.GetResourceVersion(), FieldSelector: "metadata.name=one", AllowWatchBookmarks: true, TimeoutSeconds: &seconds,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	other := create(t, sessions, on.session("two", nil))
	var types []watch.EventType
	version := ""
	for e := event(t, w, 10*time.Second); e != nil; e = event(t, w, 10*time.Second) {
		types = append(types, e.Type)
		if u, ok := e.Object.(*unstructured.Unstructured); ok {
			version = u.GetResourceVersion()
		}
	}
	if len(types) == 0 || slices.ContainsFunc(types, func(e watch.EventType) bool { return e != watch.Bookmark }) || version != other.GetResourceVersion() {
		t.Errorf("events %v, the last of %s, want bookmarks up to %s", types, version, other.GetResourceVersion())
	}
}

// watchList is a watch that begins with the objects there are, and says where
// they end.
func (s *semantics) watchList(t *testing.T, on side) {
	sessions, initial := s.sessions(on, s.namespace(t, on, "watch-list")), true
	create(t, sessions, on.session("one", nil))
	w, err := sessions.Watch(t.Context(), metav1.ListOptions{
		SendInitialEvents: &initial, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	next(t, w, "ADDED one")
	e := event(t, w, 10*time.Second)
	if e == nil || e.Type != watch.Bookmark {
		t.Fatalf("event %v", e)
	}
	if u := e.Object.(*unstructured.Unstructured); u.GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true" {
		t.Errorf("a bookmark with %v", u.GetAnnotations())
	}
}

// resume goes on with a watch where it was cut off.
func (s *semantics) resume(t *testing.T, on side) {
	sessions := s.sessions(on, s.namespace(t, on, "resume"))
	first := create(t, sessions, on.session("one", nil))
	create(t, sessions, on.session("two", nil))
	if err := sessions.Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w, err := sessions.Watch(t.Context(), metav1.ListOptions{ResourceVersion: first.GetResourceVersion()})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	next(t, w, "ADDED two")
	next(t, w, "DELETED one")
}

// futureVersion: a resourceVersion of another etcd that is beyond this one's
// revision is refused by lists.
func (s *semantics) futureVersion(t *testing.T, on side) {
	err := s.kube.Discovery().RESTClient().Get().AbsPath("/apis", on.group, "v1", "sessions").Param("resourceVersion", "900000000").
		MaxRetries(0).Do(t.Context()).Error()
	if !apierrors.IsTimeout(err) || !strings.Contains(err.Error(), "Too large resource version") {
		t.Errorf("a list of the future: %v", err)
	}
}

// pages are of one moment, and say what remains.
func (s *semantics) pages(t *testing.T, on side) {
	ctx, sessions := t.Context(), s.sessions(on, s.namespace(t, on, "pages"))
	for i := range 25 {
		create(t, sessions, on.session(fmt.Sprintf("s-%02d", i), nil))
	}
	var got []string
	var remain []int64
	token, version := "", ""
	for {
		list, err := sessions.List(ctx, metav1.ListOptions{Limit: 10, Continue: token})
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range list.Items {
			got = append(got, u.GetName())
		}
		if n := list.GetRemainingItemCount(); n != nil {
			remain = append(remain, *n)
		}
		if version == "" {
			version = list.GetResourceVersion()
			// What comes later is on no page.
			create(t, sessions, on.session("s-99", nil))
		} else if version != list.GetResourceVersion() {
			t.Errorf("a page of %s, the first was of %s", list.GetResourceVersion(), version)
		}
		if token = list.GetContinue(); token == "" {
			break
		}
	}
	if len(got) != 25 || !slices.IsSorted(got) || !slices.Equal(remain, []int64{15, 5}) {
		t.Errorf("objects %v, remaining %v", got, remain)
	}
}

// restart: a tier's server that is started anew knows no past. What was
// compacted in its etcd is gone for watches and pages, with 410, and a page goes
// on with the token that the refusal brings. Watches through kube-apiserver end.
func (s *semantics) restart(t *testing.T) {
	ctx, on := t.Context(), s.tier
	sessions := s.sessions(on, s.namespace(t, on, "restart"))
	first := create(t, sessions, on.session("s-0", nil))
	for i := range 5 {
		create(t, sessions, on.session(fmt.Sprintf("s-%d", i+1), nil))
	}
	page, err := sessions.List(ctx, metav1.ListOptions{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	open, err := sessions.Watch(ctx, metav1.ListOptions{ResourceVersion: page.GetResourceVersion()})
	if err != nil {
		t.Fatal(err)
	}
	defer open.Stop()
	last := create(t, sessions, on.session("s-7", nil))
	next(t, open, "ADDED s-7")
	s.compact(t, last.GetResourceVersion())
	var server string
	for _, p := range s.Processes() {
		if strings.HasPrefix(p.Name, "aggregated-"+s.tierName+"@") {
			server = p.Name
		}
	}
	if err := s.Process(server).Restart(ctx); err != nil {
		t.Fatal(err)
	}
	// Its end is one that kube-apiserver passes on as a broken stream.
	if e := event(t, open, 20*time.Second); e != nil && e.Type != watch.Error {
		t.Errorf("a watch of before the restart goes on with %s", asJSON(e))
	}
	eventually(t, "sessions after the restart", time.Minute, func() error {
		list, err := sessions.List(ctx, metav1.ListOptions{})
		if err == nil && len(list.Items) != 7 {
			err = fmt.Errorf("%d sessions", len(list.Items))
		}
		return err
	})
	s.expired(t, sessions, first.GetResourceVersion(), page.GetContinue())
}

// compact drops the past of the tier's etcd.
func (s *semantics) compact(t *testing.T, revision string) {
	t.Helper()
	c, err := s.EtcdClient(s.tierName)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := withCertificate(t, c, c.CertFile, c.KeyFile, "compact", revision); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// expired checks that an old watch and an old page are refused with 410.
func (s *semantics) expired(t *testing.T, sessions dynamic.ResourceInterface, version, token string) {
	t.Helper()
	ctx := t.Context()
	w, err := sessions.Watch(ctx, metav1.ListOptions{ResourceVersion: version})
	if err == nil {
		defer w.Stop()
		if e := event(t, w, 10*time.Second); e == nil || e.Type != watch.Error || !apierrors.IsResourceExpired(apierrors.FromObject(e.Object)) && !apierrors.IsGone(apierrors.FromObject(e.Object)) {
			t.Errorf("a watch of the past: %s", asJSON(e))
		}
	} else if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		t.Errorf("a watch of the past: %v", err)
	}
	_, err = sessions.List(ctx, metav1.ListOptions{Limit: 2, Continue: token})
	var status apierrors.APIStatus
	if !apierrors.IsResourceExpired(err) || !errors.As(err, &status) || status.Status().Continue == "" {
		t.Fatalf("a page of the past: %v", err)
	}
	page, err := sessions.List(ctx, metav1.ListOptions{Limit: 2, Continue: status.Status().Continue})
	if err != nil || len(page.Items) != 2 || page.Items[0].GetName() != "s-2" {
		t.Errorf("the page that follows: %v, %v", page, err)
	}
}
