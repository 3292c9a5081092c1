//go:build rig

package rig_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// schema: defaults, pruning, bounds and CEL rules hold.
func (s *semantics) schema(t *testing.T, on side) {
	ctx, sessions := t.Context(), s.sessions(on, s.namespace(t, on, "schema"))
	made := create(t, sessions, on.session("one", map[string]any{"unknown": "x", "fixed": "a"}))
	if field(made, "spec", "replicas") != int64(1) || field(made, "spec", "unknown") != nil {
		t.Errorf("spec is %v", made.Object["spec"])
	}
	_, err := sessions.Create(ctx, on.session("two", map[string]any{"replicas": int64(-1)}), metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) {
		t.Errorf("beyond a bound: %v", err)
	}
	_, err = sessions.Create(ctx, on.session("two", map[string]any{"unknown": "x"}), metav1.CreateOptions{FieldValidation: "Strict"})
	if err := refusal(err, `unknown field "spec.unknown"`); err != nil {
		t.Error(err)
	}
	changed := made.DeepCopy()
	if err := unstructured.SetNestedField(changed.Object, "b", "spec", "fixed"); err != nil {
		t.Fatal(err)
	}
	_, err = sessions.Update(ctx, changed, metav1.UpdateOptions{})
	if err := refusal(err, "it stays"); err != nil {
		t.Error(err)
	}
	if _, err := s.sessions(on, "no-such-namespace").Create(ctx, on.session("one", nil), metav1.CreateOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("in no namespace: %v", err)
	}
}

// status is written through its subresource and nowhere else, and counts no
// generation.
func (s *semantics) status(t *testing.T, on side) {
	ctx, sessions := t.Context(), s.sessions(on, s.namespace(t, on, "status"))
	u := on.session("one", map[string]any{"replicas": int64(2)})
	u.Object["status"] = map[string]any{"phase": "Claimed"}
	made := create(t, sessions, u)
	if made.Object["status"] != nil {
		t.Errorf("created with status %v", made.Object["status"])
	}
	made.Object["status"] = map[string]any{"phase": "Running"}
	made.Object["spec"] = map[string]any{"replicas": int64(7)}
	updated, err := sessions.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if field(updated, "status", "phase") != "Running" || field(updated, "spec", "replicas") != int64(2) || updated.GetGeneration() != 1 {
		t.Errorf("after a write of status: %v", updated.Object)
	}
	updated.Object["status"] = map[string]any{"phase": "Lost"}
	updated.Object["spec"] = map[string]any{"replicas": int64(3)}
	if updated, err = sessions.Update(ctx, updated, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if field(updated, "status", "phase") != "Running" || field(updated, "spec", "replicas") != int64(3) || updated.GetGeneration() != 2 {
		t.Errorf("after a write of the rest: %v", updated.Object)
	}
	// Of two writers from the same resourceVersion the second is told.
	updated.SetResourceVersion(made.GetResourceVersion())
	if _, err := sessions.Update(ctx, updated, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("an outdated write: %v", err)
	}
}

// scale is autoscaling/v1's.
func (s *semantics) scale(t *testing.T, on side) {
	ctx, sessions := t.Context(), s.sessions(on, s.namespace(t, on, "scale"))
	create(t, sessions, on.session("one", map[string]any{"replicas": int64(2)}))
	scale, err := sessions.Get(ctx, "one", metav1.GetOptions{}, "scale")
	if err != nil {
		t.Fatal(err)
	}
	if scale.GetAPIVersion() != "autoscaling/v1" || scale.GetKind() != "Scale" || field(scale, "spec", "replicas") != int64(2) {
		t.Errorf("scale is %v", scale.Object)
	}
	if err := unstructured.SetNestedField(scale.Object, int64(5), "spec", "replicas"); err != nil {
		t.Fatal(err)
	}
	if _, err := sessions.Update(ctx, scale, metav1.UpdateOptions{}, "scale"); err != nil {
		t.Fatal(err)
	}
	u, err := sessions.Get(ctx, "one", metav1.GetOptions{})
	if err != nil || field(u, "spec", "replicas") != int64(5) {
		t.Errorf("after a write of scale: %v, %v", u, err)
	}
}

// autoscaler: a HorizontalPodAutoscaler finds the scale of a session.
func (s *semantics) autoscaler(t *testing.T, on side) {
	ctx, ns := t.Context(), s.namespace(t, on, "autoscaler")
	made := create(t, s.sessions(on, ns), on.session("one", map[string]any{"replicas": int64(2)}))
	made.Object["status"] = map[string]any{"replicas": int64(2), "selector": "app=one"}
	if _, err := s.sessions(on, ns).UpdateStatus(ctx, made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.kube.AutoscalingV2().HorizontalPodAutoscalers(ns).Create(ctx, &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "one"}, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: on.group + "/v1", Kind: "Session", Name: "one"}, MaxReplicas: 4,
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the autoscaler's look at the scale", time.Minute, func() error {
		h, err := s.kube.AutoscalingV2().HorizontalPodAutoscalers(ns).Get(ctx, "one", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range h.Status.Conditions {
			if c.Type == autoscalingv2.AbleToScale && c.Status == corev1.ConditionTrue && h.Status.CurrentReplicas == 2 {
				return nil
			}
		}
		return fmt.Errorf("status %+v", h.Status)
	})
}

