package kops

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

// providers are the clouds that kOps' validation takes.
var providers = []string{"aws", "azure", "digitalocean", "gce", "hetzner", "linode", "metal", "openstack", "scaleway"}

// clusterRules are about the Cluster as a whole.
func (c *checker) clusterRules(cl *cluster) {
	switch name := cl.name(); {
	case name == "":
		c.add(cl.at("metadata.name", finding.Finding{
			Code: "kops-name-missing", Severity: finding.Error, Message: "a Cluster needs a name, its DNS name",
		}))
	case !strings.Contains(name, ".") && cl.value.object("metadata").object("annotations").str("kops.kubernetes.io/management") != "imported":
		c.add(cl.at("metadata.name", finding.Finding{
			Code: "kops-cluster-name", Severity: finding.Error,
			Message: fmt.Sprintf("%q is no fully-qualified DNS name", name),
			Fix:     name + ".example.com, or " + name + ".k8s.local where there is no DNS zone",
		}))
	}
	switch provider := cl.spec.str("cloudProvider"); {
	case provider == "":
		c.add(cl.at("spec.cloudProvider", finding.Finding{
			Code: "kops-cloud", Severity: finding.Warning, Message: "cloudProvider is missing: kOps refuses such a Cluster",
		}))
	case !slices.Contains(providers, provider):
		c.add(cl.at("spec.cloudProvider", finding.Finding{
			Code: "kops-cloud", Severity: finding.Error,
			Message: fmt.Sprintf("kOps has no cloud %q: it has %s", provider, strings.Join(providers, ", ")),
		}))
	}
	c.kubernetesVersion(cl)
}

// kubernetesVersion: kOps needs one, and refuses a minor after its own.
func (c *checker) kubernetesVersion(cl *cluster) {
	f := finding.Finding{Code: "kops-kubernetes-version", Severity: finding.Error}
	text := cl.spec.str("kubernetesVersion")
	v, err := target.ParseVersion(text)
	switch kops := c.in.Target.Kops; {
	case text == "":
		f.Message = "a Cluster needs kubernetesVersion"
	case err != nil: // kOps takes URLs of builds too
		return
	case !kops.IsZero() && (v.Major > kops.Major || v.Major == kops.Major && v.Minor > kops.Minor):
		f.Code = "kops-older-than-kubernetes"
		f.Message = fmt.Sprintf("kOps %s does not install Kubernetes %s: \"kops update cluster\" stops", kops, v)
		f.Fix = fmt.Sprintf("use kOps %s", v.Line())
		f.Ref = "kubernetes/kops upup/pkg/fi/cloudup/apply_cluster.go"
	default:
		return
	}
	c.add(cl.at("spec.kubernetesVersion", f))
}

// networkRules are kOps' validation of ranges and subnets.
func (c *checker) networkRules(cl *cluster) {
	ranges := map[string]netip.Prefix{}
	for _, field := range []string{"networkCIDR", "nonMasqueradeCIDR", "podCIDR", "serviceClusterIPRange"} {
		if p, ok := c.prefix(cl, "spec."+field, cl.spec.str(field)); ok {
			ranges[field] = p
		}
	}
	if _, set := ranges["networkCIDR"]; set && cl.provider == "gce" {
		c.add(cl.at("spec.networkCIDR", rangeFinding("kOps refuses networkCIDR on GCE: ranges belong to its subnets")))
	}
	network, nonMasquerade, pods := ranges["networkCIDR"], ranges["nonMasqueradeCIDR"], ranges["podCIDR"]
	if network.IsValid() && nonMasquerade.IsValid() && network.Overlaps(nonMasquerade) && !ownAddresses(cl.spec.object("networking")) {
		c.add(cl.at("spec.nonMasqueradeCIDR", rangeFinding(fmt.Sprintf("%s must not overlap networkCIDR %s", nonMasquerade, network))))
	}
	if pods.IsValid() && nonMasquerade.IsValid() && !contains(nonMasquerade, pods) {
		c.add(cl.at("spec.podCIDR", rangeFinding(fmt.Sprintf("%s must lie within nonMasqueradeCIDR %s", pods, nonMasquerade))))
	}
	c.subnetRules(cl, ranges)
}

// ownAddresses reports whether pods get addresses of the cloud's network itself.
func ownAddresses(networking object) bool {
	return networking.has("amazonvpc") || networking.object("cilium").str("ipam") == "eni"
}

