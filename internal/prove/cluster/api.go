package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// api speaks JSON to a cluster. client-go's clientset would keep the code of
// every group in the program.
type api struct{ *rest.RESTClient }

func newAPI(config *rest.Config) (*api, error) {
	c := rest.CopyConfig(config)
	c.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	c.QPS, c.RateLimiter = -1, nil
	c.UserAgent = "seams-prove"
	c.Dial = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	client, err := rest.UnversionedRESTClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	return &api{client}, nil
}

// do makes a call and decodes what is answered into out, unless that is nil.
func (a *api) do(ctx context.Context, verb, at string, params map[string]string, contentType string, in, out any) error {
	r := a.Verb(verb).AbsPath(at).SetHeader("Accept", "application/json")
	for k, v := range params {
		r = r.Param(k, v)
	}
	if in != nil {
		body, err := json.Marshal(in)
		if err != nil {
			return err
		}
		r = r.SetHeader("Content-Type", contentType).Body(body)
	}
	raw, err := r.Do(ctx).Raw()
	if err != nil {
		return err
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(raw, out)
}

func (a *api) get(ctx context.Context, at string, out any) error {
	return a.do(ctx, http.MethodGet, at, nil, "", nil, out)
}

func (a *api) create(ctx context.Context, at string, in any) error {
	return a.do(ctx, http.MethodPost, at, nil, "application/json", in, nil)
}

func (a *api) patch(ctx context.Context, at string, in any) error {
	return a.do(ctx, http.MethodPatch, at, nil, string(types.MergePatchType), in, nil)
}

// meta is what is looked at of objects of any kind.
type meta struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
}

// list calls on for every object of a collection, 500 at a time.
func list[T any](ctx context.Context, a *api, at, selector string, on func(T)) error {
	from := ""
	for {
		var page struct {
			Metadata metav1.ListMeta `json:"metadata"`
			Items    []T             `json:"items"`
		}
		params := map[string]string{"limit": "500", "labelSelector": selector, "continue": from}
		if err := a.do(ctx, http.MethodGet, at, params, "", nil, &page); err != nil {
			return fmt.Errorf("list %s: %w", at, err)
		}
		for _, item := range page.Items {
			on(item)
		}
		if from = page.Metadata.Continue; from == "" {
			return nil
		}
	}
}

// remove deletes exactly the object that was looked at: not one that was made
// anew under its name. What is gone already is no error.
func (a *api) remove(ctx context.Context, at string, m metav1.ObjectMeta) error {
	background := metav1.DeletePropagationBackground
	err := a.do(ctx, http.MethodDelete, at, nil, "application/json", metav1.DeleteOptions{
		TypeMeta:          metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions:     &metav1.Preconditions{UID: &m.UID, ResourceVersion: nil},
		PropagationPolicy: &background,
	}, nil)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

func (o object) at() string { return path.Join(o.collection, o.name) }
