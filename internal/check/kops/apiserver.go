package kops

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kubeseams/seams/internal/finding"
)

// apiserverRules are about spec.kubeAPIServer besides its etcd servers.
func (c *checker) apiserverRules(cl *cluster) {
	const path = "spec.kubeAPIServer"
	a := cl.spec.object("kubeAPIServer")
	for _, field := range []string{"maxRequestsInflight", "maxMutatingRequestsInflight"} {
		if n, ok := a.number(field); ok && n == 0 {
			c.add(cl.at(path+"."+field, finding.Finding{
				Code: "kops-zero-not-passed", Severity: finding.Warning,
				Message: "kOps does not pass a 0 on, so upstream's default is in force (400 requests, 200 mutating ones)",
				Fix:     "write the number that is meant",
				Ref:     "kubernetes/kops pkg/apis/kops/componentconfig.go: flag-empty:\"0\"",
			}))
		}
	}
	if chance := a.str("goawayChance"); chance != "" {
		if v, err := strconv.ParseFloat(chance, 64); err != nil || v < 0 || v > 0.02 {
			c.add(cl.at(path+".goawayChance", finding.Finding{
				Code: "kops-goaway-chance", Severity: finding.Error,
				Message: fmt.Sprintf("%q is no number from 0 to 0.02: the apiserver would not start", chance),
			}))
		}
	}
	for i, size := range a.strings("watchCacheSizes") {
		if size != "" && !watchCacheSize(size) {
			c.add(cl.at(indexed(path+".watchCacheSizes", i), finding.Finding{
				Code: "kops-watch-cache-size", Severity: finding.Error,
				Message: fmt.Sprintf("the apiserver would not start: %q is not RESOURCE.GROUP#SIZE with a size of 0 or more", size),
				Fix:     "RESOURCE.GROUP#SIZE, such as leases.coordination.k8s.io#0",
			}))
		}
	}
	c.apiserverRefused(cl, path, a)
	c.gateRules(cl, path, a)
	c.durationRules(cl.document, path, a,
		"compactionInterval", "eventTTL", "requestTimeout", "storageInitializationTimeout", "auditWebhookBatchMaxWait", "auditWebhookInitialBackoff")
}

// apiserverRefused are values of spec.kubeAPIServer that kOps' validation refuses, or that replace its own.
func (c *checker) apiserverRefused(cl *cluster, path string, a object) {
	if a.isTrue("enableBootstrapTokenAuth") {
		c.add(cl.at(path+".enableBootstrapTokenAuth", finding.Finding{
			Code: "kops-bootstrap-token", Severity: finding.Error, Message: "kOps refuses bootstrap tokens",
		}))
	}
	if len(a.strings("admissionControl")) > 0 {
		c.add(cl.at(path+".admissionControl", finding.Finding{
			Code: "kops-replaced-field", Severity: finding.Error,
			Message: "kOps refuses admissionControl", Fix: "use appendAdmissionPlugins or disableAdmissionPlugins",
		}))
	}
	if len(a.strings("enableAdmissionPlugins")) > 0 {
		c.add(cl.at(path+".enableAdmissionPlugins", finding.Finding{
			Code: "kops-admission-replaced", Severity: finding.Warning,
			Message: "this list replaces the plugins that kOps enables",
			Fix:     "use appendAdmissionPlugins, which adds to them",
			Ref:     "kubernetes/kops upup/pkg/fi/loader/options_loader.go",
		}))
	}
	if own, whole := a.str("serviceClusterIPRange"), cl.spec.str("serviceClusterIPRange"); own != "" && own != whole {
		c.add(cl.at(path+".serviceClusterIPRange", finding.Finding{
			Code: "kops-service-range", Severity: finding.Error,
			Message: fmt.Sprintf("is %s, and spec.serviceClusterIPRange is %q: kOps wants them equal", own, whole),
		}))
	}
	if (a.str("proxyClientCertFile") == "") != (a.str("proxyClientKeyFile") == "") {
		c.add(cl.at(path, finding.Finding{
			Code: "kops-proxy-client", Severity: finding.Error,
			Message: "proxyClientCertFile and proxyClientKeyFile go together",
		}))
	}
}

