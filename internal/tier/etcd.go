package tier

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
	"sync"
	"time"
)

// EtcdAccess says how the members of an etcd are reached. Its client port has
// to serve etcd's JSON gateway, as it does unless --enable-grpc-gateway=false or
// --listen-client-http-urls says otherwise; etcd's own client would add more to
// the program than all of this package.
type EtcdAccess struct {
	Endpoints []string
	// CAFile signed the members' certificates; CertFile and KeyFile are a client's.
	CAFile, CertFile, KeyFile string
}

// etcd is one etcd.
type etcd struct {
	name      string
	endpoints []string
	http      *http.Client
}

// NewEtcd makes a client; name is what errors call it. TLS cannot be left out.
func NewEtcd(name string, a EtcdAccess) (*etcd, error) { //nolint:revive // only Mover holds it
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
	return &etcd{name: name, endpoints: a.Endpoints, http: &http.Client{
		Timeout: 60 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots, MinVersion: tls.VersionTLS12},
			DialContext:       (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			ForceAttemptHTTP2: true, MaxIdleConnsPerHost: writers,
		},
	}}, nil
}

// etcdError is what etcd answers; it was asked and said no.
type etcdError struct{ message string }

func (e *etcdError) Error() string { return e.message }

// call asks one member after the other until one answers.
func (e *etcd) call(ctx context.Context, at string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	var errs []error
	for _, endpoint := range e.endpoints {
		err := e.ask(ctx, strings.TrimSuffix(endpoint, "/")+at, body, out)
		var said *etcdError
		if err == nil || errors.As(err, &said) && !strings.Contains(said.message, "no leader") {
			return wrap(err, "%s etcd", e.name)
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return fmt.Errorf("%s etcd: %w", e.name, errors.Join(errs...))
}

func (e *etcd) ask(ctx context.Context, url string, body []byte, out any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := e.http.Do(r)
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

// The gateway writes whole numbers of 64 bits as text.
type header struct {
	ClusterID uint64 `json:"cluster_id,string"`
	Revision  int64  `json:"revision,string"`
}

type keyValue struct {
	Key, Value  []byte
	ModRevision int64 `json:"mod_revision,string"`
	Lease       int64 `json:"lease,string"`
}

type rangeRequest struct {
	Key       []byte `json:"key"`
	End       []byte `json:"range_end,omitempty"`
	Limit     int64  `json:"limit,string,omitempty"`
	Revision  int64  `json:"revision,string,omitempty"`
	CountOnly bool   `json:"count_only,omitempty"`
	KeysOnly  bool   `json:"keys_only,omitempty"`
}

type rangeResponse struct {
	Header header     `json:"header"`
	KVs    []keyValue `json:"kvs"`
	More   bool       `json:"more"`
	Count  int64      `json:"count,string"`
}

func (e *etcd) get(ctx context.Context, r rangeRequest) (rangeResponse, error) {
	var out rangeResponse
	err := e.call(ctx, "/v3/kv/range", r, &out)
	return out, err
}

// head is the etcd's identity and revision.
func (e *etcd) head(ctx context.Context) (header, error) {
	out, err := e.get(ctx, rangeRequest{Key: []byte("/"), CountOnly: true})
	return out.Header, err
}

func (e *etcd) count(ctx context.Context, prefix string) (int64, error) {
	out, err := e.get(ctx, rangeRequest{Key: []byte(prefix), End: prefixEnd(prefix), CountOnly: true})
	return out.Count, err
}

// put writes one key by itself: objects of one write would share a
// resourceVersion, and a watch that begins at it would miss some of them.
func (e *etcd) put(ctx context.Context, key, value []byte) (int64, error) {
	var out struct {
		Header header `json:"header"`
	}
	err := e.call(ctx, "/v3/kv/put", map[string][]byte{"key": key, "value": value}, &out)
	return out.Header.Revision, err
}

func (e *etcd) remove(ctx context.Context, key []byte) error {
	return e.call(ctx, "/v3/kv/deleterange", map[string][]byte{"key": key}, &struct{}{})
}

// compact forgets what was before a revision.
func (e *etcd) compact(ctx context.Context, revision int64) error {
	err := e.call(ctx, "/v3/kv/compaction", struct {
		Revision int64 `json:"revision,string"`
	}{revision}, &struct{}{})
	var said *etcdError
	if errors.As(err, &said) && strings.Contains(said.message, "has been compacted") {
		return nil
	}
	return err
}

// prefixEnd is the first key after all that begin with a prefix, which does not
// end in 0xff.
func prefixEnd(prefix string) []byte {
	end := []byte(prefix)
	end[len(end)-1]++
	return end
}

// writers is how many writes wait for an answer at once.
const writers = 32

// parallel calls do for 0 to n-1, and stops at the first error.
func parallel(ctx context.Context, n int, do func(context.Context, int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(writers, n) {
		wg.Go(func() {
			for i := range next {
				if err := do(ctx, i); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
feed:
	for i := range n {
		select {
		case next <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}
