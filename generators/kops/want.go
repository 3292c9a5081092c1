package kops

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/yamltext"
)

// wanted is what a plan asks of a kOps specification.
type wanted struct {
	// spec are the fields of the Cluster's spec besides its etcd clusters.
	spec map[string]any
	// shards are the etcd clusters, main first.
	shards []shard
	// apiservers counts apiservers on machines of their own, beside those on the
	// control plane's; 0 for none.
	apiservers int
}

// shard is one of kOps' etcd clusters.
type shard struct {
	name       string
	quotaBytes int64
	// ephemeral says that its data may be lost. etcd-manager keeps every etcd on a
	// volume; what can be spared is the wait for it.
	ephemeral bool
}

// Variables that etcd-manager hands on to etcd, which has one for each flag.
const (
	quotaVariable  = "ETCD_QUOTA_BACKEND_BYTES"
	noSyncVariable = "ETCD_UNSAFE_NO_FSYNC"
)

// env is the environment of the shard's etcd.
func (s shard) env() map[string]string {
	env := map[string]string{}
	if s.quotaBytes > 0 {
		env[quotaVariable] = strconv.FormatInt(s.quotaBytes, 10)
	}
	if s.ephemeral && s.name != "main" {
		env[noSyncVariable] = "true"
	}
	return env
}

// wants reads the plan, and says what of it kOps cannot do.
func wants(p *plan.Plan) (wanted, []finding.Finding) {
	w := wanted{spec: map[string]any{}}
	var fs []finding.Finding
	var main plan.Tier
	for _, t := range p.Tiers {
		if t.Name == "main" {
			main = t
		}
	}
	put := func(block string, fields map[string]any, more []finding.Finding) {
		if len(fields) > 0 {
			w.spec[block] = fields
		}
		fs = append(fs, more...)
	}
	block, more := apiserver.of(p.Target, main.Flags, main.FeatureGates, main.Env)
	if set := uncached(main.Uncached, block["watchCacheSizes"]); len(set.Items) > 0 {
		block["watchCacheSizes"] = set
	}
	put(apiserver.block, block, more)
	block, more = controllerManager.of(p.Target, p.ControllerManager.Flags, p.ControllerManager.FeatureGates, p.ControllerManager.Env)
	put(controllerManager.block, block, more)
	block, more = scheduler.of(p.Target, p.Scheduler.Flags, p.Scheduler.FeatureGates, p.Scheduler.Env)
	for name, n := range map[string]int{"qps": p.Scheduler.QPS, "burst": p.Scheduler.Burst} {
		if n > 0 {
			block[name] = int64(n)
		}
	}
	put(scheduler.block, block, more)
	block, more = kubelet(p)
	put("kubelet", block, more)
	fs = append(fs, w.stores(p)...)
	fs = append(fs, w.tiers(p, main)...)
	fs = append(fs, beyond(p)...)
	return w, fs
}

// uncached turns resources off the watch cache, beside sizes that flags give.
func uncached(resources []profile.GroupResource, sizes any) yamltext.Set {
	set, _ := sizes.(yamltext.Set)
	set.Separator = "#"
	for _, r := range resources {
		name := r.Resource
		if r.Group != "" {
			name += "." + r.Group
		}
		set.Items = append(set.Items, name+"#0")
	}
	slices.Sort(set.Items)
	set.Items = slices.Compact(set.Items)
	return set
}

