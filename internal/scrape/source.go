package scrape

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"k8s.io/client-go/rest"
)

// Source is where the metrics of one process are had.
type Source struct {
	// Name is the process in messages and figures: "apiserver-1", "etcd-leases".
	Name string

	base   *url.URL
	client *http.Client
}

// NewSource makes a source of the server at base, such as
// "https://127.0.0.1:6443" or "http://127.0.0.1:2381". config gives TLS and
// credentials; its Host is not used, and it may be nil for plain http.
func NewSource(name, base string, config *rest.Config) (*Source, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", name, err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("source %s: %q is no http or https address", name, base)
	}
	s := &Source{Name: name, base: u, client: &http.Client{}}
	if config != nil {
		transport, err := rest.TransportFor(config)
		if err != nil {
			return nil, fmt.Errorf("source %s: %w", name, err)
		}
		s.client.Transport = transport
	}
	return s, nil
}

// Scrape reads /metrics once.
func (s *Source) Scrape(ctx context.Context) (*Snapshot, error) {
	body, err := s.get(ctx, "/metrics", "")
	if err != nil {
		return nil, err
	}
	defer body.Close()
	snapshot, err := Read(body, time.Now())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return snapshot, nil
}

// HeapAfterGC makes the process collect its garbage, twice, since pools give
// their content up only at the second collection, and reads /metrics. It needs
// profiling: on by default in kube-apiserver, --enable-pprof in etcd.
func (s *Source) HeapAfterGC(ctx context.Context) (*Snapshot, error) {
	for range 2 {
		body, err := s.get(ctx, "/debug/pprof/heap", "gc=1")
		if err != nil {
			return nil, fmt.Errorf("collect garbage: %w", err)
		}
		n, err := io.Copy(io.Discard, io.LimitReader(body, MaxBytes))
		body.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: collect garbage: %w", s.Name, err)
		}
		if n == 0 {
			return nil, fmt.Errorf("%s: collect garbage: %w", s.Name, errors.New("the heap profile is empty"))
		}
	}
	return s.Scrape(ctx)
}

func (s *Source) get(ctx context.Context, path, query string) (io.ReadCloser, error) {
	// A base of a proxy has a path of its own.
	u := s.base.JoinPath(path)
	u.RawQuery = query
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	// The text form by name: kube-apiserver would choose it anyway, others may
	// prefer protobuf.
	request.Header.Set("Accept", "text/plain;version=0.0.4")
	response, err := s.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("%s: GET %s: %s", s.Name, path, response.Status)
	}
	return response.Body, nil
}
