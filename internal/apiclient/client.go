// Package apiclient speaks JSON to one API server, for what works on a cluster
// that runs: measure, tiers, and proofs of existing clusters. client-go's
// clientset would keep the code of every group in the program.
package apiclient

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// Client is a client of one server.
type Client struct {
	*rest.RESTClient
	// Host is its URL.
	Host string
}

// Params are the query of a call.
type Params = map[string]string

// Dialer is one of a client's own, which keeps its connection from being shared
// with servers of an equal configuration; a server that went away is noticed
// within a few of keepAlive.
func Dialer(keepAlive time.Duration) func(context.Context, string, string) (net.Conn, error) {
	return (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: keepAlive}).DialContext
}

// New makes a client that calls itself agent; it does not call yet. dial may be
// nil, for the connections that all clients of an equal configuration share.
func New(config *rest.Config, agent string, dial func(context.Context, string, string) (net.Conn, error)) (*Client, error) {
	c := rest.CopyConfig(config)
	c.GroupVersion, c.NegotiatedSerializer = nil, scheme.Codecs.WithoutConversion()
	c.QPS, c.RateLimiter = -1, nil
	c.UserAgent = agent
	if dial != nil {
		c.Dial = dial
	}
	client, err := rest.UnversionedRESTClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	return &Client{client, config.Host}, nil
}

// Do makes a call and decodes what is answered into out, unless that is nil.
func (c *Client) Do(ctx context.Context, verb, at string, params Params, contentType string, in, out any) error {
	r := c.Verb(verb).AbsPath(at).SetHeader("Accept", "application/json")
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

// Read is the body of what a path answers in a media type.
func (c *Client) Read(ctx context.Context, at string, params Params, accept string) ([]byte, error) {
	r := c.Get().AbsPath(at).SetHeader("Accept", accept)
	for k, v := range params {
		r = r.Param(k, v)
	}
	return answered(r.Do(ctx))
}

// Remove deletes an object with its dependents, but only the very one that was
// looked at: not one that was made anew under its name.
func (c *Client) Remove(ctx context.Context, at string, m metav1.ObjectMeta) error {
	background := metav1.DeletePropagationBackground
	return c.Do(ctx, http.MethodDelete, at, nil, "application/json", metav1.DeleteOptions{
		TypeMeta:          metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions:     &metav1.Preconditions{UID: &m.UID},
		PropagationPolicy: &background,
	}, nil)
}

// Pages reads a collection, 500 objects at a time, until on says that it is
// enough; get makes one call.
func Pages[T any](ctx context.Context, get func(context.Context, Params, any) error, params Params, on func([]T) bool) error {
	query := Params{"limit": "500"}
	maps.Copy(query, params)
	for {
		var page struct {
			Metadata metav1.ListMeta `json:"metadata"`
			Items    []T             `json:"items"`
		}
		if err := get(ctx, query, &page); err != nil {
			return err
		}
		if !on(page.Items) || page.Metadata.Continue == "" {
			return nil
		}
		query["continue"] = page.Metadata.Continue
	}
}
