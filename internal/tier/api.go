package tier

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// fieldManager is whose fields of server-side apply ours are.
const fieldManager = "seams"

// Server is one API server, spoken to in JSON. client-go's clientset would keep
// the code of every group in the program, and an aggregated server has no
// discovery of the paths that its definitions are managed by.
type Server struct {
	*rest.RESTClient
	// Host is its URL.
	Host string
}

// NewServer makes a client of one server; it does not call it yet.
func NewServer(config *rest.Config) (*Server, error) {
	c := rest.CopyConfig(config)
	c.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	c.QPS, c.RateLimiter = -1, nil
	c.UserAgent = "seams-tier"
	// A dialer of its own keeps the connection from being shared with servers of
	// an equal configuration; a server that went away is noticed soon.
	c.Dial = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext
	client, err := rest.UnversionedRESTClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	return &Server{client, config.Host}, nil
}

// callTimeout bounds one call but a watch.
const callTimeout = 70 * time.Second

type params map[string]string

// do makes a call and decodes what is answered into out, unless that is nil.
func (s *Server) do(ctx context.Context, verb, at string, p params, contentType string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	r := s.Verb(verb).AbsPath(at).SetHeader("Accept", "application/json")
	for k, v := range p {
		r = r.Param(k, v)
	}
	if in != nil {
		body, err := json.Marshal(in)
		if err != nil {
			return err
		}
		r = r.SetHeader("Content-Type", contentType).Body(body)
	}
	raw, err := answered(r.Do(ctx))
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(raw, out)
}

// answered is the body of an answer, or what the server says against it: Raw
// by itself does not read that.
func answered(r rest.Result) ([]byte, error) {
	if err := r.Error(); err != nil {
		return nil, err
	}
	return r.Raw()
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

// remove deletes an object with its dependents, if the preconditions hold.
func (s *Server) remove(ctx context.Context, at string, m metav1.ObjectMeta) error {
	background := metav1.DeletePropagationBackground
	return s.do(ctx, http.MethodDelete, at, nil, "application/json", metav1.DeleteOptions{
		TypeMeta:          metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions:     &metav1.Preconditions{UID: &m.UID},
		PropagationPolicy: &background,
	}, nil)
}

// list calls on for every object of a collection, 500 at a time.
func list[T any](ctx context.Context, s *Server, at string, on func(T)) error {
	from := ""
	for {
		var page struct {
			Metadata metav1.ListMeta `json:"metadata"`
			Items    []T             `json:"items"`
		}
		if err := s.do(ctx, http.MethodGet, at, params{"limit": "500", "continue": from}, "", nil, &page); err != nil {
			return fmt.Errorf("list %s of %s: %w", at, s.Host, err)
		}
		for _, item := range page.Items {
			on(item)
		}
		if from = page.Metadata.Continue; from == "" {
			return nil
		}
	}
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
