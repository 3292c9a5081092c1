package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

const (
	refWatchCache = "k8s.io/apiserver pkg/server/options/etcd.go, ParseWatchCacheSizes"
	refHotCache   = "https://github.com/kubernetes/kubernetes/issues/51825"
)

// hotResources are watched by every node or by many controllers: without the
// watch cache each of those watches and lists is etcd's to serve.
var hotResources = []string{"/pods", "/nodes", "/services", "/endpoints", "/configmaps", "/secrets", "discovery.k8s.io/endpointslices"}

// judgeWatchCache judges --watch-cache-sizes, items of RESOURCE.GROUP#SIZE.
func (c *checker) judgeWatchCache(p *process) {
	for _, a := range p.args {
		if !a.own || strings.ReplaceAll(a.name, "_", "-") != "watch-cache-sizes" {
			continue
		}
		for item := range strings.SplitSeq(a.value, ",") {
			if item == "" && a.value == "" {
				continue
			}
			c.judgeCacheSize(a, item)
		}
	}
}

func (c *checker) judgeCacheSize(a arg, item string) {
	name, size, ok := strings.Cut(item, "#")
	n, err := strconv.Atoi(size)
	if !ok || err != nil || n < 0 {
		c.at(a.doc, a.valuePath, finding.Finding{
			Code: "watch-cache-size-syntax", Severity: finding.Error,
			Message: fmt.Sprintf("%q is not RESOURCE.GROUP#SIZE with a size of 0 or more", item),
			Fix:     "write for example leases.coordination.k8s.io#0", Ref: refWatchCache,
		})
		return
	}
	resource, group, _ := strings.Cut(name, ".")
	if c.unknownCached(a, name, group, resource) {
		return
	}
	key := group + "/" + resource
	switch {
	case n > 0:
		c.at(a.doc, a.valuePath, finding.Finding{
			Code: "watch-cache-size-ignored", Severity: finding.Warning,
			Message: fmt.Sprintf("%q has no effect: upstream sizes the cache by itself, and heeds only 0, which turns it off", item),
			Fix:     "remove it", Ref: refWatchCache,
		})
	case slices.Contains(hotResources, key):
		c.at(a.doc, a.valuePath, finding.Finding{
			Code: "watch-cache-off-hot", Severity: finding.Error,
			Message: fmt.Sprintf("%s is watched all over the cluster; without its watch cache etcd serves every one of those watches and lists", name),
			Fix:     "leave its cache on", Ref: refHotCache,
		})
	case key == "/events" || key == "events.k8s.io/events":
		c.at(a.doc, a.valuePath, finding.Finding{
			Code: "watch-cache-off-already", Severity: finding.Info,
			Message: "events have no watch cache by default", Fix: "remove it",
			Ref: "kubernetes pkg/kubeapiserver/default_storage_factory_builder.go, DefaultWatchCacheSizes",
		})
	}
}

// unknownCached judges the name, and reports whether no cache can be meant by it.
func (c *checker) unknownCached(a arg, name, group, resource string) bool {
	f := finding.Finding{
		Code: "watch-cache-unknown-resource", Severity: finding.Error,
		Message: fmt.Sprintf("%q names no resource: kube-apiserver takes it and changes nothing", name), Ref: refWatchCache,
	}
	r, builtIn := target.LookUp(c.version(), group, resource)
	switch {
	case strings.Contains(name, "/"):
		if g, r, _ := strings.Cut(name, "/"); g == "" {
			f.Fix = fmt.Sprintf("write %s#0", r)
		} else {
			f.Fix = fmt.Sprintf("write %s.%s#0", r, g)
		}
	case builtIn && r.Storage == target.Unstored:
		f.Message = fmt.Sprintf("%s is never stored and has no cache", name)
		f.Fix = "remove it"
	case builtIn:
		return false
	case strings.Contains(group, ".") && !c.builtInGroup(group):
		return c.customCached(a, name)
	default:
		for _, named := range target.BuiltInsNamed(c.version(), resource) {
			f.Fix = "write " + strings.TrimSuffix(named.Resource+"."+named.Group, ".") + "#0"
		}
	}
	c.at(a.doc, a.valuePath, f)
	return true
}

func (c *checker) builtInGroup(group string) bool {
	return slices.ContainsFunc(target.BuiltIns(c.version()), func(r target.Resource) bool { return r.Group == group })
}

// customCached judges the cache of a custom resource, which the flag reaches
// in some versions only.
func (c *checker) customCached(a arg, name string) bool {
	if c.target.WatchCacheSizesReachCustomResources() {
		return false
	}
	c.at(a.doc, a.valuePath, finding.Finding{
		Code: "watch-cache-custom-resource", Severity: finding.Error,
		Message: fmt.Sprintf("Kubernetes %s does not heed the size for the custom resource %s", c.version().Line(), name),
		Fix:     "remove it", Ref: "https://github.com/kubernetes/kubernetes/issues/141217",
	})
	return true
}
