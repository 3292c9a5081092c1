package kops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/finding"
)

// groupRules are kOps' validation of an InstanceGroup by itself.
func (c *checker) groupRules(g *group) {
	if g.name() == "" {
		c.add(g.at("metadata.name", finding.Finding{
			Code: "kops-name-missing", Severity: finding.Error, Message: "an InstanceGroup needs a name",
		}))
	}
	if g.value.object("metadata").object("labels").str(clusterLabel) == "" {
		c.add(g.at("metadata.labels", finding.Finding{
			Code: "kops-cluster-label", Severity: finding.Error,
			Message: "kOps cannot tell which cluster this instance group belongs to",
			Fix:     fmt.Sprintf("label it %s: NAME-OF-THE-CLUSTER", clusterLabel),
		}))
	}
	smallest, hasMin := g.spec.number("minSize")
	largest, hasMax := g.spec.number("maxSize")
	if hasMin && hasMax && largest < smallest {
		c.add(g.at("spec.maxSize", finding.Finding{
			Code: "kops-group-size", Severity: finding.Error,
			Message: fmt.Sprintf("maxSize %d is less than minSize %d", largest, smallest),
		}))
	}
	if g.controlPlane() {
		for _, field := range []string{"minSize", "maxSize"} {
			if n, ok := g.spec.number(field); ok && n > 1 {
				c.add(g.at("spec."+field, finding.Finding{
					Code: "kops-group-size", Severity: finding.Error,
					Message: fmt.Sprintf("a control-plane instance group has one machine, not %d", n),
					Fix:     "add instance groups, each with a member in every etcd cluster",
					Ref:     "kubernetes/kops pkg/apis/kops/validation/instancegroup.go",
				}))
			}
		}
		if len(g.spec.strings("subnets")) == 0 {
			c.add(g.at("spec.subnets", finding.Finding{
				Code: "kops-group-subnet", Severity: finding.Error,
				Message: "a control-plane instance group must name a subnet",
			}))
		}
	}
	if g.cluster != nil {
		c.groupSubnets(g)
	}
}

func (c *checker) groupSubnets(g *group) {
	var known []string
	for _, s := range g.cluster.spec.objects("subnets") {
		known = append(known, s.str("name"))
	}
	for i, s := range g.spec.strings("subnets") {
		if len(known) > 0 && !slices.Contains(known, s) {
			c.add(g.at(indexed("spec.subnets", i), finding.Finding{
				Code: "kops-group-subnet", Severity: finding.Error,
				Message: fmt.Sprintf("the Cluster has no subnet %q: it has %s", s, strings.Join(known, ", ")),
			}))
		}
	}
}

// roleRules are about the group's role, above all APIServer.
func (c *checker) roleRules(g *group) {
	role := g.spec.str("role")
	switch role {
	case "Master", "ControlPlane", "Node", "Bastion":
		return
	case "APIServer":
		c.apiserverRole(g)
		return
	}
	f := finding.Finding{
		Code: "kops-role", Severity: finding.Error, Message: fmt.Sprintf("kOps has no role %q", role),
		Fix: "Master (or ControlPlane), Node, APIServer or Bastion",
	}
	if role == "" {
		f.Message = "an InstanceGroup needs a role"
	}
	c.add(g.at("spec.role", f))
}

// apiserverRole says where a group that runs only apiservers is allowed, and
// what it needs.
func (c *checker) apiserverRole(g *group) {
	t := c.in.Target
	if t.Kops.IsZero() {
		t.Kops.Major, t.Kops.Minor = 1, newest
	}
	if g.cluster != nil {
		t.Cloud, t.DNSNone = g.cluster.provider, g.cluster.dnsNone
	}
	f := finding.Finding{
		Code: "kops-apiserver-role", Severity: finding.Error,
		Ref: "kubernetes/kops pkg/apis/kops/validation/instancegroup.go; kubernetes/kops#17631",
	}
	switch withDNS := t; {
	case t.KopsAPIServerRoleAllowed():
	case t.Cloud == "":
		f.Severity = finding.Warning
		f.Message = "the role APIServer depends on the cloud, and neither a Cluster nor the target names one"
	default:
		withDNS.DNSNone = false
		if withDNS.KopsAPIServerRoleAllowed() {
			f.Message = fmt.Sprintf("kOps %s refuses the role APIServer with topology.dns.type None: its machines find etcd by DNS names", t.Kops)
			f.Fix = "use DNS, or leave the group out"
			break
		}
		f.Message = fmt.Sprintf("kOps %s refuses the role APIServer on %s: AWS only until 1.35, AWS and GCE from 1.36", t.Kops, t.Cloud)
	}
	if f.Message != "" {
		c.add(g.at("spec.role", f))
	}
	if !c.enabled("APIServerNodes") {
		c.add(g.at("spec.role", finding.Finding{
			Code: "kops-apiserver-flag", Severity: finding.Warning,
			Message: "\"kops update cluster\" takes the role APIServer only with a feature flag",
			Fix:     "export KOPS_FEATURE_FLAGS=+APIServerNodes",
			Ref:     "kubernetes/kops docs/operations/scaling.md",
		}))
	}
	if g.cluster != nil && g.cluster.dnsNone && hasShard(g.cluster, "leases") {
		c.add(g.at("spec.role", finding.Finding{
			Code: "kops-leases-not-resolved", Severity: finding.Error,
			Message: "without DNS kOps writes the addresses of the main and events etcds to /etc/hosts, and not that of leases: this group's apiservers will not find it",
			Ref:     "kubernetes/kops nodeup/pkg/model/etc_hosts.go, read at 1.36.2",
		}))
	}
}

func hasShard(cl *cluster, name string) bool {
	return slices.ContainsFunc(cl.spec.objects("etcdClusters"), func(e object) bool { return e.str("name") == name })
}

// taintRules: kOps splits a taint at ":" and "=", and the kubelet refuses an unknown effect.
func (c *checker) taintRules(d *document, path string, taints []string) {
	seen := map[string]bool{}
	for i, t := range taints {
		if t == "" {
			continue
		}
		key, effect, _ := strings.Cut(t, ":")
		f := finding.Finding{Code: "kops-taint", Severity: finding.Error, Fix: "KEY=VALUE:NoSchedule, PreferNoSchedule or NoExecute"}
		switch {
		case seen[t]:
			f.Message, f.Fix = fmt.Sprintf("%q is there twice", t), ""
		case strings.Contains(effect, ":") || strings.Count(key, "=") > 1 || key == "" || key[0] == '=':
			f.Message = fmt.Sprintf("%q is no taint", t)
		case effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute":
			f.Message = fmt.Sprintf("%q has the effect %q, which the kubelet refuses", t, effect)
		}
		seen[t] = true
		if f.Message != "" {
			c.add(d.at(indexed(path, i), f))
		}
	}
}
