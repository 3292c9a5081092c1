package profile

import (
	"fmt"
	"net/netip"

	"github.com/kubeseams/seams/internal/target"
)

// network checks the ranges of addresses against each other, the hosts, and
// the number of nodes.
func (v *validator) network() {
	n := v.ControlPlane.Network
	pods, okPods := v.prefix("controlPlane.network.podCIDR", n.PodCIDR)
	services, okServices := v.prefix("controlPlane.network.serviceCIDR", n.ServiceCIDR)
	if okPods && okServices {
		if pods.Overlaps(services) {
			v.err(CodeNetworkOverlap, "controlPlane.network.serviceCIDR", fmt.Sprintf("Services %s overlap the pods' %s", services, pods), "choose ranges apart from each other", "")
		}
		if pods.Addr().Is4() != services.Addr().Is4() {
			v.err(CodeNetworkFamily, "controlPlane.network.serviceCIDR", fmt.Sprintf("Services %s and pods %s are of different address families", services, pods), "use IPv4 or IPv6 for both", "")
		}
	}
	for i, h := range v.ControlPlane.Hosts {
		addr, err := netip.ParseAddr(h.Address)
		if err != nil {
			continue
		}
		at := fmt.Sprintf("controlPlane.hosts[%d].address", i)
		if okPods && pods.Contains(addr.Unmap()) {
			v.err(CodeHostInRange, at, fmt.Sprintf("%s lies in the pods' range %s", addr, pods), "choose another podCIDR", "")
		}
		if okServices && services.Contains(addr.Unmap()) {
			v.err(CodeHostInRange, at, fmt.Sprintf("%s lies in the Services' range %s", addr, services), "choose another serviceCIDR", "")
		}
	}
	if okServices && services.Addr().BitLen()-services.Bits() > 20 {
		v.err(CodeServiceRangeTooLarge, "controlPlane.network.serviceCIDR", fmt.Sprintf("%s has more than 20 bits of addresses, which kubeadm and kube-apiserver refuse", services),
			fmt.Sprintf("use a /%d or longer", services.Addr().BitLen()-20), "cmd/kube-apiserver/app/options/validation.go")
	}
	if okPods {
		v.nodeRanges(pods)
	}
}

// nodeRanges checks that the pod range has room for every node, and a node's
// part of it for every pod.
func (v *validator) nodeRanges(pods netip.Prefix) {
	mask, bits := v.ControlPlane.Network.NodeMaskSize, pods.Addr().BitLen()
	const at = "controlPlane.network.nodeMaskSize"
	switch {
	case mask < pods.Bits() || mask > bits-2:
		v.err(CodeNodeMask, at, fmt.Sprintf("/%d cannot be cut out of %s", mask, pods), fmt.Sprintf("use a length between %d and %d", pods.Bits(), bits-2), "")
		return
	case bits == 128 && mask-pods.Bits() > 16:
		v.err(CodeNodeMask, at, fmt.Sprintf("/%d is more than 16 bits longer than %s: kube-controller-manager refuses that for IPv6", mask, pods),
			fmt.Sprintf("use /%d, or a longer podCIDR", pods.Bits()+16), "pkg/controller/nodeipam/ipam/cidrset")
		return
	}
	// Neither shift can overflow: room is at most 2^30 for IPv4, 2^16 for IPv6.
	if room := 1 << (mask - pods.Bits()); room < v.Nodes.Demand() {
		add := v.toRender
		if v.Platform.Kind == string(target.Kops) {
			// On kOps the network plugin may hand out addresses itself (amazonvpc).
			add = v.warn
		}
		add(CodePodRangeTooSmall, "controlPlane.network.podCIDR", fmt.Sprintf("%s has room for %d nodes of /%d; the profile has %d", pods, room, mask, v.Nodes.Demand()),
			"use a shorter podCIDR, or a longer nodeMaskSize", "kube-controller-manager --cluster-cidr, --node-cidr-mask-size")
	}
	if host := bits - mask; host < 16 && 1<<host-2 < v.Nodes.PodsPerNode {
		v.toRender(CodeNodeRangeTooSmall, at, fmt.Sprintf("a node's /%d has %d addresses; the profile has %d pods on a node", mask, 1<<host-2, v.Nodes.PodsPerNode),
			"use a shorter nodeMaskSize", "")
	}
}

// prefix parses a range and cuts it to its network address.
func (v *validator) prefix(path, cidr string) (netip.Prefix, bool) {
	p, err := netip.ParsePrefix(cidr)
	if err != nil {
		v.err(CodeNetworkCIDR, path, fmt.Sprintf("%q is not a CIDR range", cidr), `write it like "10.128.0.0/9"`, "")
		return p, false
	}
	return p.Masked(), true
}
