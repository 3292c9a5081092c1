package target

import "slices"

// ServiceAccountTokens is the one controller that no value of --controllers
// turns off: every kube-controller-manager with the service account's private
// key runs it, before all others (BuildControllers in
// cmd/kube-controller-manager/app/controllermanager.go).
const ServiceAccountTokens = "serviceaccount-token-controller"

// controllers are the names that kube-controller-manager of 1.34 and 1.35
// knows (cmd/kube-controller-manager/names); an unknown one keeps it from
// starting.
var controllers = []string{
	"bootstrap-signer-controller",
	"certificatesigningrequest-approving-controller",
	"certificatesigningrequest-cleaner-controller",
	"certificatesigningrequest-signing-controller",
	"clusterrole-aggregation-controller",
	"cronjob-controller",
	"daemonset-controller",
	"deployment-controller",
	"device-taint-eviction-controller",
	"disruption-controller",
	"endpoints-controller",
	"endpointslice-controller",
	"endpointslice-mirroring-controller",
	"ephemeral-volume-controller",
	"garbage-collector-controller",
	"horizontal-pod-autoscaler-controller",
	"job-controller",
	"kube-apiserver-serving-clustertrustbundle-publisher-controller",
	"legacy-serviceaccount-token-cleaner-controller",
	"namespace-controller",
	"node-ipam-controller",
	"node-lifecycle-controller",
	"persistentvolume-attach-detach-controller",
	"persistentvolume-binder-controller",
	"persistentvolume-expander-controller",
	"persistentvolume-protection-controller",
	"persistentvolumeclaim-protection-controller",
	"pod-garbage-collector-controller",
	"podcertificaterequest-cleaner-controller",
	"replicaset-controller",
	"replicationcontroller-controller",
	"resourceclaim-controller",
	"resourcequota-controller",
	"root-ca-certificate-publisher-controller",
	"selinux-warning-controller",
	"service-cidr-controller",
	"serviceaccount-controller",
	ServiceAccountTokens,
	"statefulset-controller",
	"storage-version-migrator-controller",
	"storageversion-garbage-collector-controller",
	"taint-eviction-controller",
	"token-cleaner-controller",
	"ttl-after-finished-controller",
	"ttl-controller",
	"validatingadmissionpolicy-status-controller",
	"volumeattributesclass-protection-controller",
}

// controllersFrom136 came with 1.36.
var controllersFrom136 = []string{
	"podgroup-protection-controller",
	"resourcepoolstatusrequest-controller",
}

// Controllers lists the controllers of kube-controller-manager of a version,
// sorted.
func Controllers(kubernetes Version) []string {
	names := slices.Clone(controllers)
	if kubernetes.atLeast(36) {
		names = append(names, controllersFrom136...)
	}
	slices.Sort(names)
	return names
}
