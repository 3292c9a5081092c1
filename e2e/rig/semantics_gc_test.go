//go:build rig

package rig_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// collected is what the collection of garbage gets: it looks for new resources
// every 30 s.
const collected = 75 * time.Second

// configMap creates a ConfigMap with an owner, or none, and finalizers.
func (s *semantics) configMap(t *testing.T, namespace, name string, owners []metav1.OwnerReference, finalizers ...string) *corev1.ConfigMap {
	t.Helper()
	c, err := s.kube.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners, Finalizers: finalizers},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (s *semantics) getConfigMap(t *testing.T, namespace, name string) func() error {
	return func() error {
		_, err := s.kube.CoreV1().ConfigMaps(namespace).Get(t.Context(), name, metav1.GetOptions{})
		return err
	}
}

func (s *semantics) getSession(t *testing.T, on side, namespace, name string) func() error {
	return func() error {
		_, err := s.sessions(on, namespace).Get(t.Context(), name, metav1.GetOptions{})
		return err
	}
}

// ownedBy refers to an owner that waits for its dependents.
func ownedBy(apiVersion, kind, name string, uid types.UID) []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, BlockOwnerDeletion: &yes}}
}

// ownerInMain: a session goes with the ConfigMap that owns it, and one whose
// owner never was goes as well.
func (s *semantics) ownerInMain(t *testing.T, on side) {
	ns := s.namespace(t, on, "owner-in-main")
	owner := s.configMap(t, ns, "owner", nil)
	owned := on.session("owned", nil)
	owned.SetOwnerReferences(ownedBy("v1", "ConfigMap", "owner", owner.UID))
	create(t, s.sessions(on, ns), owned)
	lost := on.session("lost", nil)
	lost.SetOwnerReferences(ownedBy("v1", "ConfigMap", "never", "11111111-2222-3333-4444-555555555555"))
	create(t, s.sessions(on, ns), lost)
	gone(t, "a session without its owner", collected, s.getSession(t, on, ns, "lost"))
	allowed(t, "a session with its owner", s.getSession(t, on, ns, "owned")())
	if err := s.kube.CoreV1().ConfigMaps(ns).Delete(t.Context(), "owner", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	gone(t, "the session", collected, s.getSession(t, on, ns, "owned"))
}

// ownerInGroup: a ConfigMap goes with the session that owns it.
func (s *semantics) ownerInGroup(t *testing.T, on side) {
	ns := s.namespace(t, on, "owner-in-group")
	owner := create(t, s.sessions(on, ns), on.session("owner", nil))
	s.configMap(t, ns, "owned", ownedBy(on.group+"/v1", "Session", "owner", owner.GetUID()))
	if err := s.sessions(on, ns).Delete(t.Context(), "owner", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	gone(t, "the ConfigMap", collected, s.getConfigMap(t, ns, "owned"))
}

// foreground: a session that is deleted in the foreground waits for a
// dependent in the main server that blocks it.
func (s *semantics) foreground(t *testing.T, on side) {
	ctx, ns, policy := t.Context(), s.namespace(t, on, "foreground"), metav1.DeletePropagationForeground
	owner := create(t, s.sessions(on, ns), on.session("owner", nil))
	s.configMap(t, ns, "owned", ownedBy(on.group+"/v1", "Session", "owner", owner.GetUID()), "example.dev/hold")
	if err := s.sessions(on, ns).Delete(ctx, "owner", metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the dependent's deletion begins", collected, func() error {
		c, err := s.kube.CoreV1().ConfigMaps(ns).Get(ctx, "owned", metav1.GetOptions{})
		if err == nil && c.DeletionTimestamp == nil {
			err = fmt.Errorf("it is not deleted")
		}
		return err
	})
	u, err := s.sessions(on, ns).Get(ctx, "owner", metav1.GetOptions{})
	if err != nil || !slices.Contains(u.GetFinalizers(), metav1.FinalizerDeleteDependents) {
		t.Fatalf("the owner does not wait: %v, %v", u, err)
	}
	if _, err := s.kube.CoreV1().ConfigMaps(ns).Patch(ctx, "owned", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	gone(t, "the owner", collected, s.getSession(t, on, ns, "owner"))
}

// foregroundInMain: a ConfigMap that is deleted in the foreground waits for a
// session that blocks it.
func (s *semantics) foregroundInMain(t *testing.T, on side) {
	ctx, ns, policy := t.Context(), s.namespace(t, on, "foreground-main"), metav1.DeletePropagationForeground
	owner := s.configMap(t, ns, "owner", nil)
	owned := on.session("owned", nil)
	owned.SetOwnerReferences(ownedBy("v1", "ConfigMap", "owner", owner.UID))
	owned.SetFinalizers([]string{"example.dev/hold"})
	create(t, s.sessions(on, ns), owned)
	if err := s.kube.CoreV1().ConfigMaps(ns).Delete(ctx, "owner", metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the dependent's deletion begins", collected, func() error {
		u, err := s.sessions(on, ns).Get(ctx, "owned", metav1.GetOptions{})
		if err == nil && u.GetDeletionTimestamp() == nil {
			err = fmt.Errorf("it is not deleted")
		}
		return err
	})
	allowed(t, "the owner waits", s.getConfigMap(t, ns, "owner")())
	if _, err := s.sessions(on, ns).Patch(ctx, "owned", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	gone(t, "the owner", collected, s.getConfigMap(t, ns, "owner"))
}

// orphan: a session that is deleted alone leaves its dependents without an
// owner.
func (s *semantics) orphan(t *testing.T, on side) {
	ctx, ns, policy := t.Context(), s.namespace(t, on, "orphan"), metav1.DeletePropagationOrphan
	owner := create(t, s.sessions(on, ns), on.session("owner", nil))
	s.configMap(t, ns, "owned", ownedBy(on.group+"/v1", "Session", "owner", owner.GetUID()))
	if err := s.sessions(on, ns).Delete(ctx, "owner", metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
		t.Fatal(err)
	}
	gone(t, "the owner", collected, s.getSession(t, on, ns, "owner"))
	c, err := s.kube.CoreV1().ConfigMaps(ns).Get(ctx, "owned", metav1.GetOptions{})
	if err != nil || len(c.OwnerReferences) != 0 {
		t.Errorf("the dependent: %v, %v", c, err)
	}
}

// namespaceDeletion takes the sessions along, and waits for their finalizers.
func (s *semantics) namespaceDeletion(t *testing.T, on side) {
	ctx, ns := t.Context(), s.namespace(t, on, "deleted")
	held := on.session("held", nil)
	held.SetFinalizers([]string{"example.dev/hold"})
	create(t, s.sessions(on, ns), held)
	create(t, s.sessions(on, ns), on.session("free", nil))
	if err := s.kube.CoreV1().Namespaces().Delete(ctx, ns, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	gone(t, "a session", collected, s.getSession(t, on, ns, "free"))
	n, err := s.kube.CoreV1().Namespaces().Get(ctx, ns, metav1.GetOptions{})
	if err != nil || n.Status.Phase != corev1.NamespaceTerminating {
		t.Fatalf("the namespace: %v, %v", n, err)
	}
	_, err = s.sessions(on, ns).Create(ctx, on.session("late", nil), metav1.CreateOptions{})
	if err := refusal(err, "because it is being terminated"); err != nil {
		t.Error(err)
	}
	if _, err := s.sessions(on, ns).Patch(ctx, "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	gone(t, "the namespace", collected, func() error {
		_, err := s.kube.CoreV1().Namespaces().Get(ctx, ns, metav1.GetOptions{})
		return err
	})
}
