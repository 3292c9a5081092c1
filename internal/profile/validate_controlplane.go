package profile

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"github.com/kubeseams/seams/internal/target"
)

// hosts checks the control-plane machines.
func (v *validator) hosts() {
	names, addresses := map[string]int{}, map[netip.Addr]int{}
	for i, h := range v.ControlPlane.Hosts {
		at := fmt.Sprintf("controlPlane.hosts[%d]", i)
		if first, ok := names[h.Name]; ok {
			v.err(CodeDuplicateHost, at+".name", fmt.Sprintf("%q is also the name of host %d", h.Name, first), "give every host a name of its own", "")
		} else {
			names[h.Name] = i
		}
		addr, err := netip.ParseAddr(h.Address)
		if err != nil {
			v.err(CodeHostAddress, at+".address", fmt.Sprintf("%q is not an IP address", h.Address), "", "")
			continue
		}
		addr = addr.Unmap()
		if first, ok := addresses[addr]; ok {
			v.err(CodeDuplicateHost, at+".address", fmt.Sprintf("%s is also the address of host %d", addr, first), "give every host an address of its own", "")
		} else {
			addresses[addr] = i
		}
		if addr.IsUnspecified() || addr.IsLoopback() || addr.IsMulticast() {
			v.err(CodeHostAddress, at+".address", fmt.Sprintf("other hosts cannot reach %s", addr), "write the address the hosts use among themselves", "")
		}
	}
	n := len(v.ControlPlane.Hosts)
	if n > 1 && n%2 == 0 {
		v.warn(CodeHostsEven, "controlPlane.hosts", fmt.Sprintf("%d hosts survive the loss of no more hosts than %d would: etcd needs a majority", n, n-1),
			fmt.Sprintf("use %d or %d", n-1, n+1), "etcd FAQ: why an odd number of cluster members")
	}
	if a := v.ControlPlane.Apiservers; n > 0 && a != n && v.Platform.Kind != string(target.Kops) {
		v.warn(CodeApiserversNotHosts, "controlPlane.apiservers",
			fmt.Sprintf("%d apiservers on %d hosts: a host runs exactly one", a, n), "leave apiservers out", "")
	}
}

// endpoints checks the load balancers' addresses.
func (v *validator) endpoints() {
	c := v.ControlPlane
	if len(c.Hosts) > 1 && c.Endpoint == "" {
		v.toRender(CodeEndpointMissing, "controlPlane.endpoint", fmt.Sprintf("%d hosts need an endpoint that stands for all of them", len(c.Hosts)),
			`add endpoint, host:port of a load balancer, such as "api.example.com:6443"`, "kubeadm controlPlaneEndpoint, which cannot be added to a running cluster")
	}
	host := v.hostOf("controlPlane.endpoint", c.Endpoint)
	v.hostOf("controlPlane.nodeEndpoint", c.NodeEndpoint)
	if len(c.Hosts) > 1 {
		for _, h := range c.Hosts {
			if host == h.Address || host == h.Name {
				v.warn(CodeEndpointIsHost, "controlPlane.endpoint", fmt.Sprintf("the endpoint is host %q itself: with that host the API is gone", h.Name),
					"name a load balancer or a virtual address", "")
			}
		}
	}
	if c.NodeEndpoint != "" && c.NodeEndpoint == c.Endpoint {
		v.warn(CodeNodeEndpointSame, "controlPlane.nodeEndpoint", "nodes share everybody's endpoint: a tier for them would take no load off it",
			"give the node-facing tier an endpoint of its own, or leave nodeEndpoint out", "")
	}
}

// hostOf splits an endpoint, reporting one that cannot be dialled.
func (v *validator) hostOf(path, endpoint string) string {
	if endpoint == "" {
		return ""
	}
	host, port, err := net.SplitHostPort(endpoint)
	if n, convErr := strconv.Atoi(port); err != nil || convErr != nil || n < 1 || n > 65535 || host == "" {
		v.err(CodeEndpointBad, path, fmt.Sprintf("%q is not host:port with a port from 1 to 65535", endpoint), `write it like "api.example.com:6443"`, "")
		return ""
	}
	return host
}

// etcd checks the store's settings.
func (v *validator) etcd() {
	if q := v.ControlPlane.EtcdQuotaGiB; q > 8 {
		v.warn(CodeQuotaAboveMax, "controlPlane.etcdQuotaGiB", fmt.Sprintf("%s GiB is above the 8 GiB that etcd suggests: it will warn, and take longer to start and to recover", number2(q)),
			"move a resource to a store of its own before raising the quota further", "etcd --quota-backend-bytes; k3s-io/k3s#14130")
	}
}
