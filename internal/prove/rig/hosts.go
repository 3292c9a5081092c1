package rig

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Host is one control-plane host of the files.
type Host struct {
	// Name is its directory below manifests.
	Name string
	// Rendered is the address that the files give it, Address the one here.
	Rendered, Address string
}

// hostsOf finds the hosts of pods and their rendered addresses, sorted by name.
func hostsOf(pods []pod) ([]Host, error) {
	rendered := map[string]string{}
	var names []string
	for _, p := range pods {
		if !slices.Contains(names, p.host) {
			names = append(names, p.host)
		}
		address := advertised(p)
		switch {
		case address == "":
		case rendered[p.host] == "":
			rendered[p.host] = address
		case rendered[p.host] != address:
			return nil, fmt.Errorf("host %s: its manifests give it two addresses, %s and %s", p.host, rendered[p.host], address)
		}
	}
	slices.Sort(names)
	var hosts []Host
	for _, name := range names {
		address := rendered[name]
		if address == "" {
			return nil, fmt.Errorf("host %s: no manifest tells its address: neither an apiserver's --advertise-address nor an etcd's --advertise-client-urls", name)
		}
		if a, err := netip.ParseAddr(address); err == nil && a.Is6() && !a.Is4In6() {
			return nil, fmt.Errorf("host %s: its address %s is of IPv6, of which loopback has only one", name, address)
		}
		hosts = append(hosts, Host{Name: name, Rendered: address})
	}
	return hosts, nil
}

// advertised is the address that a pod tells others to use.
func advertised(p pod) string {
	if value, ok := flag(p.argv, "advertise-address"); ok {
		return value
	}
	value, _ := flag(p.argv, "advertise-client-urls")
	first, _, _ := strings.Cut(value, ",")
	if u, err := url.Parse(first); err == nil {
		return u.Hostname()
	}
	return ""
}

// reservation holds a range of loopback addresses for as long as a process
// lives, so that two rigs never take the same.
type reservation struct {
	prefix string
	lock   net.Listener
}

const (
	// attempts is how many ranges are tried before giving up.
	attempts = 64
	// lockHost and lockPort are held by the owner of a range.
	lockHost, lockPort = 254, 2379
	// spareHost is for further processes.
	spareHost = 100
)

// reserve takes a free 127.A.B.0/24 and gives the hosts their addresses in it.
func reserve(hosts []Host, ports []int) (*reservation, error) {
	if len(hosts) >= spareHost {
		return nil, fmt.Errorf("%d hosts: the rig has addresses for fewer than %d", len(hosts), spareHost)
	}
	var last error
	for range attempts {
		// Low ranges are where people put things by hand.
		r := &reservation{prefix: fmt.Sprintf("127.%d.%d.", 64+rand.IntN(187), rand.IntN(256))} //nolint:gosec // not a secret
		if last = r.take(hosts, ports); last == nil {
			for i := range hosts {
				hosts[i].Address = r.address(i + 1)
			}
			return r, nil
		}
	}
	return nil, fmt.Errorf("no free range of loopback addresses in %d attempts: %w", attempts, last)
}

func (r *reservation) address(n int) string { return r.prefix + strconv.Itoa(n) }

// take locks the range and tries every port on the address of every host.
// Another's listener on 0.0.0.0 is in the way in every range.
func (r *reservation) take(hosts []Host, ports []int) error {
	lock, err := net.Listen("tcp4", net.JoinHostPort(r.address(lockHost), strconv.Itoa(lockPort)))
	if err != nil {
		return err
	}
	for i := range hosts {
		for _, port := range ports {
			l, err := net.Listen("tcp4", net.JoinHostPort(r.address(i+1), strconv.Itoa(port)))
			if err != nil {
				lock.Close()
				return err
			}
			l.Close()
		}
	}
	r.lock = lock
	return nil
}

func (r *reservation) release() {
	if r != nil && r.lock != nil {
		r.lock.Close()
	}
}

// portsOf are the ports that pods listen on.
func portsOf(pods []pod) []int {
	seen := map[int]bool{}
	for _, p := range pods {
		for _, name := range []string{"listen-client-urls", "listen-peer-urls", "listen-metrics-urls"} {
			value, _ := flag(p.argv, name)
			for item := range strings.SplitSeq(value, ",") {
				if u, err := url.Parse(item); err == nil && u.Port() != "" {
					n, _ := strconv.Atoi(u.Port())
					seen[n] = true
				}
			}
		}
		if n := securePort(p); n > 0 {
			seen[n] = true
		}
	}
	var ports []int
	for n := range seen {
		ports = append(ports, n)
	}
	slices.Sort(ports)
	return ports
}

// securePort is where a component of Kubernetes listens, or 0.
func securePort(p pod) int {
	if value, ok := flag(p.argv, "secure-port"); ok {
		n, _ := strconv.Atoi(value)
		return n
	}
	return map[string]int{"kube-apiserver": 6443, "kube-controller-manager": 10257, "kube-scheduler": 10259}[path.Base(p.argv[0])]
}
