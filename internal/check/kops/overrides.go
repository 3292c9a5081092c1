package kops

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/override"
	"github.com/kubeseams/seams/internal/target"
)

// shard is an etcd cluster that takes one resource out of main.
type shard struct{ cluster, resource, override string }

// shards are the etcd clusters that kOps routes a resource to, with the override
// it writes; the ports are pkg/wellknownports of kOps.
var shards = []shard{
	{"events", "/events", "/events#https://127.0.0.1:4002"},
	{"leases", "coordination.k8s.io/leases", "coordination.k8s.io/leases#https://127.0.0.1:4004"},
}

// overrideRules judges a user's own etcd servers. kOps' model sets its lists
// first, and then the user's values are merged over them, a list whole.
func (c *checker) overrideRules(cl *cluster) {
	apiserver := cl.spec.object("kubeAPIServer")
	overrides := apiserver.strings("etcdServersOverrides")
	if len(apiserver.strings("etcdServers")) > 0 {
		c.add(cl.at("spec.kubeAPIServer.etcdServers", finding.Finding{
			Code: "kops-etcd-servers-replaced", Severity: finding.Warning,
			Message: "this list replaces the main etcd that kOps runs, which then stands idle",
			Ref:     "kubernetes/kops upup/pkg/fi/loader/options_loader.go",
		}))
	}
	if c.enabled("EtcdEventsHTTP") && hasShard(cl, "leases") {
		c.add(cl.at("spec.etcdClusters", eventsHTTP()))
	}
	if len(overrides) == 0 {
		return
	}
	const path = "spec.kubeAPIServer.etcdServersOverrides"
	c.overrideSyntax(cl, path, overrides)
	has := map[string]bool{}
	for _, e := range cl.spec.objects("etcdClusters") {
		has[e.str("name")] = true
	}
	for _, shard := range shards {
		if !has[shard.cluster] {
			continue
		}
		i := slices.IndexFunc(overrides, func(o string) bool { return strings.HasPrefix(o, shard.resource+"#") })
		if i < 0 {
			c.add(cl.at(path, replaced(shard.cluster, shard.resource, shard.override)))
			continue
		}
		if !strings.Contains(overrides[i], strings.TrimPrefix(shard.override, shard.resource+"#https:")) {
			c.add(cl.at(indexed(path, i), finding.Finding{
				Code: "kops-override-elsewhere", Severity: finding.Warning,
				Message: fmt.Sprintf("%s goes to another etcd than the %s cluster, which then stands idle", shard.resource, shard.cluster),
				Fix:     fmt.Sprintf("remove the %s cluster, or write %s", shard.cluster, shard.override),
			}))
		}
		if strings.Contains(overrides[i], "#http://") && shard.cluster == "events" && has["leases"] {
			c.add(cl.at(indexed(path, i), eventsHTTP()))
		}
	}
	c.loopbackOverrides(cl, overrides)
}

// overrideSyntax holds the list against what kube-apiserver reads and does: kOps
// joins it with commas and looks at none of it.
func (c *checker) overrideSyntax(cl *cluster, path string, list []string) {
	for i, item := range list {
		_, fs := override.Parse(item)
		for _, f := range fs {
			c.add(cl.at(indexed(path, i), f))
		}
	}
	all, _ := override.ParseAll(list)
	version, err := target.ParseVersion(cl.spec.str("kubernetesVersion"))
	if err != nil {
		version = c.in.Target.Kubernetes
	}
	for _, f := range override.Judge(all, version) {
		c.add(cl.at(path, f))
	}
}

func replaced(cluster, resource, override string) finding.Finding {
	return finding.Finding{
		Code: "kops-overrides-replaced", Severity: finding.Error,
		Message: fmt.Sprintf("this list replaces kOps' own: %s falls back to the main etcd, and the %s cluster stands idle", resource, cluster),
		Fix:     fmt.Sprintf("use an etcdClusters entry instead of the list (leases from kOps 1.36), or repeat %s in it", override),
		Ref:     "kubernetes/kops upup/pkg/fi/loader/options_loader.go; kubernetes/kops#11330",
	}
}

// loopbackOverrides finds addresses that do not resolve on an APIServer group's
// machines: kOps rewrites 127.0.0.1 there only for its own shards.
func (c *checker) loopbackOverrides(cl *cluster, overrides []string) {
	if !slices.ContainsFunc(cl.groups, (*group).apiserver) {
		return
	}
	for i, o := range overrides {
		own := slices.ContainsFunc(shards, func(s shard) bool {
			return strings.HasPrefix(o, s.resource)
		})
		if !own && (strings.Contains(o, "127.0.0.1") || strings.Contains(o, "localhost")) {
			c.add(cl.at(indexed("spec.kubeAPIServer.etcdServersOverrides", i), finding.Finding{
				Code: "kops-override-loopback", Severity: finding.Error,
				Message: "an APIServer instance group has no etcd on its loopback: kOps writes another address there only for /events and leases",
				Fix:     "name the etcd by an address that all apiservers reach",
				Ref:     "kubernetes/kops nodeup/pkg/model/kube_apiserver.go",
			}))
		}
	}
}

// eventsHTTP is the clash of the EtcdEventsHTTP flag with a leases shard.
func eventsHTTP() finding.Finding {
	return finding.Finding{
		Code: "kops-etcd-events-http", Severity: finding.Warning,
		Message: "with EtcdEventsHTTP the apiserver speaks plain HTTP to the leases etcd too, and etcd-manager serves only events so",
		Fix:     "leave EtcdEventsHTTP out of KOPS_FEATURE_FLAGS where there is a leases cluster",
		Ref:     "kubernetes/kops pkg/model/components/apiserver.go, read at 1.36.2",
	}
}

// sorted yields the keys of both sets once, in order.
func sorted(sets ...map[string]bool) iter.Seq[string] {
	all := map[string]bool{}
	for _, s := range sets {
		maps.Copy(all, s)
	}
	return slices.Values(slices.Sorted(maps.Keys(all)))
}
