package kops

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
	"github.com/kubeseams/seams/internal/yamltext"
)

// form is how a flag's text becomes a field's value.
type form int

const (
	integer form = iota
	boolean
	duration
	text
	list
	pairs
)

// field is the field of a component's block that kOps turns into a flag.
type field struct {
	flag string
	name string
	form form
	// since is the first kOps minor that has the field, and has the predicate
	// that says so; both are empty for a field that every known minor has.
	since string
	has   func(target.Target) bool
}

// component is a block of the Cluster's spec. kOps passes no flag on that it
// has no field for (kubernetes/kops#8546).
type component struct {
	block  string
	fields []field
	// own are flags that kOps derives from the rest of the specification.
	own []string
	// env is whether the block has a field for environment variables.
	env bool
}

var apiserver = component{
	block: "kubeAPIServer",
	env:   true,
	own: []string{
		"etcd-servers", "etcd-servers-overrides", "etcd-cafile", "etcd-certfile", "etcd-keyfile", "secure-port", "client-ca-file",
		"service-cluster-ip-range",
	},
	fields: []field{
		{flag: "anonymous-auth", name: "anonymousAuth", form: boolean},
		{flag: "audit-log-maxage", name: "auditLogMaxAge"},
		{flag: "audit-log-maxbackup", name: "auditLogMaxBackups"},
		{flag: "audit-log-maxsize", name: "auditLogMaxSize"},
		{flag: "audit-log-path", name: "auditLogPath", form: text},
		{flag: "audit-policy-file", name: "auditPolicyFile", form: text},
		{flag: "contention-profiling", name: "enableContentionProfiling", form: boolean},
		{flag: "default-not-ready-toleration-seconds", name: "defaultNotReadyTolerationSeconds"},
		{flag: "default-unreachable-toleration-seconds", name: "defaultUnreachableTolerationSeconds"},
		{flag: "delete-collection-workers", name: "deleteCollectionWorkers", since: "1.35", has: target.Target.KopsHasDeleteCollectionWorkers},
		{flag: "disable-admission-plugins", name: "disableAdmissionPlugins", form: list},
		{flag: "enable-admission-plugins", name: "appendAdmissionPlugins", form: list},
		{flag: "enable-aggregator-routing", name: "enableAggregatorRouting", form: boolean},
		{flag: "etcd-compaction-interval", name: "compactionInterval", form: duration, since: "1.36", has: target.Target.KopsHasCompactionInterval},
		{flag: "event-ttl", name: "eventTTL", form: duration},
		{flag: "goaway-chance", name: "goawayChance", form: text},
		{flag: "http2-max-streams-per-connection", name: "http2MaxStreamsPerConnection"},
		{flag: "logging-format", name: "logFormat", form: text},
		{flag: "max-mutating-requests-inflight", name: "maxMutatingRequestsInflight"},
		{flag: "max-requests-inflight", name: "maxRequestsInflight"},
		{flag: "min-request-timeout", name: "minRequestTimeout"},
		{flag: "profiling", name: "enableProfiling", form: boolean},
		{flag: "request-timeout", name: "requestTimeout", form: duration},
		{flag: "runtime-config", name: "runtimeConfig", form: pairs},
		{
			flag: "storage-initialization-timeout", name: "storageInitializationTimeout", form: duration,
			since: "1.35", has: target.Target.KopsHasStorageInitializationTimeout,
		},
		{flag: "v", name: "logLevel"},
		{flag: "watch-cache", name: "watchCache", form: boolean},
		{flag: "watch-cache-sizes", name: "watchCacheSizes", form: list},
	},
}

var controllerManager = component{
	block: "kubeControllerManager",
	own:   []string{"cluster-cidr", "allocate-node-cidrs", "service-cluster-ip-range"},
	fields: []field{
		{flag: "attach-detach-reconcile-sync-period", name: "attachDetachReconcileSyncPeriod", form: duration},
		{flag: "cluster-signing-duration", name: "ClusterSigningDuration", form: duration},
		{flag: "concurrent-deployment-syncs", name: "concurrentDeploymentSyncs"},
		{flag: "concurrent-endpoint-syncs", name: "concurrentEndpointSyncs"},
		{flag: "concurrent-horizontal-pod-autoscaler-syncs", name: "concurrentHorizontalPodAustoscalerSyncs"}, // kOps' own spelling
		{flag: "concurrent-job-syncs", name: "concurrentJobSyncs"},
		{flag: "concurrent-namespace-syncs", name: "concurrentNamespaceSyncs"},
		{flag: "concurrent-rc-syncs", name: "concurrentRcSyncs"},
		{flag: "concurrent-replicaset-syncs", name: "concurrentReplicasetSyncs"},
		{flag: "concurrent-resource-quota-syncs", name: "concurrentResourceQuotaSyncs"},
		{flag: "concurrent-service-syncs", name: "concurrentServiceSyncs"},
		{flag: "concurrent-serviceaccount-token-syncs", name: "concurrentServiceaccountTokenSyncs"},
		{flag: "contention-profiling", name: "enableContentionProfiling", form: boolean},
		{flag: "controllers", name: "controllers", form: list},
		{flag: "endpoint-updates-batch-period", name: "endpointUpdatesBatchPeriod", form: duration},
		{flag: "endpointslice-updates-batch-period", name: "endpointSliceUpdatesBatchPeriod", form: duration},
		{flag: "kube-api-burst", name: "kubeAPIBurst"},
		{flag: "kube-api-qps", name: "kubeAPIQPS"},
		{flag: "logging-format", name: "logFormat", form: text},
		{flag: "min-resync-period", name: "minResyncPeriod", form: text},
		{flag: "node-cidr-mask-size", name: "nodeCIDRMaskSize"},
		{flag: "node-monitor-grace-period", name: "nodeMonitorGracePeriod", form: duration},
		{flag: "node-monitor-period", name: "nodeMonitorPeriod", form: duration},
		{flag: "profiling", name: "enableProfiling", form: boolean},
		{flag: "terminated-pod-gc-threshold", name: "terminatedPodGCThreshold"},
		{flag: "v", name: "logLevel"},
	},
}

