package cluster

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/apiclient"
)

// api is the client of the cluster.
type api struct{ *apiclient.Client }

func newAPI(config *rest.Config) (*api, error) {
	c, err := apiclient.New(config, "seams-prove", apiclient.Dialer(30*time.Second))
	if err != nil {
		return nil, err
	}
	return &api{c}, nil
}

func (a *api) get(ctx context.Context, at string, out any) error {
	return a.Do(ctx, http.MethodGet, at, nil, "", nil, out)
}

func (a *api) create(ctx context.Context, at string, in any) error {
	return a.Do(ctx, http.MethodPost, at, nil, "application/json", in, nil)
}

func (a *api) patch(ctx context.Context, at string, in any) error {
	return a.Do(ctx, http.MethodPatch, at, nil, string(types.MergePatchType), in, nil)
}

// meta is what is looked at of objects of any kind.
type meta struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
}

// list calls on for every object of a collection.
func list[T any](ctx context.Context, a *api, at, selector string, on func(T)) error {
	get := func(ctx context.Context, p apiclient.Params, out any) error {
		return a.Do(ctx, http.MethodGet, at, p, "", nil, out)
	}
	err := apiclient.Pages(ctx, get, apiclient.Params{"labelSelector": selector}, func(items []T) bool {
		for _, item := range items {
			on(item)
		}
		return true
	})
	if err != nil {
		return fmt.Errorf("list %s: %w", at, err)
	}
	return nil
}

// remove deletes exactly the object that was looked at. What is gone already,
// or was made anew under its name, is no error.
func (a *api) remove(ctx context.Context, at string, m metav1.ObjectMeta) error {
	err := a.Remove(ctx, at, m)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

func (o object) at() string { return path.Join(o.collection, o.name) }