// componentRules are about the controller manager and the scheduler.
func (c *checker) componentRules(cl *cluster) {
	kcm, scheduler := cl.spec.object("kubeControllerManager"), cl.spec.object("kubeScheduler")
	if kcm.has("experimentalClusterSigningDuration") {
		c.add(cl.at("spec.kubeControllerManager.experimentalClusterSigningDuration", finding.Finding{
			Code: "kops-replaced-field", Severity: finding.Error,
			Message: "kOps refuses it", Fix: "use ClusterSigningDuration, with a capital C",
		}))
	}
	if scheduler.has("usePolicyConfigMap") {
		c.add(cl.at("spec.kubeScheduler.usePolicyConfigMap", finding.Finding{
			Code: "kops-replaced-field", Severity: finding.Error,
			Message: "kOps refuses it", Fix: "add a KubeSchedulerConfiguration as an additional object",
		}))
	}
	for field, effective := range map[string]string{"kubeAPIQPS": "qps", "kubeAPIBurst": "burst"} {
		if scheduler.has(field) && !scheduler.has(effective) {
			c.add(cl.at("spec.kubeScheduler."+field, finding.Finding{
				Code: "kops-scheduler-client", Severity: finding.Warning,
				Message: "kOps runs the scheduler with a configuration file, beside which this flag has no effect",
				Fix:     fmt.Sprintf("use %s, which goes into that file", effective),
				Ref:     "kubernetes/kops tests/e2e/scenarios/scalability/run-test.sh changed to qps and burst",
			}))
		}
	}
	c.gateRules(cl, "spec.kubeControllerManager", kcm)
	c.gateRules(cl, "spec.kubeScheduler", scheduler)
	c.durationRules(cl.document, "spec.kubeControllerManager", kcm,
		"ClusterSigningDuration", "attachDetachReconcileSyncPeriod", "endpointUpdatesBatchPeriod", "endpointSliceUpdatesBatchPeriod",
		"nodeMonitorPeriod", "nodeMonitorGracePeriod", "podEvictionTimeout")
}

// kubeletRules are about one kubelet block, of the Cluster or of a group.
func (c *checker) kubeletRules(d *document, path string, k object) {
	if k.str("bootstrapKubeconfig") != "" {
		c.add(d.at(path+".bootstrapKubeconfig", finding.Finding{
			Code: "kops-bootstrap-token", Severity: finding.Error, Message: "kOps refuses bootstrap tokens",
		}))
	}
	if k.has("eventQPS") && k.has("eventRecordQPS") {
		c.add(d.at(path+".eventQPS", finding.Finding{
			Code: "kops-kubelet-event-qps", Severity: finding.Warning,
			Message: "eventQPS becomes a flag and eventRecordQPS a line of the kubelet's file: the flag wins",
			Fix:     "remove eventQPS",
		}))
	}
	c.taintRules(d, path+".taints", k.strings("taints"))
	c.durationRules(d, path, k, "nodeStatusUpdateFrequency", "streamingConnectionIdleTimeout", "runtimeRequestTimeout",
		"shutdownGracePeriod", "shutdownGracePeriodCriticalPods", "volumeStatsAggPeriod", "evictionPressureTransitionPeriod")
}

// gateRules: kOps keeps feature gates as a map of strings and does not look at them.
func (c *checker) gateRules(cl *cluster, path string, component object) {
	gates := component.object("featureGates")
	for _, gate := range gates.keys() {
		value, ok := gates[gate].(string)
		if !ok {
			continue // the schema says so
		}
		if _, err := strconv.ParseBool(value); err != nil {
			c.add(cl.at(path+".featureGates."+gate, finding.Finding{
				Code: "kops-feature-gate", Severity: finding.Error,
				Message: fmt.Sprintf("%q is neither true nor false: the component would not start", value),
			}))
		}
	}
}

// durationRules: these fields are strings in the schema and durations in kOps' types.
func (c *checker) durationRules(d *document, path string, o object, fields ...string) {
	for _, field := range fields {
		value, ok := o[field].(string)
		if !ok {
			continue
		}
		if _, err := time.ParseDuration(value); err != nil {
			f := finding.Finding{
				Code: "kops-field-type", Severity: finding.Error,
				Message: fmt.Sprintf("%q is no duration", value),
				Fix:     "a number with a unit, such as 150s",
			}
			if _, err := strconv.Atoi(value); err == nil {
				f.Fix = value + "s"
			}
			c.add(d.at(path+"."+field, f))
		}
	}
}

// watchCacheSize reports whether kube-apiserver takes an item of
// --watch-cache-sizes; a test compares it with upstream's parser, which would
// bring the whole API server library with it.
func watchCacheSize(item string) bool {
	_, size, ok := strings.Cut(item, "#")
	n, err := strconv.Atoi(size)
	return ok && err == nil && n >= 0
}
