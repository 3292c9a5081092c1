package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// Options say what a driver drives, and how hard it may try.
type Options struct {
	// Servers are the apiservers; calls take them in turn.
	Servers []*rest.Config
	// Definitions is the server that takes CustomResourceDefinitions: an
	// aggregated one has its own. Nil is the first of Servers.
	Definitions *rest.Config
	// Definers take the definitions of some groups in place of Definitions, by
	// group: each aggregated server has its own.
	Definers map[string]*rest.Config
	// Connections per server; 0 is 4. HTTP/2 carries many calls on each, but a
	// single one makes all wait for its lost packets and for its reader.
	Connections int
	// MaxInFlight bounds the calls of one load that wait for an answer; 0 is
	// 2000. A call that is due beyond it is not made, and counted as missed.
	MaxInFlight int
	// Timeout of one call, from when it was due; 0 is 60 s, as kube-apiserver's.
	Timeout time.Duration
	// Parallel is how many calls prepare and clean up at once; 0 is 32.
	Parallel int
	// Provided says that namespaces and definitions are the caller's: loads make
	// and delete none, and need no right to.
	Provided bool
	// Seed fixes names, contents and jitter.
	Seed uint64
	// Progress is told where loads stand, from any goroutine; may be nil.
	Progress func(Progress)
}

// Driver holds the connections to a control plane; loads share one.
type Driver struct {
	opts        Options
	clients     []*client
	definitions *client
	definers    map[string]*client
	traffic     *traffic
}

// client is one connection.
type client struct {
	core *typed           // protobuf, as components speak
	json *rest.RESTClient // raw JSON, for custom resources and watches
}

// NewDriver makes a driver; it does not call any server yet.
func NewDriver(o Options) (*Driver, error) {
	if len(o.Servers) == 0 {
		return nil, errors.New("a driver needs a server")
	}
	o.Connections = orDefault(o.Connections, 4)
	o.MaxInFlight = orDefault(o.MaxInFlight, 2000)
	o.Timeout = orDefault(o.Timeout, 60*time.Second)
	o.Parallel = orDefault(o.Parallel, 32)
	d := &Driver{opts: o, traffic: &traffic{}}
	// Neighbours in turn are on different servers.
	for range o.Connections {
		for _, s := range o.Servers {
			c, err := d.connect(s)
			if err != nil {
				return nil, err
			}
			d.clients = append(d.clients, c)
		}
	}
	d.definitions = d.clients[0]
	if o.Definitions != nil {
		c, err := d.connect(o.Definitions)
		if err != nil {
			return nil, err
		}
		d.definitions = c
	}
	d.definers = map[string]*client{}
	for group, server := range o.Definers {
		c, err := d.connect(server)
		if err != nil {
			return nil, err
		}
		d.definers[group] = c
	}
	return d, nil
}

// definer is the server that takes the definitions of a group.
func (d *Driver) definer(group string) *client {
	if c := d.definers[group]; c != nil {
		return c
	}
	return d.definitions
}

func orDefault[T int | time.Duration | float64](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

func (d *Driver) connect(config *rest.Config) (*client, error) {
	c := rest.CopyConfig(config)
	c.QPS, c.RateLimiter = -1, nil // the timetable is the limiter
	c.Timeout = 0                  // calls carry their own, watches none
	// Sizes on the wire are those of the objects.
	c.DisableCompression = true
	c.UserAgent = "seams-prove"
	// client-go shares connections between equal configs; a dialer of its own
	// makes this one different.
	c.Dial = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return &meter{next, d.traffic} })
	http, err := rest.HTTPClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	wire := rest.CopyConfig(c)
	wire.ContentType = runtime.ContentTypeProtobuf
	wire.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	core, err := newTyped(wire, http)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	c.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	raw, err := rest.UnversionedRESTClientForConfigAndClient(c, http)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	return &client{core: core, json: raw}, nil
}

// client i in turn.
func (d *Driver) client(i int) *client { return d.clients[i%len(d.clients)] }

// random gives the stream of one load: its own, so that loads that run beside
// each other do not change each other's.
func (d *Driver) random(load string) *rand.Rand {
	h := d.opts.Seed
	for _, b := range []byte(load) {
		h = h*1099511628211 + uint64(b)
	}
	return rand.New(rand.NewPCG(d.opts.Seed, h))
}

func (d *Driver) progress(p Progress) {
	if d.opts.Progress != nil {
		d.opts.Progress(p)
	}
}

// each calls do for 0 to n-1, Parallel at a time, and stops at the first error.
// It is for preparing and cleaning up, where only the end counts.
func (d *Driver) each(ctx context.Context, load, step string, n int, do func(context.Context, int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next, done atomic.Int64
	var wg sync.WaitGroup
	for range min(d.opts.Parallel, n) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(ctx, i); err != nil {
					cancel(err)
					return
				}
				if k := int(done.Add(1)); k == n || k%max(n/20, 1) == 0 {
					d.progress(Progress{Load: load, Step: step, Done: k, Total: n})
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// traffic counts what the driver sent and what it was refused.
type traffic struct{ requests, throttled atomic.Int64 }

// meter counts requests below client-go's retries: what a 429 answers is tried
// again by client-go, and would not be seen above.
type meter struct {
	next    http.RoundTripper
	traffic *traffic
}

func (m *meter) RoundTrip(r *http.Request) (*http.Response, error) {
	m.traffic.requests.Add(1)
	response, err := m.next.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusTooManyRequests {
		m.traffic.throttled.Add(1)
	}
	return response, err
}

// failures counts failed calls by reason.
type failures struct {
	mu sync.Mutex
	by map[string]int
}

func (f *failures) add(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.by == nil {
		f.by = map[string]int{}
	}
	f.by[reason(err)]++
}

func (f *failures) counts() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.by
}

func (f *failures) total() int64 {
	n := int64(0)
	for _, k := range f.counts() {
		n += int64(k)
	}
	return n
}

// reason is a word for a failed call.
func reason(err error) string {
	if r := apierrors.ReasonForError(err); r != metav1.StatusReasonUnknown {
		return string(r)
	}
	var network net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "ClientTimeout"
	case errors.Is(err, context.Canceled):
		return "Canceled"
	case errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "Connection"
	}
	return "Other"
}