// scheduler has its client limits as qps and burst: kOps always passes
// --config, beside which kubeAPIQPS and kubeAPIBurst have no effect.
var scheduler = component{
	block: "kubeScheduler",
	fields: []field{
		{flag: "contention-profiling", name: "enableContentionProfiling", form: boolean},
		{flag: "kube-api-burst", name: "burst"},
		{flag: "kube-api-qps", name: "qps"},
		{flag: "logging-format", name: "logFormat", form: text},
		{flag: "profiling", name: "enableProfiling", form: boolean},
		{flag: "v", name: "logLevel"},
	},
}

// block turns a component's settings into the fields of its block. A setting
// without a field is a finding, and never dropped in silence.
func (c component) of(t target.Target, flags map[string]string, gates map[string]bool, env map[string]string) (map[string]any, []finding.Finding) {
	block := map[string]any{}
	var fs []finding.Finding
	for _, flag := range slices.Sorted(maps.Keys(flags)) {
		if slices.Contains(c.own, flag) {
			continue
		}
		i := slices.IndexFunc(c.fields, func(f field) bool { return f.flag == flag })
		if i < 0 {
			fs = append(fs, c.without(t, "--"+flag, ""))
			continue
		}
		f := c.fields[i]
		if f.has != nil && !f.has(t) {
			fs = append(fs, c.without(t, "--"+flag, f.since))
			continue
		}
		value, err := f.value(flags[flag])
		switch {
		case err != nil:
			fs = append(fs, finding.Finding{
				Code: "kops-flag-value", Severity: finding.Error, Path: "spec." + c.block + "." + f.name,
				Message: fmt.Sprintf("--%s=%s: %v", flag, flags[flag], err),
			})
		case value == int64(0) && strings.HasSuffix(flag, "-requests-inflight"):
			fs = append(fs, finding.Finding{
				Code: "kops-zero-not-passed", Severity: finding.Warning, Path: "spec." + c.block + "." + f.name,
				Message: fmt.Sprintf("kOps does not pass --%s=0 on, so upstream's default would be in force; it is left out", flag),
				Ref:     "kubernetes/kops pkg/apis/kops/componentconfig.go: flag-empty:\"0\"",
			})
		default:
			block[f.name] = value
		}
	}
	if len(gates) > 0 {
		values := map[string]any{}
		for gate, on := range gates {
			values[gate] = strconv.FormatBool(on) // kOps keeps gates as a map of strings
		}
		block["featureGates"] = values
	}
	if len(env) > 0 && !c.env {
		for _, name := range slices.Sorted(maps.Keys(env)) {
			fs = append(fs, c.without(t, "the environment variable "+name, ""))
		}
	} else if len(env) > 0 {
		block["env"] = variables(env)
	}
	return block, fs
}

// variables are an environment as a list, by name.
func variables(env map[string]string) yamltext.Keyed {
	list := yamltext.Keyed{Key: "name"}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list.Items = append(list.Items, map[string]any{"name": name, "value": env[name]})
	}
	return list
}

// without is the finding for a setting that kOps has no field for.
func (c component) without(t target.Target, setting, since string) finding.Finding {
	f := finding.Finding{
		Code: "kops-no-field", Severity: finding.Warning, Path: "spec." + c.block,
		Message: fmt.Sprintf("kOps %s has no field for %s, so upstream's default stays", t.Kops, setting),
		Ref:     "kubernetes/kops#8546: kOps passes only the flags on that it has a field for",
	}
	if since != "" {
		f.Fix = fmt.Sprintf("use kOps %s, which has it", since)
	}
	return f
}

// value reads a flag's text.
func (f field) value(s string) (any, error) {
	switch f.form {
	case integer:
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("want a whole number of 32 bits")
		}
		return n, nil
	case boolean:
		b, err := strconv.ParseBool(s)
		if err != nil {
			return nil, fmt.Errorf("want true or false")
		}
		return b, nil
	case duration:
		d, err := time.ParseDuration(s)
		if err != nil {
			return nil, fmt.Errorf("want a duration")
		}
		return yamltext.Duration(d.String()), nil // as "kops get" writes it
	case list:
		set := yamltext.Set{Items: strings.Split(s, ",")}
		if f.name == "watchCacheSizes" {
			set.Separator = "#"
		}
		return set, nil
	case pairs:
		values := map[string]any{}
		for pair := range strings.SplitSeq(s, ",") {
			key, value, ok := strings.Cut(pair, "=")
			if !ok {
				value = "true"
			}
			values[key] = value
		}
		return values, nil
	}
	return s, nil
}
