package kops

import (
	"strings"

	"github.com/kubeseams/seams/internal/finding"
)

// cluster is a Cluster, and what its stream says about it.
type cluster struct {
	*document
	spec object
	// provider and dnsNone are the document's, or the target's where it has none.
	provider string
	dnsNone  bool
	groups   []*group
}

// group is an InstanceGroup.
type group struct {
	*document
	spec object
	// cluster is nil when its Cluster is not among the documents.
	cluster *cluster
}

// controlPlane reports whether the group's machines run etcd and the control
// plane. kOps writes ControlPlane back as Master.
func (g *group) controlPlane() bool {
	role := g.spec.str("role")
	return role == "Master" || role == "ControlPlane"
}

func (g *group) apiserver() bool { return g.spec.str("role") == "APIServer" }

func (d *document) name() string { return d.value.object("metadata").str("name") }

// rules applies what kOps does with the values, to each object and across them.
func (c *checker) rules(documents []*document) {
	clusters, groups := c.stream(documents)
	for _, cl := range clusters {
		c.clusterRules(cl)
		c.etcdRules(cl)
		c.etcdMembership(cl)
		c.overrideRules(cl)
		c.apiserverRules(cl)
		c.componentRules(cl)
		c.networkRules(cl)
		c.loadBalancerRules(cl)
		c.fileRules(cl.document, cl.spec)
		for _, field := range []string{"kubelet", "masterKubelet"} {
			c.kubeletRules(cl.document, "spec."+field, cl.spec.object(field))
		}
	}
	for _, g := range groups {
		c.groupRules(g)
		c.roleRules(g)
		c.fileRules(g.document, g.spec)
		c.taintRules(g.document, "spec.taints", g.spec.strings("taints"))
		c.kubeletRules(g.document, "spec.kubelet", g.spec.object("kubelet"))
	}
}

// stream sorts the documents and finds each group's cluster by its label.
func (c *checker) stream(documents []*document) (clusters []*cluster, groups []*group) {
	byName := map[string]*cluster{}
	for _, d := range documents {
		if d.kind != "Cluster" {
			continue
		}
		cl := &cluster{document: d, spec: d.value.object("spec")}
		cl.provider = strings.ToLower(cl.spec.str("cloudProvider"))
		if cl.provider == "" {
			cl.provider = c.in.Target.Cloud
		}
		cl.dnsNone = c.in.Target.DNSNone
		if dns := cl.spec.object("topology").object("dns"); dns.has("type") {
			cl.dnsNone = strings.EqualFold(dns.str("type"), "None")
		}
		clusters = append(clusters, cl)
		if first, ok := byName[d.name()]; ok {
			c.add(d.at("metadata.name", finding.Finding{
				Code: "kops-cluster-duplicate", Severity: finding.Error,
				Message: "a Cluster of this name is already in " + first.file,
			}))
			continue
		}
		byName[d.name()] = cl
	}
	for _, d := range documents {
		if d.kind != "InstanceGroup" {
			continue
		}
		g := &group{document: d, spec: d.value.object("spec")}
		g.cluster = byName[d.value.object("metadata").object("labels").str(clusterLabel)]
		if g.cluster != nil {
			g.cluster.groups = append(g.cluster.groups, g)
		}
		groups = append(groups, g)
	}
	return clusters, groups
}

// clusterLabel is how an InstanceGroup names its cluster.
const clusterLabel = "kops.k8s.io/cluster"
