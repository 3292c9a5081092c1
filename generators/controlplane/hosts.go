package controlplane

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/profile"
)

// Places on a control-plane host. They are kubeadm's, and for HostDir ours.
const (
	PKIDir       = "/etc/kubernetes/pki"
	ManifestsDir = "/etc/kubernetes/manifests"
	// HostDir holds what the rendered files refer to: patches, scheduler.yaml.
	HostDir = "/etc/kubernetes/seams"
	// SchedulerConfigPath is KubeSchedulerConfiguration on a host.
	SchedulerConfigPath = HostDir + "/scheduler.yaml"
)

// ClusterDomain is the DNS domain of Services; a plan has no other.
const ClusterDomain = "cluster.local"

// clusterIssuer is of the tokens of service accounts, and whom they are for, as
// kubeadm has it.
const clusterIssuer = "https://kubernetes.default.svc." + ClusterDomain

// DefaultServiceCIDR is kubeadm's, for a plan without one.
const DefaultServiceCIDR = "10.96.0.0/12"

// Hosts are the plan's control-plane hosts. It is an error when there is none,
// or when a store or tier names a host that is not among them.
func Hosts(p *plan.Plan) ([]profile.Host, error) {
	if len(p.ControlPlane.Hosts) == 0 {
		return nil, fmt.Errorf("plan %s: no control-plane hosts", p.Name)
	}
	for _, s := range p.Stores {
		if len(s.Members) == 0 {
			return nil, fmt.Errorf("plan %s: store %s has no members", p.Name, s.Name)
		}
		if err := known(p, "store "+s.Name, s.Members); err != nil {
			return nil, err
		}
	}
	for _, r := range p.Routes {
		if _, ok := p.Store(r.Store); !ok {
			return nil, fmt.Errorf("plan %s: route %s goes to store %s, which is not in the plan", p.Name, r.GroupResource, r.Store)
		}
	}
	for _, t := range p.Tiers {
		if err := known(p, "tier "+t.Name, t.Hosts); err != nil {
			return nil, err
		}
	}
	if _, ok := p.Store("main"); !ok {
		return nil, fmt.Errorf("plan %s: no store named main", p.Name)
	}
	if MainTier(p).Name == "" {
		return nil, fmt.Errorf("plan %s: no tier named main", p.Name)
	}
	return p.ControlPlane.Hosts, nil
}

func known(p *plan.Plan, who string, names []string) error {
	for _, name := range names {
		if _, ok := p.Host(name); !ok {
			return fmt.Errorf("plan %s: %s is on host %s, which is not in the plan", p.Name, who, name)
		}
	}
	return nil
}

// Single reports whether the control plane is one host, where components
// reach each other over loopback and no address has to be right.
func Single(p *plan.Plan) bool { return len(p.ControlPlane.Hosts) == 1 }

// isIP reports whether an address is one that a process can listen on; a
// host may also be known by name.
func isIP(address string) bool {
	_, err := netip.ParseAddr(address)
	return err == nil
}

// loopback is the loopback address of the family of a host's address.
func loopback(address string) string {
	if a, err := netip.ParseAddr(address); err == nil && a.Is6() && !a.Is4In6() {
		return "::1"
	}
	return "127.0.0.1"
}

// listen is the address to bind for a host's address: itself, or every
// address when it is a name.
func listen(address string) string {
	if isIP(address) {
		return address
	}
	return "0.0.0.0"
}

func hostPort(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

func https(host string, port int) string { return "https://" + hostPort(host, port) }

// clientURLs are the client URLs of a store's members as seen from every
// host: over loopback when there is only one.
func clientURLs(p *plan.Plan, s plan.Store) []string {
	if Single(p) {
		return []string{https(loopback(p.ControlPlane.Hosts[0].Address), s.ClientPort)}
	}
	var urls []string
	for _, m := range s.Members {
		h, _ := p.Host(m)
		urls = append(urls, https(h.Address, s.ClientPort))
	}
	return urls
}

// EndpointHost is the host of a host:port endpoint, or the whole when it has no port.
func EndpointHost(endpoint string) string {
	if host, _, err := net.SplitHostPort(endpoint); err == nil {
		return host
	}
	return strings.Trim(endpoint, "[]")
}

// URL is where a port of a host is reached.
func URL(h profile.Host, port int) string { return https(h.Address, port) }
