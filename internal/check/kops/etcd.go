package kops

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/pattern"
)

// etcdNames are the etcd clusters the target's kOps knows; the list is closed,
// each has its ports and manifests in kOps' source.
func (c *checker) etcdNames() []string {
	names := []string{"cilium", "main", "events"}
	if c.leasesShard() {
		names = append(names, "leases")
	}
	return names
}

// leasesShard reports whether the target's kOps knows the leases shard; a kOps
// that is not named is the newest.
func (c *checker) leasesShard() bool {
	return c.in.Target.Kops.IsZero() || c.in.Target.KopsHasLeasesShard()
}

// etcdRules are kOps' validation of each etcd cluster, and what etcd-manager
// would refuse later.
func (c *checker) etcdRules(cl *cluster) {
	clusters := cl.spec.objects("etcdClusters")
	if len(clusters) == 0 {
		c.add(cl.at("spec.etcdClusters", finding.Finding{
			Code: "kops-etcd-missing", Severity: finding.Error,
			Message: "a Cluster needs its etcd clusters, main at least",
			Fix:     "start from \"kops get -o yaml\" or \"kops create cluster --dry-run -o yaml\"",
		}))
		return
	}
	seen := map[string]bool{}
	for i, e := range clusters {
		path := indexed("spec.etcdClusters", i)
		c.etcdName(cl, path, e.str("name"), seen)
		c.etcdMembers(cl, path, e)
		c.etcdVersion(cl, path, e, clusters[0].str("version"))
		c.etcdEnv(cl, path+".manager.env", e.object("manager").objects("env"))
		for field, variable := range map[string]string{
			"heartbeatInterval": "ETCD_HEARTBEAT_INTERVAL", "leaderElectionTimeout": "ETCD_ELECTION_TIMEOUT",
		} {
			if e.has(field) {
				c.add(cl.at(path+"."+field, finding.Finding{
					Code: "kops-etcd-timing", Severity: finding.Error,
					Message: field + " passes validation, and then \"kops update cluster\" fails: etcd-manager does not support it",
					Fix:     fmt.Sprintf("set %s, in milliseconds, in manager.env", variable),
					Ref:     "kubernetes/kops pkg/model/components/etcdmanager/model.go",
				}))
			}
		}
	}
	if !seen["main"] {
		c.add(cl.at("spec.etcdClusters", finding.Finding{
			Code: "kops-etcd-no-main", Severity: finding.Error,
			Message: "no etcd cluster is named main: the apiservers would have none to keep objects in",
		}))
	}
}

func (c *checker) etcdName(cl *cluster, path, name string, seen map[string]bool) {
	f := finding.Finding{Code: "kops-etcd-name", Severity: finding.Error, Ref: "kubernetes/kops pkg/apis/kops/validation/validation.go"}
	names := c.etcdNames()
	switch {
	case seen[name]:
		f.Code = "kops-etcd-duplicate"
		f.Message = fmt.Sprintf("a second etcd cluster named %q: each needs a backup store of its own", name)
	case slices.Contains(names, name):
	case name == "leases":
		f.Code = "kops-leases-before-1.36"
		f.Message = fmt.Sprintf("kOps knows an etcd cluster for leases from kOps 1.36 on, and this is for kOps %s", c.in.Target.Kops)
		f.Fix = "use kOps 1.36, or leave leases in main"
		f.Ref = "kubernetes/kops#18054"
	default:
		f.Message = fmt.Sprintf("kOps has no etcd cluster %q: it knows %s", name, strings.Join(names, ", "))
		f.Fix = "a custom resource can only leave main for an aggregated API server, which is deployed as an addon"
	}
	seen[name] = true
	if f.Message != "" {
		c.add(cl.at(path+".name", f))
	}
}

func (c *checker) etcdMembers(cl *cluster, path string, e object) {
	members := e.objects("etcdMembers")
	path += ".etcdMembers"
	if len(members)%2 == 0 {
		c.add(cl.at(path, finding.Finding{
			Code: "kops-etcd-even", Severity: finding.Error,
			Message: fmt.Sprintf("%d members: kOps wants an odd number, for an even one tolerates no more failures", len(members)),
			Ref:     "kubernetes/kops pkg/apis/kops/validation/validation.go",
		}))
	}
	names, groups := map[string]bool{}, map[string]bool{}
	for i, m := range members {
		at := indexed(path, i)
		for _, field := range []string{"name", "instanceGroup"} {
			if m.str(field) == "" {
				c.add(cl.at(at, finding.Finding{
					Code: "kops-etcd-member", Severity: finding.Error,
					Message: "an etcd member needs " + field,
				}))
			}
		}
		if names[m.str("name")] && m.has("name") {
			c.add(cl.at(at+".name", finding.Finding{
				Code: "kops-etcd-member", Severity: finding.Error,
				Message: fmt.Sprintf("two members are named %q", m.str("name")),
			}))
		}
		if groups[m.str("instanceGroup")] && m.has("instanceGroup") {
			c.add(cl.at(at+".instanceGroup", finding.Finding{
				Code: "kops-etcd-member", Severity: finding.Warning,
				Message: fmt.Sprintf("two members are in instance group %s, which has one machine", m.str("instanceGroup")),
			}))
		}
		names[m.str("name")], groups[m.str("instanceGroup")] = true, true
	}
}

