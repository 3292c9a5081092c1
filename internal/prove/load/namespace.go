package load

import (
	"context"
	"fmt"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// ensureNamespace creates a namespace with its default ServiceAccount, without
// which no Pod is admitted: the controller manager that would make it may not be
// there. It returns once every server takes objects in it.
func (d *Driver) ensureNamespace(ctx context.Context, name string) error {
	if d.opts.Provided {
		return nil
	}
	api := d.client(0).core
	if err := d.awaitDropped(ctx, name); err != nil {
		return err
	}
	namespace := &core.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{loadLabel: "namespace"}}}
	if _, err := api.namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %s: %w", name, err)
	}
	no := false
	account := &core.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}, AutomountServiceAccountToken: &no}
	if _, err := api.serviceAccounts(name).Create(ctx, account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create ServiceAccount %s/default: %w", name, err)
	}
	// Admission reads namespaces from a watch, each server from its own; a dry
	// run is judged by all of admission and stores nothing.
	for _, c := range d.clients {
		err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
			probe := &core.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "prove-admission"}}
			_, err := c.core.configMaps(name).Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err == nil, nil
		})
		if err != nil {
			return fmt.Errorf("wait for namespace %s: %w", name, err)
		}
	}
	return nil
}

// awaitDropped waits until a namespace that an earlier load dropped is gone:
// until then nothing can be created in it.
func (d *Driver) awaitDropped(ctx context.Context, name string) error {
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		n, err := d.client(0).core.namespaces().Get(ctx, name, metav1.GetOptions{})
		return err != nil || n.DeletionTimestamp == nil, nil // an error shows again in what follows
	})
	if err != nil {
		return fmt.Errorf("namespace %s is being deleted, by a controller manager that may not be there: %w", name, err)
	}
	return nil
}

// dropNamespace starts the deletion of a namespace. Without a controller manager
// it stays, empty, and that is nobody's load.
func (d *Driver) dropNamespace(ctx context.Context, name string) error {
	if d.opts.Provided {
		return nil
	}
	err := d.client(0).core.namespaces().Delete(ctx, name, metav1.DeleteOptions{})
	return ignoreNotFound(err)
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