// kubelet are the fields for every node's kubelet.
func kubelet(p *plan.Plan) (map[string]any, []finding.Finding) {
	block := map[string]any{}
	var fs []finding.Finding
	scale := p.Target.KopsHasKubeletScaleFields()
	kubelet := component{block: "kubelet"}
	set := func(name string, n int, has bool, since string) {
		switch {
		case n == 0:
		case !has:
			fs = append(fs, kubelet.without(p.Target, "the kubelet's "+name, since))
		default:
			block[name] = int64(n)
		}
	}
	k := p.Kubelet
	set("nodeLeaseDurationSeconds", k.NodeLeaseDurationSeconds, scale, "1.36")
	set("kubeAPIQPS", k.KubeAPIQPS, scale, "1.36")
	set("kubeAPIBurst", k.KubeAPIBurst, false, "")
	set("eventBurst", k.EventBurst, true, "")
	set("maxPods", k.MaxPods, true, "")
	if scale {
		set("eventRecordQPS", k.EventRecordQPS, true, "")
	} else {
		set("eventQPS", k.EventRecordQPS, true, "") // the same setting, as a flag
	}
	if k.NodeStatusUpdateSeconds > 0 {
		block["nodeStatusUpdateFrequency"] = yamltext.Duration((time.Duration(k.NodeStatusUpdateSeconds) * time.Second).String())
	}
	if n := k.NodeStatusReportSeconds; n > 0 && n != k.NodeStatusUpdateSeconds {
		f := kubelet.without(p.Target, "the kubelet's nodeStatusReportFrequency", "")
		if k.NodeStatusUpdateSeconds > 0 {
			f.Message += ": with nodeStatusUpdateFrequency set, that is its value, and every kubelet writes its status so often"
		}
		fs = append(fs, f)
	}
	return block, fs
}

// stores turns the plan's stores and routes into kOps' etcd clusters, whose
// names are a closed list.
func (w *wanted) stores(p *plan.Plan) []finding.Finding {
	var fs []finding.Finding
	routed := map[string]string{"events": "/events", "leases": "coordination.k8s.io/leases"}
	for _, s := range p.Stores {
		switch {
		case s.Name == "leases" && !p.Target.KopsHasLeasesShard():
			fs = append(fs, finding.Finding{
				Code: "kops-leases-before-1.36", Severity: finding.Error, Path: "spec.etcdClusters",
				Message: fmt.Sprintf("kOps %s has no etcd cluster for leases, so they stay in main; kOps 1.36 is the first that has", p.Target.Kops),
				Fix:     "upgrade kOps to 1.36 or later", Ref: "kubernetes/kops#18054",
			})
		case s.Name == "main" || routed[s.Name] != "":
			w.shards = append(w.shards, shard{s.Name, s.QuotaBytes, s.Durability == "ephemeral"})
		case !slices.ContainsFunc(p.Aggregated, func(a plan.AggregatedTier) bool { return a.Store == s.Name }):
			fs = append(fs, finding.Finding{
				Code: "kops-store-name", Severity: finding.Error, Path: "spec.etcdClusters",
				Message: fmt.Sprintf("kOps takes no etcd cluster called %q: its names are main, events, leases and cilium", s.Name),
				Ref:     "kubernetes/kops pkg/apis/kops/validation/validation.go",
			})
		}
	}
	for _, r := range p.Routes {
		if routed[r.Store] != r.String() && r.Store != "main" {
			fs = append(fs, finding.Finding{
				Code: "kops-route", Severity: finding.Error, Path: "spec.kubeAPIServer.etcdServersOverrides",
				Message: fmt.Sprintf("kOps routes Events to events and leases to leases, and %s cannot go to %s: a list of one's own replaces kOps' whole list", r, r.Store),
				Ref:     "kubernetes/kops upup/pkg/fi/loader/options_loader.go",
			})
		}
	}
	return fs
}

