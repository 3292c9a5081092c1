package diff

import (
	"strings"

	"github.com/kubeseams/seams/generators/kops"
)

// kopsCluster is who asks for a change of kOps' Cluster.
func (a *asker) kopsCluster(c Change) []Reason {
	block, rest := split(strings.TrimPrefix(c.Path, "spec."))
	field, _ := split(strings.TrimPrefix(rest, "."))
	switch {
	case strings.Contains(rest, "].etcdMembers["):
		return nil // an overlay's: the plan leaves members that are there alone
	case block == "etcdClusters":
		store := bracketed().FindStringSubmatch(c.Path)[1]
		if store == "main" {
			return a.quota(store)
		}
		return a.store(store)
	case block == "kubelet":
		return a.kubelet(field)
	case field == "etcdServersOverrides":
		return a.flag("kube-apiserver", "etcd-servers-overrides", c.Entry)
	case field == "env":
		return a.ask(nil, "", want{"apiserver", "env", last(c.Path)})
	case block == "kubeScheduler" && (field == "qps" || field == "burst"):
		return a.ask(nil, "", want{"scheduler", field}, want{"scheduler", "flags", "kube-api-" + field})
	}
	program, flag, ok := kops.FlagOf(block, field)
	if field == "featureGates" {
		_, gate, _ := strings.Cut(c.Path, "featureGates.")
		return a.flag(program, "feature-gates", gate)
	}
	if !ok {
		return nil
	}
	return a.flag(program, flag, c.Entry)
}