func (c *checker) subnetRules(cl *cluster, ranges map[string]netip.Prefix) {
	subnets := cl.spec.objects("subnets")
	if len(subnets) == 0 && cl.provider != "digitalocean" && cl.provider != "hetzner" && cl.provider != "metal" && cl.provider != "" {
		c.add(cl.at("spec.subnets", rangeFinding("a Cluster needs at least one subnet on "+cl.provider)))
	}
	regional := cl.provider == "gce" || cl.provider == "azure" || cl.provider == "digitalocean"
	names := map[string]bool{}
	for i, s := range subnets {
		at := indexed("spec.subnets", i)
		name := s.str("name")
		switch {
		case name == "":
			c.add(cl.at(at, rangeFinding("a subnet needs a name")))
		case names[name]:
			c.add(cl.at(at+".name", rangeFinding(fmt.Sprintf("two subnets are named %q", name))))
		}
		names[name] = true
		if regional && s.str("region") == "" {
			c.add(cl.at(at, rangeFinding("a subnet needs its region on "+cl.provider)))
		}
		if t := s.str("type"); t != "" && !slices.Contains([]string{"Public", "Private", "DualStack", "Utility"}, t) {
			c.add(cl.at(at+".type", rangeFinding(fmt.Sprintf("%q is no type of subnet: Public, Private, DualStack or Utility", t))))
		}
		own, ok := c.prefix(cl, at+".cidr", s.str("cidr"))
		if !ok {
			continue
		}
		if network := ranges["networkCIDR"]; network.IsValid() && !contains(network, own) && len(cl.spec.strings("additionalNetworkCIDRs")) == 0 {
			c.add(cl.at(at+".cidr", rangeFinding(fmt.Sprintf("%s must lie within networkCIDR %s", own, network))))
		}
		if services := ranges["serviceClusterIPRange"]; services.IsValid() && services.Overlaps(own) {
			c.add(cl.at(at+".cidr", rangeFinding(fmt.Sprintf("%s must not overlap serviceClusterIPRange %s", own, services))))
		}
	}
}

func rangeFinding(message string) finding.Finding {
	return finding.Finding{
		Code: "kops-network", Severity: finding.Error, Message: message,
		Ref: "kubernetes/kops pkg/apis/kops/validation/validation.go",
	}
}

// prefix reads a range; kOps also refuses one with bits outside its prefix.
func (c *checker) prefix(cl *cluster, path, value string) (netip.Prefix, bool) {
	if value == "" || strings.HasPrefix(value, "/") {
		return netip.Prefix{}, false
	}
	p, err := netip.ParsePrefix(value)
	switch {
	case err != nil:
		c.add(cl.at(path, rangeFinding(fmt.Sprintf("%q is no range of addresses", value))))
		return p, false
	case p.Masked() != p:
		f := rangeFinding(fmt.Sprintf("%s has bits outside its prefix", p))
		f.Fix = p.Masked().String()
		c.add(cl.at(path, f))
	}
	return p.Masked(), true
}

func contains(outer, inner netip.Prefix) bool {
	return outer.Bits() <= inner.Bits() && outer.Contains(inner.Addr())
}

// loadBalancerRules are about spec.api.
func (c *checker) loadBalancerRules(cl *cluster) {
	const path = "spec.api.loadBalancer"
	lb := cl.spec.object("api").object("loadBalancer")
	add := func(field, message, fix string) {
		c.add(cl.at(path+"."+field, finding.Finding{Code: "kops-load-balancer", Severity: finding.Error, Message: message, Fix: fix}))
	}
	if cl.provider != "aws" && cl.provider != "" {
		for _, field := range []string{
			"class", "idleTimeoutSeconds", "securityGroupOverride", "additionalSecurityGroups", "sslCertificate", "sslPolicy",
			"crossZoneLoadBalancing", "accessLog",
		} {
			if lb.has(field) {
				add(field, field+" is only supported on AWS", "remove it")
			}
		}
	}
	switch class := lb.str("class"); class {
	case "", "Network":
	case "Classic":
		c.add(cl.at(path+".class", finding.Finding{
			Code: "kops-load-balancer", Severity: finding.Warning,
			Message: "kOps 1.37 has no Classic load balancer any more", Fix: "Network",
		}))
	default:
		add("class", fmt.Sprintf("%q is no class of load balancer", class), "Network")
	}
	switch kind := lb.str("type"); kind {
	case "", "Public":
	case "Internal":
		private := func(s object) bool { return s.str("type") == "Private" }
		if !slices.ContainsFunc(cl.spec.objects("subnets"), private) {
			add("type", "an Internal load balancer needs a subnet of type Private", "")
		}
	default:
		add("type", fmt.Sprintf("%q is no type of load balancer", kind), "Public or Internal")
	}
}
