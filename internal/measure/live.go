package measure

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/apiclient"
	"github.com/kubeseams/seams/internal/scrape"
)

// Options say how to look at a cluster.
type Options struct {
	Config *rest.Config
	// Window is the time between the two looks.
	Window time.Duration
	// Sample is how many objects of a kind are read for their size.
	Sample int
	// Servers are addresses of further apiservers, Etcds of the metrics of the
	// main etcd's members: "http://10.0.0.11:2381".
	Servers, Etcds []string
	// Progress is told what is done; may be nil.
	Progress func(string)
	// Wait waits for the window; nil is the clock.
	Wait func(context.Context, time.Duration) error
}

// cluster is one call of Live.
type cluster struct {
	o    Options
	api  *apiclient.Client
	seen *Observation
	// versions are the preferred versions of groups.
	versions map[string]string
}

// Live observes a cluster: twice its apiservers' metrics, a window apart, and
// once its objects. It only reads. Errors: a cluster that does not answer at
// all; what it refuses besides is in the observation.
func Live(ctx context.Context, o Options) (*Observation, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	api, err := apiclient.New(o.Config, "seams-measure", nil)
	if err != nil {
		return nil, err
	}
	c := &cluster{o: o, api: api, seen: newObservation(), versions: map[string]string{"": "v1"}}
	c.seen.Live = true
	o.Progress("asking " + o.Config.Host)
	if err := c.version(ctx); err != nil {
		return nil, err
	}
	c.endpoint()
	c.groups(ctx)
	c.hosts(ctx)
	c.leases(ctx)
	c.flags(ctx)
	if err := c.metrics(ctx); err != nil {
		return nil, err
	}
	o.Progress("counting and sampling objects")
	c.counts(ctx)
	c.sizes(ctx)
	return c.seen, ctx.Err()
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (c *cluster) version(ctx context.Context) error {
	var v struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := c.get(ctx, "/version", nil, &v); err != nil {
		return fmt.Errorf("ask %s for its version: %w", c.o.Config.Host, err)
	}
	c.seen.Kubernetes = v.GitVersion
	return nil
}

// endpoint is how this kubeconfig reaches the cluster, which with several hosts
// is the load balancer.
func (c *cluster) endpoint() {
	u, err := url.Parse(c.o.Config.Host)
	if err != nil || u.Host == "" {
		return
	}
	c.seen.Endpoint = u.Host
	if u.Port() == "" {
		c.seen.Endpoint += ":443"
	}
}

// groups learns the version that each group prefers.
func (c *cluster) groups(ctx context.Context) {
	var list struct {
		Groups []struct {
			Name             string `json:"name"`
			PreferredVersion struct {
				Version string `json:"version"`
			} `json:"preferredVersion"`
		} `json:"groups"`
	}
	if err := c.get(ctx, "/apis", nil, &list); err != nil {
		c.seen.refuse("the list of API groups", err)
		return
	}
	for _, g := range list.Groups {
		c.versions[g.Name] = g.PreferredVersion.Version
	}
}

// sources are the apiservers by their own addresses, past any load balancer:
// each counts its own clients only. Without such addresses it is whichever the
// kubeconfig leads to.
func (c *cluster) sources(ctx context.Context) []*scrape.Source {
	var sources []*scrape.Source
	add := func(name, base string, config *rest.Config) {
		s, err := scrape.NewSource(name, base, config)
		if err != nil {
			c.seen.refuse("metrics of "+name, err)
			return
		}
		sources = append(sources, s)
	}
	addresses := c.o.Servers
	if len(addresses) == 0 {
		addresses = c.endpoints(ctx)
	}
	for _, a := range addresses {
		config := rest.CopyConfig(c.o.Config)
		config.Host = a
		// A name that every apiserver's certificate has, whatever its address.
		config.TLSClientConfig.ServerName = "kubernetes.default.svc"
		add(strings.TrimPrefix(a, "https://"), a, config)
	}
	return sources
}

// endpoints are the apiservers that the kubernetes Service knows.
func (c *cluster) endpoints(ctx context.Context) (all []string) {
	var list struct {
		Items []struct {
			Endpoints []struct {
				Addresses []string `json:"addresses"`
			} `json:"endpoints"`
			Ports []struct {
				Port int `json:"port"`
			} `json:"ports"`
		} `json:"items"`
	}
	err := c.get(ctx, "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
		map[string]string{"labelSelector": "kubernetes.io/service-name=kubernetes"}, &list)
	if err != nil {
		c.seen.refuse("the addresses of the apiservers", err)
	}
	for _, slice := range list.Items {
		for _, e := range slice.Endpoints {
			for _, a := range e.Addresses {
				for _, p := range slice.Ports {
					if strings.Contains(a, ":") {
						a = "[" + a + "]"
					}
					all = append(all, fmt.Sprintf("https://%s:%d", a, p.Port))
				}
			}
		}
	}
	return all
}

// metrics looks twice at every process that answers.
func (c *cluster) metrics(ctx context.Context) error {
	sources := c.sources(ctx)
	reached := c.scrape(ctx, sources)
	if len(reached) == 0 {
		// The kubeconfig's own way in: one of several, where there are several.
		s, err := scrape.NewSource(strings.TrimPrefix(c.o.Config.Host, "https://"), c.o.Config.Host, c.o.Config)
		if err != nil {
			return err
		}
		sources = []*scrape.Source{s}
		if reached = c.scrape(ctx, sources); len(reached) == 0 {
			return fmt.Errorf("no apiserver shows its metrics: %w", c.lastRefusal())
		}
	}
	sources = slices.DeleteFunc(sources, func(s *scrape.Source) bool { return reached[s.Name] == nil })
	sources = distinct(sources, reached, c.o.Progress)
	var etcds []*scrape.Source
	for _, a := range c.o.Etcds {
		s, err := scrape.NewSource(a, a, c.o.Config)
		if err != nil {
			return err
		}
		etcds = append(etcds, s)
	}
	// What was reached is looked at anew: connections are made by then, so that
	// both looks take as long and the time between them is the window.
	stores := c.scrape(ctx, etcds)
	before := c.scrape(ctx, sources)
	if c.o.Window > 0 {
		c.o.Progress(fmt.Sprintf("looking again after %s", c.o.Window))
		if err := c.o.Wait(ctx, c.o.Window); err != nil {
			return err
		}
	}
	if err := c.seen.addServers(c.seen.windows(c.again(ctx, sources, before))); err != nil {
		return err
	}
	return c.seen.addEtcds(c.seen.windows(c.again(ctx, etcds, stores)))
}

func (c *cluster) lastRefusal() error {
	if n := len(c.seen.Refused); n > 0 {
		return errors.New(c.seen.Refused[n-1].Why)
	}
	return errors.New("none was found")
}

func (c *cluster) scrape(ctx context.Context, sources []*scrape.Source) map[string]*scrape.Snapshot {
	all := map[string]*scrape.Snapshot{}
	for _, s := range sources {
		snapshot, err := s.Scrape(ctx)
		if err != nil {
			c.seen.refuse("metrics of "+s.Name, err)
			continue
		}
		all[s.Name] = snapshot
	}
	return all
}

// again looks a second time at those that answered before; without a window
// the first look is all.
func (c *cluster) again(ctx context.Context, sources []*scrape.Source, before map[string]*scrape.Snapshot) (looks []Look) {
	after := before
	if c.o.Window > 0 && len(sources) > 0 {
		after = c.scrape(ctx, sources)
	}
	for _, s := range sources {
		l := Look{Name: s.Name, Before: before[s.Name], After: after[s.Name]}
		if c.o.Window <= 0 {
			l.Before = nil
		}
		if l.After != nil && (l.Before != nil || c.o.Window <= 0) {
			looks = append(looks, l)
		}
	}
	return looks
}
