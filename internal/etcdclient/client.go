// Package etcdclient speaks to an etcd by its JSON gateway: for moves of objects
// between etcds, and for proofs, which ask a store what was written to it. etcd's
// own client would add more to the program than all that uses this one.
package etcdclient

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// Access says how the members of an etcd are reached. Its client port has to
// serve etcd's JSON gateway, as it does unless --enable-grpc-gateway=false or
// --listen-client-http-urls says otherwise.
type Access struct {
	Endpoints []string
	// CAFile signed the members' certificates; CertFile and KeyFile are a client's.
	CAFile, CertFile, KeyFile string
}

// Client is of one etcd. Name is what errors call it.
type Client struct {
	Name      string
	endpoints []string
	http      *http.Client
}

// New makes a client of the files that access names; TLS cannot be left out.
// Errors: a file that cannot be read or holds no certificate, an endpoint
// without https.
func New(name string, a Access) (*Client, error) {
	if len(a.Endpoints) == 0 {
		return nil, fmt.Errorf("%s etcd: no endpoint", name)
	}
	for _, e := range a.Endpoints {
		if !strings.HasPrefix(e, "https://") {
			return nil, fmt.Errorf("%s etcd: endpoint %s: want https://", name, e)
		}
	}
	pair, err := tls.LoadX509KeyPair(a.CertFile, a.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("%s etcd: client certificate %s: %w", name, a.CertFile, err)
	}
	ca, err := os.ReadFile(a.CAFile)
	if err != nil {
		return nil, fmt.Errorf("%s etcd: %w", name, err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("%s etcd: %s: no certificate in it", name, a.CAFile)
	}
	return Of(name, a.Endpoints, &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots, MinVersion: tls.VersionTLS12}), nil
}

// connections is how many to a member are kept for later calls.
const connections = 32

// Of makes a client of the members at these endpoints, with a TLS configuration.
func Of(name string, endpoints []string, config *tls.Config) *Client {
	return &Client{Name: name, endpoints: endpoints, http: &http.Client{
		Transport: &http.Transport{
			TLSClientConfig:   config,
			DialContext:       (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			ForceAttemptHTTP2: true, MaxIdleConnsPerHost: connections,
		},
	}}
}

// patience is how long a call may take at one member.
const patience = 60 * time.Second

// etcdError is what etcd answers; it was asked and said no.
type etcdError struct{ message string }

func (e *etcdError) Error() string { return e.message }

// call asks one member after the other until one answers.
func (e *Client) call(ctx context.Context, at string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	var errs []error
	for _, endpoint := range e.endpoints {
		err := e.ask(ctx, strings.TrimSuffix(endpoint, "/")+at, body, out)
		var said *etcdError
		if err == nil || errors.As(err, &said) && !strings.Contains(said.message, "no leader") {
			return e.named(err)
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return e.named(errors.Join(errs...))
}

func (e *Client) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s etcd: %w", e.Name, err)
}

func (e *Client) ask(ctx context.Context, url string, body []byte, out any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	response, err := e.post(ctx, url, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		var problem struct{ Message string }
		if json.Unmarshal(data, &problem) == nil && problem.Message != "" {
			return &etcdError{problem.Message}
		}
		return fmt.Errorf("%s: %s: does it serve etcd's JSON gateway?", url, response.Status)
	}
	return json.Unmarshal(data, out)
}

func (e *Client) post(ctx context.Context, url string, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	return e.http.Do(r)
}

// Header is in every answer. The gateway writes whole numbers of 64 bits as text.
type Header struct {
	ClusterID uint64 `json:"cluster_id,string"`
	Revision  int64  `json:"revision,string"`
}

// KeyValue is a key as it is at a revision.
type KeyValue struct {
	Key, Value  []byte
	ModRevision int64 `json:"mod_revision,string"`
	Lease       int64 `json:"lease,string"`
}

// Range asks for the keys from Key up to End, without it; without End for one.
type Range struct {
	Key       []byte `json:"key"`
	End       []byte `json:"range_end,omitempty"`
	Limit     int64  `json:"limit,string,omitempty"`
	Revision  int64  `json:"revision,string,omitempty"`
	CountOnly bool   `json:"count_only,omitempty"`
	KeysOnly  bool   `json:"keys_only,omitempty"`
}

// Keys answers a Range.
type Keys struct {
	Header Header     `json:"header"`
	KVs    []KeyValue `json:"kvs"`
	More   bool       `json:"more"`
	Count  int64      `json:"count,string"`
}

// Get reads the keys of a range.
func (e *Client) Get(ctx context.Context, r Range) (Keys, error) {
	var out Keys
	err := e.call(ctx, "/v3/kv/range", r, &out)
	return out, err
}

// Head is the etcd's identity and revision.
func (e *Client) Head(ctx context.Context) (Header, error) {
	out, err := e.Get(ctx, Range{Key: []byte("/"), CountOnly: true})
	return out.Header, err
}

// Count counts the keys that begin with a prefix.
func (e *Client) Count(ctx context.Context, prefix string) (int64, error) {
	out, err := e.Get(ctx, Range{Key: []byte(prefix), End: PrefixEnd(prefix), CountOnly: true})
	return out.Count, err
}

// Put writes one key by itself: objects of one write would share a
// resourceVersion, and a watch that begins at it would miss some of them.
func (e *Client) Put(ctx context.Context, key, value []byte) (int64, error) {
	var out struct {
		Header Header `json:"header"`
	}
	err := e.call(ctx, "/v3/kv/put", map[string][]byte{"key": key, "value": value}, &out)
	return out.Header.Revision, err
}

// Remove deletes one key.
func (e *Client) Remove(ctx context.Context, key []byte) error {
	return e.call(ctx, "/v3/kv/deleterange", map[string][]byte{"key": key}, &struct{}{})
}

// Compact forgets what was before a revision.
func (e *Client) Compact(ctx context.Context, revision int64) error {
	err := e.call(ctx, "/v3/kv/compaction", struct {
		Revision int64 `json:"revision,string"`
	}{revision}, &struct{}{})
	var said *etcdError
	if errors.As(err, &said) && strings.Contains(said.message, "has been compacted") {
		return nil
	}
	return err
}

// PrefixEnd is the first key after all that begin with a prefix, which does not
// end in 0xff.
func PrefixEnd(prefix string) []byte {
	end := []byte(prefix)
	end[len(end)-1]++
	return end
}
