package tier

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/client-go/rest"
)

// Access says how the servers are reached.
type Access struct {
	// Main is a kube-apiserver, or what balances their load.
	Main *rest.Config
	// MainServers are the URLs of all kube-apiservers, each by itself; empty
	// means those that the Service kubernetes lists.
	MainServers []string
	// Tier is one server of the tier, or nil for Main's identity at TierServers.
	Tier *rest.Config
	// TierServers are the URLs of all servers of the tier. Their certificate is
	// for the Service's name, and Target.CA has signed it.
	TierServers []string
	Target      Target
}

// Connect makes the clients, and asks every server for its version, so that one
// that cannot be reached is told before anything is done.
func Connect(ctx context.Context, a Access) (Cluster, error) {
	c := Cluster{Target: a.Target}
	if err := c.Target.validate(); err != nil {
		return c, err
	}
	main, err := NewServer(a.Main)
	if err != nil {
		return c, err
	}
	urls := a.MainServers
	if len(urls) == 0 {
		if urls, err = apiservers(ctx, main); err != nil {
			return c, err
		}
	}
	for _, url := range urls {
		config := rest.CopyConfig(a.Main)
		config.Host = url
		if c.Main, err = add(ctx, c.Main, config); err != nil {
			return c, fmt.Errorf("every kube-apiserver has to be seen, since each follows changes by itself; name their addresses with --main-server where those of the Service kubernetes are not reached: %w", err)
		}
	}
	if a.Tier != nil && len(a.TierServers) == 0 {
		c.Tier, err = add(ctx, c.Tier, a.Tier)
		return c, err
	}
	for _, url := range a.TierServers {
		config := a.Tier
		if config == nil {
			config = rest.CopyConfig(a.Main)
			config.TLSClientConfig.CAFile, config.TLSClientConfig.CAData = "", a.Target.CA
			config.TLSClientConfig.ServerName = a.Target.DNSName()
			// Where kube-apiserver is called through a proxy, the tier is not.
			config.Proxy = nil
		}
		config = rest.CopyConfig(config)
		config.Host = url
		if c.Tier, err = add(ctx, c.Tier, config); err != nil {
			return c, fmt.Errorf("the tier: %w", err)
		}
	}
	return c, c.validate()
}

func add(ctx context.Context, to []*Server, config *rest.Config) ([]*Server, error) {
	s, err := NewServer(config)
	if err != nil {
		return to, err
	}
	var version struct{ GitVersion string }
	if err := s.get(ctx, "/version", &version); err != nil {
		return to, fmt.Errorf("%s: %w", config.Host, err)
	}
	return append(to, s), nil
}

// apiservers are the URLs of all kube-apiservers that serve, by the endpoints of
// the Service kubernetes, which they keep themselves.
func apiservers(ctx context.Context, s *Server) ([]string, error) {
	var slice discoveryv1.EndpointSlice
	if err := s.get(ctx, "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes", &slice); err != nil {
		return nil, fmt.Errorf("find all kube-apiservers by the Service kubernetes: %w; name their addresses with --main-server", err)
	}
	var urls []string
	for _, e := range slice.Endpoints {
		for _, p := range slice.Ports {
			if p.Port != nil && len(e.Addresses) > 0 && (e.Conditions.Ready == nil || *e.Conditions.Ready) {
				urls = append(urls, "https://"+net.JoinHostPort(e.Addresses[0], strconv.Itoa(int(*p.Port))))
			}
		}
	}
	if len(urls) == 0 {
		return nil, fmt.Errorf("find all kube-apiservers: the Service kubernetes has no endpoint; name their addresses with --main-server")
	}
	slices.Sort(urls)
	return slices.Compact(urls), nil
}
