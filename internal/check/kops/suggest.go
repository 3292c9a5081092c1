package kops

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/spelling"
)

// renamed maps names of the internal API, which "kops edit --set" takes and
// documentation often shows, to v1alpha2, by kind and path without indices.
var renamed = map[string]string{
	"Cluster spec.controlPlaneKubelet":         "spec.masterKubelet",
	"Cluster spec.api.access":                  "spec.kubernetesApiAccess",
	"Cluster spec.api.additionalSANs":          "spec.additionalSans",
	"Cluster spec.api.publicName":              "spec.masterPublicName",
	"Cluster spec.networking.networkCIDR":      "spec.networkCIDR",
	"Cluster spec.networking.subnets":          "spec.subnets",
	"Cluster spec.networking.topology":         "spec.topology",
	"Cluster spec.networking.podCIDR":          "spec.podCIDR",
	"Cluster spec.hooks.enabled":               "spec.hooks[].disabled, a boolean with the opposite meaning",
	"InstanceGroup spec.hooks.enabled":         "spec.hooks[].disabled, a boolean with the opposite meaning",
	"InstanceGroup spec.rootVolume":            "spec.rootVolumeSize, rootVolumeType, rootVolumeIops and their like",
	"InstanceGroup spec.associatePublicIP":     "spec.associatePublicIp",
	"Cluster spec.kubelet.kubeAPIBurst":        "spec.kubelet.kubeAPIQPS; kOps has no field for the burst",
	"Cluster spec.masterKubelet.kubeAPIBurst":  "spec.masterKubelet.kubeAPIQPS; kOps has no field for the burst",
	"InstanceGroup spec.kubelet.kubeAPIBurst":  "spec.kubelet.kubeAPIQPS; kOps has no field for the burst",
	"Cluster spec.additionalObjects":           "a document of its own: additional objects stand beside the Cluster",
	"InstanceGroup spec.kubeAPIServer":         "the Cluster's spec.kubeAPIServer, which all apiservers share",
	"Cluster spec.kubeAPIServer.extraArgs":     "a field of spec.kubeAPIServer: kOps passes no other flags on",
	"Cluster spec.etcdClusters.quotaBackendGB": "manager.env with ETCD_QUOTA_BACKEND_BYTES",
}

// absent are flags that people look for a field for, and that no kOps passes on,
// by the field's parent. Without this list a wrong neighbour would be suggested.
var absent = map[string][]string{
	"kubeAPIServer": {
		"defaultWatchCacheSize", "storageMediaType", "shutdownDelayDuration", "shutdownSendRetryAfter", "endpointReconcilerType",
		"leaseReuseDurationSeconds", "etcdCountMetricPollPeriod", "enablePriorityAndFairness", "tracing",
	},
	"kubeControllerManager": {
		"concurrentGCSyncs", "concurrentGcSyncs", "concurrentStatefulSetSyncs", "concurrentStatefulsetSyncs", "concurrentDaemonSetSyncs",
		"concurrentDaemonsetSyncs", "concurrentCronJobSyncs", "concurrentEphemeralVolumeSyncs", "concurrentServiceEndpointSyncs", "env",
		"unhealthyZoneThreshold", "nodeEvictionRate", "secondaryNodeEvictionRate", "largeClusterSizeThreshold",
		"mirroringConcurrentServiceEndpointSyncs", "mirroringEndpointSliceUpdatesBatchPeriod",
	},
	"kubeScheduler": {"env"},
	"kubelet":       {"nodeStatusReportFrequency"},
	"masterKubelet": {"nodeStatusReportFrequency"},
}

// unknownFinding words a field that kOps would drop: what it is probably meant
// to be, or since when it exists.
func unknownFinding(kind string, s *structural.Structural, path string, minor int) finding.Finding {
	f := finding.Finding{
		Code: "kops-field-unknown", Severity: finding.Error,
		Message: fmt.Sprintf("kOps 1.%d has no such field and drops it in silence", minor),
		Ref:     "kubernetes/kops#4058: create and replace decode leniently",
	}
	bare := withoutIndices(path)
	parent, name := "", bare
	if i := strings.LastIndexByte(bare, '.'); i >= 0 {
		parent, name = bare[:i], bare[i+1:]
	}
	if since := sinceMinor(kind, bare, minor); since != 0 {
		f.Message = fmt.Sprintf("kOps 1.%d drops this field in silence: it exists from kOps 1.%d", minor, since)
		f.Fix = fmt.Sprintf("remove it, or use kOps 1.%d", since)
		return f
	}
	if to, ok := renamed[kind+" "+bare]; ok {
		f.Fix = "use " + to
		return f
	}
	if slices.Contains(absent[parent[strings.LastIndexByte(parent, '.')+1:]], name) {
		f.Fix = "remove it: kOps passes only the flags on that it has a field for"
		return f
	}
	at := s
	if parent != "" {
		for step := range strings.SplitSeq(parent, ".") {
			if at = child(at, step); at == nil {
				return f
			}
		}
	}
	for at.Items != nil {
		at = at.Items
	}
	if near := nearest(name, at); near != "" {
		f.Fix = fmt.Sprintf("did you mean %q?", near)
	}
	return f
}

// sinceMinor is the first kept minor after the given one that has the field; 0 when none has.
func sinceMinor(kind, path string, minor int) int {
	for m := minor + 1; m <= newest; m++ {
		all, err := schemas[m]()
		if err != nil {
			panic(err) // embedded data, read by the tests
		}
		s := all[kind].structural
		for step := range strings.SplitSeq(path, ".") {
			if s = child(s, step); s == nil {
				break
			}
		}
		if s != nil {
			return m
		}
	}
	return 0
}

func withoutIndices(path string) string {
	var out []string
	for _, step := range steps(path) {
		if _, ok := index(step); !ok {
			out = append(out, step)
		}
	}
	return strings.Join(out, ".")
}

// maxName bounds the names for which a neighbour is sought; no field is longer.
const maxName = 64

// nearest is the field of the schema that the name was probably meant to be:
// the same but for case, or a few letters away; "" when none is near.
func nearest(name string, s *structural.Structural) string {
	type candidate struct {
		field    string
		distance int
	}
	var candidates []candidate
	for field := range s.Properties {
		if len(name) > maxName || len(field) > maxName {
			continue
		}
		near := max(1, min(len(name), len(field))/4)
		if d := spelling.Distance(strings.ToLower(name), strings.ToLower(field), near+1); d <= near {
			candidates = append(candidates, candidate{field, d})
		}
	}
	if len(candidates) == 0 {
		return ""
	}
	return slices.MinFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.field, b.field))
	}).field
}
