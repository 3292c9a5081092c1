package target

// The predicates below are the whole version contract. Each says what upstream
// does, in which versions, and where that can be read.

// KubeadmServesV1Beta3 reports whether kubeadm still reads v1beta3
// configuration; 1.37 refuses it and names kubeadm 1.36 for the migration.
func (t Target) KubeadmServesV1Beta3() bool { return !t.Kubernetes.atLeast(37) }

// KubeadmReadV1Beta2 reports whether kubeadm read v1beta2 configuration, which
// went with 1.27 (kubernetes CHANGELOG-1.27). Lint meets such clusters.
func (t Target) KubeadmReadV1Beta2() bool {
	return !t.Kubernetes.IsZero() && !t.Kubernetes.atLeast(27)
}

// KubeadmReadsV1Beta4 reports whether kubeadm reads v1beta4 configuration,
// which came with 1.31. Rendering knows no older minor; lint meets them.
func (t Target) KubeadmReadsV1Beta4() bool {
	return t.Kubernetes.IsZero() || t.Kubernetes.atLeast(31)
}

// KindWritesV1Beta4 reports whether kind generates kubeadm v1beta4 for the
// node's version; for older nodes it generates v1beta3, where extraArgs is a
// map, and a patch in list form would not apply (kind 0.32 and later).
func (t Target) KindWritesV1Beta4() bool { return t.Kubernetes.atLeast(36) }

// WatchCacheSizesReachCustomResources reports whether
// --watch-cache-sizes=RESOURCE.GROUP#0 also turns the watch cache of a custom
// resource off. It has since 1.28, undocumented (kubernetes/kubernetes#141217);
// open pull requests would end it, so this is tested on each minor.
func (t Target) WatchCacheSizesReachCustomResources() bool { return true }

// HasShardedListAndWatch reports whether the gate of KEP-5866 exists: alpha
// and off by default from 1.36.
func (t Target) HasShardedListAndWatch() bool { return t.Kubernetes.atLeast(36) }

// DefaultWatchCacheSizeHasEffect reports whether --default-watch-cache-size
// still does anything: it is deprecated, and a no-op from 1.37.
func (t Target) DefaultWatchCacheSizeHasEffect() bool { return !t.Kubernetes.atLeast(37) }

// KopsHasLeasesShard reports whether kOps knows an etcd cluster named leases
// (kubernetes/kops#18054, from 1.36.0).
func (t Target) KopsHasLeasesShard() bool { return t.Kops.atLeast(36) }

// KopsHasCompactionInterval reports whether spec.kubeAPIServer.compactionInterval
// exists (from kOps 1.36.0).
func (t Target) KopsHasCompactionInterval() bool { return t.Kops.atLeast(36) }

// KopsHasKubeletScaleFields reports whether spec.kubelet has eventRecordQPS,
// kubeAPIQPS and nodeLeaseDurationSeconds (from kOps 1.36.0).
func (t Target) KopsHasKubeletScaleFields() bool { return t.Kops.atLeast(36) }

// KopsHasDeleteCollectionWorkers reports whether
// spec.kubeAPIServer.deleteCollectionWorkers exists (from kOps 1.35).
func (t Target) KopsHasDeleteCollectionWorkers() bool { return t.Kops.atLeast(35) }

// KopsHasStorageInitializationTimeout reports whether
// spec.kubeAPIServer.storageInitializationTimeout exists (from kOps 1.35).
func (t Target) KopsHasStorageInitializationTimeout() bool { return t.Kops.atLeast(35) }

// KopsTestsFastEtcdVolumes reports whether kOps' own scale tests put etcd on
// volumes of 10,000 IOPS, io2 on AWS and hyperdisk-balanced on GCE (from kOps
// 1.36, tests/e2e/scenarios/scalability/run-test.sh); before that they ran on
// io1 with 6,000 on AWS, and on GCE with what kOps takes by itself.
func (t Target) KopsTestsFastEtcdVolumes() bool { return t.Kops.atLeast(36) }

// KopsAPIServerRoleAllowed reports whether instance groups of role APIServer
// pass kOps' validation: on AWS, and on GCE from 1.36, and not with
// topology.dns.type None.
func (t Target) KopsAPIServerRoleAllowed() bool {
	if t.DNSNone {
		return false
	}
	return t.Cloud == "aws" || t.Cloud == "gce" && t.Kops.atLeast(36)
}

// Predicates maps the names rungs may require to their value for this target.
func (t Target) Predicates() map[string]bool {
	return map[string]bool{
		"KubeadmServesV1Beta3":                t.KubeadmServesV1Beta3(),
		"KindWritesV1Beta4":                   t.KindWritesV1Beta4(),
		"WatchCacheSizesReachCustomResources": t.WatchCacheSizesReachCustomResources(),
		"HasShardedListAndWatch":              t.HasShardedListAndWatch(),
		"DefaultWatchCacheSizeHasEffect":      t.DefaultWatchCacheSizeHasEffect(),
		"KopsHasLeasesShard":                  t.KopsHasLeasesShard(),
		"KopsHasCompactionInterval":           t.KopsHasCompactionInterval(),
		"KopsHasKubeletScaleFields":           t.KopsHasKubeletScaleFields(),
		"KopsHasDeleteCollectionWorkers":      t.KopsHasDeleteCollectionWorkers(),
		"KopsHasStorageInitializationTimeout": t.KopsHasStorageInitializationTimeout(),
		"KopsTestsFastEtcdVolumes":            t.KopsTestsFastEtcdVolumes(),
		"KopsAPIServerRoleAllowed":            t.KopsAPIServerRoleAllowed(),
	}
}
