package cluster

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// parallel is how many nodes are removed at a time.
const parallel = 16

// remover removes what carries the label of a run, and nothing else.
type remover struct {
	api *api
	// selector picks the run, or all runs.
	selector string
	left     []string
}

// remove removes everything of the run.
func (p *Plan) remove(ctx context.Context) error {
	return (&remover{api: p.api, selector: selectorOf(p.spec.Run)}).all(ctx)
}

// CleanUp removes what earlier runs left that were killed before they could:
// everything with RunLabel, whatever its value. It must not be called while
// another run is under way. Errors: what could not be removed.
func CleanUp(ctx context.Context, config *rest.Config) error {
	a, err := newAPI(config)
	if err != nil {
		return err
	}
	return (&remover{api: a, selector: RunLabel}).all(ctx)
}

// all removes in an order in which nothing is made anew: first what starts
// Pods, and the Pods; nodes when nobody renews them any more; then the rest.
func (r *remover) all(ctx context.Context) error {
	for _, at := range []string{
		inNamespace("/apis/batch/v1", Namespace, "jobs"), inNamespace("/apis/apps/v1", Namespace, "deployments"),
	} {
		r.sweep(ctx, at)
	}
	// Pods that stay are told by their namespace, which then stays too.
	(&remover{api: r.api, selector: r.selector}).gone(ctx, inNamespace("/api/v1", Namespace, "pods"), time.Minute)
	for _, at := range []string{"/api/v1/nodes", inNamespace("/apis/coordination.k8s.io/v1", leaseNamespace, "leases")} {
		r.sweep(ctx, at)
	}
	for _, at := range []string{
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		rbacPath + "/clusterrolebindings", rbacPath + "/clusterroles",
		inNamespace(rbacPath, leaseNamespace, "rolebindings"), inNamespace(rbacPath, leaseNamespace, "roles"),
		namespaces,
	} {
		r.sweep(ctx, at)
	}
	for _, at := range []string{"/api/v1/nodes", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", namespaces} {
		r.gone(ctx, at, removeWithin)
	}
	if len(r.left) == 0 {
		return nil
	}
	return errors.New("not removed:\n  " + strings.Join(r.left, "\n  ") +
		"\nwhat is left carries the label " + r.selector + "; --clean-up tries again")
}

// sweep deletes what a collection has of the run. What is not there, such as
// the namespace of an early failure, has nothing of it.
func (r *remover) sweep(ctx context.Context, at string) {
	var all []metav1.ObjectMeta
	err := list(ctx, r.api, at, r.selector, func(m meta) { all = append(all, m.Metadata) })
	if err != nil {
		if !apierrors.IsNotFound(err) {
			r.left = append(r.left, err.Error())
		}
		return
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for part := range slices.Chunk(all, max(1, (len(all)+parallel-1)/parallel)) {
		wg.Go(func() {
			for _, m := range part {
				if err := r.api.remove(ctx, path.Join(at, m.Name), m); err != nil {
					mu.Lock()
					r.left = append(r.left, fmt.Sprintf("%s: %v", path.Join(at, m.Name), err))
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
}

// gone waits until a collection has nothing of the run any more.
func (r *remover) gone(ctx context.Context, at string, d time.Duration) {
	var names []string
	err := within(ctx, d, func() (bool, error) {
		names = nil
		err := list(ctx, r.api, at, r.selector, func(m meta) { names = append(names, m.Metadata.Name) })
		return err == nil && len(names) == 0, err
	})
	if err != nil && !apierrors.IsNotFound(err) {
		r.left = append(r.left, fmt.Sprintf("%s: %s (%v)", at, strings.Join(names[:min(len(names), 5)], ", "), err))
	}
}