// tiers counts the apiservers on machines of their own. They have the flags of
// all others, for kOps has one kubeAPIServer block for a cluster.
func (w *wanted) tiers(p *plan.Plan, main plan.Tier) []finding.Finding {
	var fs []finding.Finding
	if hosts := len(controlPlanes(p)); main.Replicas > hosts {
		w.apiservers = main.Replicas - hosts
	}
	for _, t := range p.Tiers {
		if t.Name == "main" {
			continue
		}
		if !sameTier(t, main) || t.Name != "nodes" {
			fs = append(fs, finding.Finding{
				Code: "kops-no-tiers", Severity: finding.Error, Path: "spec.kubeAPIServer",
				Message: fmt.Sprintf("the tier %s cannot be rendered: kOps has one kubeAPIServer block for a cluster, so a tier cannot differ from the others in a flag or in what it caches", t.Name),
				Fix:     "pin a rung without tiers, or use kubeadm",
				Ref:     "kubernetes/kops pkg/apis/kops/v1alpha2/componentconfig.go",
			})
			continue
		}
		w.apiservers += t.Replicas
		fs = append(fs, finding.Finding{
			Code: "kops-tier-not-apart", Severity: finding.Info, Path: "spec.role",
			Message: "the apiservers of the tier for nodes serve everybody: kOps has one load balancer (on AWS before all apiservers, on GCE before those of the tier alone)",
			Ref:     "kubernetes/kops docs/operations/scaling.md",
		})
	}
	if w.apiservers > 0 && !p.Target.KopsAPIServerRoleAllowed() {
		reason := fmt.Sprintf("on %s with kOps %s", p.Target.Cloud, p.Target.Kops)
		if p.Target.DNSNone {
			reason = "with topology.dns.type None"
		}
		fs = append(fs, finding.Finding{
			Code: "kops-apiserver-role", Severity: finding.Error, Path: "spec.role",
			Message: fmt.Sprintf("%d more apiservers need an instance group of role APIServer, which kOps refuses %s: AWS only until 1.35, AWS and GCE from 1.36, and never without DNS", w.apiservers, reason),
			Fix:     "run one apiserver on each control-plane machine, and add machines instead",
			Ref:     "kubernetes/kops#17631",
		})
		w.apiservers = 0
	}
	if w.apiservers > 0 {
		fs = append(fs, finding.Finding{
			Code: "kops-feature-flags", Severity: finding.Info, Path: "spec.role",
			Message: "\"kops update cluster\" needs a feature flag for the role APIServer",
			Fix:     "export KOPS_FEATURE_FLAGS=" + apiserverFlag,
			Ref:     "kubernetes/kops docs/operations/scaling.md",
		})
	}
	return fs
}

// apiserverFlag turns the role APIServer on.
const apiserverFlag = "+APIServerNodes"

func sameTier(a, b plan.Tier) bool {
	return maps.Equal(a.Flags, b.Flags) && maps.Equal(a.FeatureGates, b.FeatureGates) && maps.Equal(a.Env, b.Env) &&
		slices.Equal(a.Uncached, b.Uncached)
}

// controlPlanes names the plan's control-plane machines; a plan for kOps may have none, and then has one.
func controlPlanes(p *plan.Plan) []string {
	n := max(1, len(p.ControlPlane.Hosts))
	names := make([]string, n)
	for i := range names {
		names[i] = letter(i)
	}
	return names
}

// letter is a, b, …, z, aa, ab, …: how kOps tells the members of etcd apart.
func letter(i int) string {
	if i < 26 {
		return string(rune('a' + i))
	}
	return letter(i/26-1) + letter(i%26)
}

// beyond says which parts of the plan are not part of a kOps specification.
func beyond(p *plan.Plan) []finding.Finding {
	var fs []finding.Finding
	if len(p.ControllerGroups) > 0 {
		fs = append(fs, finding.Finding{
			Code: "kops-one-controller-manager", Severity: finding.Warning, Path: "spec.kubeControllerManager",
			Message: "kOps runs one controller manager on a host, so its controllers stay together",
		})
	}
	for _, a := range p.Aggregated {
		fs = append(fs, finding.Finding{
			Code: "kops-aggregated-beside", Severity: finding.Info, Path: "aggregated." + a.Name,
			Message: "kOps documents have no place for this aggregated tier: its objects are files of their own below aggregated/, which the rollout applies to the cluster",
		})
	}
	return fs
}