var etcdVersionPattern = pattern.Of(`^v?(\d+)\.\d+\.\d+([-+].*)?$`)

func (c *checker) etcdVersion(cl *cluster, path string, e object, first string) {
	version := e.str("version")
	if version == "" {
		return
	}
	path += ".version"
	if m := etcdVersionPattern().FindStringSubmatch(version); m == nil || m[1] != "3" {
		c.add(cl.at(path, finding.Finding{
			Code: "kops-etcd-version", Severity: finding.Error,
			Message: fmt.Sprintf("%q is no version of etcd 3", version),
		}))
	}
	if version != first {
		was := first
		if was == "" {
			was = "none"
		}
		c.add(cl.at(path, finding.Finding{
			Code: "kops-etcd-mixed-versions", Severity: finding.Error,
			Message: fmt.Sprintf("all etcd clusters must name one version: the first names %s, this one %s", was, version),
			Ref:     "kubernetes/kops pkg/apis/kops/validation/validation.go",
		}))
	}
}

// quotaVariable is how etcd's --quota-backend-bytes reaches it under kOps.
const quotaVariable = "ETCD_QUOTA_BACKEND_BYTES"

// etcdEnv checks variables that kOps hands to etcd without looking at them.
func (c *checker) etcdEnv(cl *cluster, path string, env []object) {
	seen := map[string]bool{}
	for i, e := range env {
		name, value := e.str("name"), e.str("value")
		if seen[name] && name != "" {
			c.add(cl.at(indexed(path, i), finding.Finding{
				Code: "kops-etcd-env", Severity: finding.Warning,
				Message: fmt.Sprintf("%s is set twice", name),
			}))
		}
		seen[name] = true
		switch name {
		case quotaVariable, "ETCD_HEARTBEAT_INTERVAL", "ETCD_ELECTION_TIMEOUT", "ETCD_SNAPSHOT_COUNT":
			if n, err := strconv.ParseInt(value, 10, 64); err != nil || n < 0 {
				c.add(cl.at(indexed(path, i)+".value", finding.Finding{
					Code: "kops-etcd-env", Severity: finding.Error,
					Message: fmt.Sprintf("%s must be a whole number, not %q: etcd would not start, and kOps does not look at it", name, value),
				}))
			}
		}
	}
}

// etcdMembership holds the members of all etcd clusters against each other and
// against the control-plane groups: kOps wants each of those in every cluster.
func (c *checker) etcdMembership(cl *cluster) {
	inStream := map[string]bool{}
	for _, g := range cl.groups {
		if g.controlPlane() {
			inStream[g.name()] = true
		}
	}
	all := map[string]bool{}
	clusters := cl.spec.objects("etcdClusters")
	for _, e := range clusters {
		for _, m := range e.objects("etcdMembers") {
			all[m.str("instanceGroup")] = true
		}
	}
	for i, e := range clusters {
		has := map[string]bool{}
		for _, m := range e.objects("etcdMembers") {
			has[m.str("instanceGroup")] = true
		}
		path := indexed("spec.etcdClusters", i) + ".etcdMembers"
		for group := range sorted(all, inStream) {
			switch {
			case has[group] && len(inStream) > 0 && !inStream[group] && group != "":
				c.add(cl.at(path, finding.Finding{
					Code: "kops-etcd-no-group", Severity: finding.Error,
					Message: fmt.Sprintf("a member is in %s, and there is no control-plane instance group of that name", group),
				}))
			case !has[group] && group != "":
				c.add(cl.at(path, finding.Finding{
					Code: "kops-etcd-member-missing", Severity: finding.Error,
					Message: fmt.Sprintf("%s has no member in %s: every control-plane instance group must have one in every etcd cluster", e.str("name"), group),
					Ref:     "kubernetes/kops pkg/apis/kops/validation/instancegroup.go ValidateControlPlaneInstanceGroup",
				}))
			}
		}
	}
}
