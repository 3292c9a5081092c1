package tier

import (
	"context"
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/apiclient"
)

// fieldManager is whose fields of server-side apply ours are.
const fieldManager = "seams"

// Server is one API server. An aggregated one has no discovery of the paths
// that its definitions are managed by.
type Server struct{ *apiclient.Client }

// keepAlive is short, so that a server that went away is noticed soon.
const keepAlive = 15 * time.Second

// NewServer makes a client of one server; it does not call it yet.
func NewServer(config *rest.Config) (*Server, error) {
	c, err := apiclient.New(config, "seams-tier", apiclient.Dialer(keepAlive))
	if err != nil {
		return nil, err
	}
	return &Server{c}, nil
}

// callTimeout bounds one call but a watch.
const callTimeout = 70 * time.Second

type params = apiclient.Params

// do is one call.
func (s *Server) do(ctx context.Context, verb, at string, p params, contentType string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return s.Do(ctx, verb, at, p, contentType, in, out)
}

func (s *Server) get(ctx context.Context, at string, out any) error {
	return s.do(ctx, http.MethodGet, at, nil, "", nil, out)
}

func (s *Server) create(ctx context.Context, at string, p params, in, out any) error {
	return s.do(ctx, http.MethodPost, at, p, "application/json", in, out)
}

func (s *Server) update(ctx context.Context, at string, in, out any) error {
	return s.do(ctx, http.MethodPut, at, nil, "application/json", in, out)
}

func (s *Server) merge(ctx context.Context, at string, in, out any) error {
	return s.do(ctx, http.MethodPatch, at, params{"fieldManager": fieldManager}, string(types.MergePatchType), in, out)
}

// apply is a server-side apply, which creates what is not there.
func (s *Server) apply(ctx context.Context, at string, dryRun bool, in, out any) error {
	p := params{"fieldManager": fieldManager, "force": "true", "fieldValidation": "Strict"}
	if dryRun {
		p["dryRun"] = "All"
	}
	return s.do(ctx, http.MethodPatch, at, p, string(types.ApplyPatchType), in, out)
}

// remove deletes an object with its dependents, if it is the one that was looked at.
func (s *Server) remove(ctx context.Context, at string, m metav1.ObjectMeta) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return s.Remove(ctx, at, m)
}

// list calls on for every object of a collection.
func list[T any](ctx context.Context, s *Server, at string, on func(T)) error {
	get := func(ctx context.Context, p params, out any) error {
		return s.do(ctx, http.MethodGet, at, p, "", nil, out)
	}
	err := apiclient.Pages(ctx, get, nil, func(items []T) bool {
		for _, item := range items {
			on(item)
		}
		return true
	})
	return wrap(err, "list %s of %s", at, s.Host)
}

// until calls done every interval until it reports no error, and gives its last
// one when the time is over.
func until(ctx context.Context, limit, interval time.Duration, done func(context.Context) error) error {
	deadline := time.Now().Add(limit)
	for {
		err := done(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not within %s: %w", limit, err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(interval):
		}
	}
}