// serverSideApply merges lists by their keys, keeps who manages what and tells
// of conflicts.
func (s *semantics) serverSideApply(t *testing.T, on side) {
	ctx, sessions := t.Context(), s.sessions(on, s.namespace(t, on, "apply"))
	item := func(name, value string) any { return map[string]any{"name": name, "value": value} }
	apply := func(manager string, force bool, spec map[string]any) (*unstructured.Unstructured, error) {
		return sessions.Apply(ctx, "one", on.session("one", spec), metav1.ApplyOptions{FieldManager: manager, Force: force})
	}
	if _, err := apply("first", false, map[string]any{"note": "a", "items": []any{item("x", "1")}}); err != nil {
		t.Fatal(err)
	}
	u, err := apply("second", false, map[string]any{"items": []any{item("y", "2")}})
	if err != nil {
		t.Fatal(err)
	}
	if items := field(u, "spec", "items").([]any); len(items) != 2 || field(u, "spec", "note") != "a" {
		t.Errorf("two managers have made %v", u.Object["spec"])
	}
	_, err = apply("second", false, map[string]any{"items": []any{item("y", "2"), item("x", "3")}})
	if !apierrors.IsConflict(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) || !strings.Contains(err.Error(), `"first"`) {
		t.Errorf("a conflict: %v", err)
	}
	if _, err := apply("second", true, map[string]any{"items": []any{item("y", "2"), item("x", "3")}}); err != nil {
		t.Errorf("a conflict that is forced: %v", err)
	}
	u, err = apply("second", false, map[string]any{"items": []any{item("x", "3")}})
	if err != nil {
		t.Fatal(err)
	}
	if items := field(u, "spec", "items").([]any); len(items) != 1 {
		t.Errorf("an item that is applied no more has stayed: %v", items)
	}
	var managers []string
	for _, m := range u.GetManagedFields() {
		managers = append(managers, m.Manager)
	}
	if len(managers) != 2 {
		t.Errorf("managers %v", managers)
	}
	status := on.session("one", nil)
	status.Object["status"] = map[string]any{"phase": "Running"}
	if u, err = sessions.ApplyStatus(ctx, "one", status, metav1.ApplyOptions{FieldManager: "third"}); err != nil || field(u, "status", "phase") != "Running" {
		t.Errorf("status applied: %v, %v", u, err)
	}
}

// conversion of the strategy None changes the version and nothing else; what is
// stored is of the storage version. kube-apiserver passes the warning about a
// deprecated version on.
func (s *semantics) conversion(t *testing.T, on side) {
	ctx, ns := t.Context(), s.namespace(t, on, "conversion")
	old := s.dyn.Resource(on.resource("sessions", "v1beta1")).Namespace(ns)
	u := on.session("one", map[string]any{"note": "a"})
	u.SetAPIVersion(on.group + "/v1beta1")
	create(t, old, u)
	now, err := s.sessions(on, ns).Get(ctx, "one", metav1.GetOptions{})
	if err != nil || now.GetAPIVersion() != on.group+"/v1" || field(now, "spec", "note") != "a" {
		t.Errorf("as v1: %v, %v", now, err)
	}
	list, err := old.List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].GetAPIVersion() != on.group+"/v1beta1" {
		t.Errorf("as v1beta1: %v, %v", list, err)
	}
	if value := s.stored(t, on, "/registry/"+on.group+"/sessions/"+ns+"/one"); !strings.Contains(value, `"apiVersion":"`+on.group+`/v1"`) {
		t.Errorf("stored is %s", value)
	}
}

// stored is the value of a key in the side's etcd; the other has none.
func (s *semantics) stored(t *testing.T, on side, key string) string {
	t.Helper()
	stores := map[string]string{"main": "main", "tier": s.tierName}
	value := ""
	for where, store := range stores {
		c, err := s.EtcdClient(store)
		if err != nil {
			t.Fatal(err)
		}
		out, err := withCertificate(t, c, c.CertFile, c.KeyFile, "get", key, "--print-value-only")
		if err != nil {
			t.Fatalf("etcd %s: %v\n%s", store, err, out)
		}
		if where == on.where {
			value = out
		} else if strings.TrimSpace(out) != "" {
			t.Errorf("%s has %s, too", store, key)
		}
	}
	return value
}

// conversionWebhook converts both ways, in lists and watches as well, and only
// where a conversion is needed.
func (s *semantics) conversionWebhook(t *testing.T, on side) {
	ctx, ns := t.Context(), s.namespace(t, on, "convert")
	v1, old := s.dyn.Resource(on.resource("gauges", "v1")).Namespace(ns), s.dyn.Resource(on.resource("gauges", "v1beta1")).Namespace(ns)
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": on.group + "/v1beta1", "kind": "Gauge", "metadata": map[string]any{"name": "one"}, "size": "3"}}
	create(t, old, u)
	if u, err := v1.Get(ctx, "one", metav1.GetOptions{}); err != nil || u.Object["width"] != int64(3) || u.Object["size"] != nil {
		t.Errorf("as v1: %v, %v", u, err)
	}
	watching, err := old.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watching.Stop()
	if _, err := v1.Patch(ctx, "one", types.MergePatchType, []byte(`{"width":4}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	next(t, watching, "ADDED one 3")
	next(t, watching, "MODIFIED one 4")
	list, err := old.List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].Object["size"] != "4" {
		t.Errorf("as v1beta1: %v, %v", list, err)
	}
	s.hooks.breaks(true)
	defer s.hooks.breaks(false)
	_, err = old.Get(ctx, "one", metav1.GetOptions{})
	if err := refusal(err, "the converter is broken"); err != nil {
		t.Error(err)
	}
	_, err = v1.Get(ctx, "one", metav1.GetOptions{})
	allowed(t, "as it is stored, without the converter", err)
}

// asJSON is for messages of tests.
func asJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
