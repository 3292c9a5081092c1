package profile

// The codes of findings about a file's form. They are stable.
const (
	// CodeSyntax is a text that its format's grammar does not allow.
	CodeSyntax = "profile-syntax"
	// CodeEvaluation is a CUE or Jsonnet program that has no result.
	CodeEvaluation = "profile-evaluation"
	// CodeRunaway is a program stopped for the time or memory it took.
	CodeRunaway = "profile-runaway"
	// CodeEvaluatorFailed is a text on which CUE, Jsonnet or a parser panicked.
	CodeEvaluatorFailed = "profile-evaluator-failed"
	// CodeTooLarge is a file, or what it expands to, over a limit of size.
	CodeTooLarge = "profile-too-large"
	// CodeTooDeep is a file over the limit of nesting.
	CodeTooDeep = "profile-too-deep"
	// CodeNotText is a file that is not UTF-8.
	CodeNotText = "profile-not-text"
	// CodeEmpty is a file without a profile in it.
	CodeEmpty = "profile-empty"
	// CodeDuplicateKey is a field written twice in one object.
	CodeDuplicateKey = "profile-duplicate-key"
	// CodeUnknownField is a field that #Profile does not have there.
	CodeUnknownField = "profile-unknown-field"
	// CodeMissingField is a required field that is not there.
	CodeMissingField = "profile-missing-field"
	// CodeWrongType is a value of another type than the schema's.
	CodeWrongType = "profile-wrong-type"
	// CodeOutOfBounds is a number outside the schema's bounds.
	CodeOutOfBounds = "profile-out-of-bounds"
	// CodeNotOneOf is a value that is not among a closed choice.
	CodeNotOneOf = "profile-not-one-of"
	// CodeBadFormat is a string of another form than the schema's.
	CodeBadFormat = "profile-bad-format"
	// CodeTooMany is a list longer than the schema allows.
	CodeTooMany = "profile-too-many"
	// CodeConflict is a value that a CUE file gives twice, differently.
	CodeConflict = "profile-conflict"
	// CodeIncomplete is a value that a CUE file leaves open.
	CodeIncomplete = "profile-incomplete"
)

// The codes of findings about a profile's meaning. They are stable.
const (
	// CodeKubernetesUnsupported is a Kubernetes version there are no tables for.
	CodeKubernetesUnsupported = "kubernetes-unsupported"
	// CodeKopsMissing is platform kind kops without its settings.
	CodeKopsMissing = "kops-settings-missing"
	// CodeKopsUnused is kOps settings on another platform.
	CodeKopsUnused = "kops-settings-unused"
	// CodeKopsVersion is a kOps version that cannot be read.
	CodeKopsVersion = "kops-version-bad"
	// CodeKubernetesLowered is a profile taken to the kOps release's own minor.
	CodeKubernetesLowered = "kubernetes-lowered-for-kops"
	// CodeKopsTooOld is a kOps release that does not know the Kubernetes minor yet.
	CodeKopsTooOld = "kops-older-than-kubernetes"
	// CodeKopsTooNew is a kOps release that has dropped the Kubernetes minor.
	CodeKopsTooNew = "kops-newer-than-kubernetes"
	// CodeLeaseRenewExceedsGrace is a grace period that one missed renewal uses up.
	CodeLeaseRenewExceedsGrace = "lease-renew-exceeds-grace"
	// CodeLeaseFewRenewals is a grace period of fewer than four renewals.
	CodeLeaseFewRenewals = "lease-few-renewals"
	// CodeGraceBelowHTTP2 is a grace period shorter than a dead connection lasts.
	CodeGraceBelowHTTP2 = "grace-below-http2-timeout"
	// CodeReportFollowsUpdate is a status update frequency without a report frequency.
	CodeReportFollowsUpdate = "status-report-follows-update"
	// CodeTargetBelowCount is a target smaller than the present number of nodes.
	CodeTargetBelowCount = "target-below-count"
	// CodeObjectOverEtcdRequest is an object that etcd's default refuses to store.
	CodeObjectOverEtcdRequest = "object-over-etcd-request"
	// CodeChurnWithoutRate is a churn entry without any writes.
	CodeChurnWithoutRate = "churn-without-rate"
	// CodeEventTTLZero is an event TTL of 0, which is none at all.
	CodeEventTTLZero = "event-ttl-zero"
	// CodeCountedTwice is a load that another field stands for already.
	CodeCountedTwice = "counted-twice"
	// CodeDuplicateResource is a resource listed twice on one axis.
	CodeDuplicateResource = "duplicate-resource"
	// CodeGroupIsCore is the core group by another name than "".
	CodeGroupIsCore = "group-is-core"
	// CodeNotCoreResource is a resource that the core group does not have.
	CodeNotCoreResource = "resource-not-in-core"
	// CodeDuplicateHost is two hosts of one name or address.
	CodeDuplicateHost = "duplicate-host"
	// CodeHostAddress is an address that other hosts cannot use.
	CodeHostAddress = "host-address-unusable"
	// CodeHostsEven is an even number of hosts, and so of etcd members.
	CodeHostsEven = "hosts-even"
	// CodeApiserversNotHosts is another number of apiservers than of hosts.
	CodeApiserversNotHosts = "apiservers-differ-from-hosts"
	// CodeEndpointMissing is several hosts without an endpoint.
	CodeEndpointMissing = "endpoint-missing"
	// CodeEndpointBad is an endpoint that is not host:port.
	CodeEndpointBad = "endpoint-bad"
	// CodeEndpointIsHost is an endpoint that is one of the hosts.
	CodeEndpointIsHost = "endpoint-is-host"
	// CodeNodeEndpointSame is a node endpoint equal to the general one.
	CodeNodeEndpointSame = "node-endpoint-same"
	// CodeQuotaAboveMax is an etcd quota above the suggested maximum.
	CodeQuotaAboveMax = "quota-above-suggested"
	// CodeNetworkCIDR is a range that cannot be read.
	CodeNetworkCIDR = "network-cidr-bad"
	// CodeNetworkOverlap is Services and pods sharing addresses.
	CodeNetworkOverlap = "network-overlap"
	// CodeNetworkFamily is Services and pods of different address families.
	CodeNetworkFamily = "network-family-mismatch"
	// CodeHostInRange is a host whose address lies in a cluster range.
	CodeHostInRange = "host-in-cluster-range"
	// CodeServiceRangeTooLarge is a Service range that kube-apiserver refuses.
	CodeServiceRangeTooLarge = "service-range-too-large"
	// CodeNodeMask is a node range that cannot be cut out of the pod range.
	CodeNodeMask = "node-mask-bad"
	// CodePodRangeTooSmall is a pod range with room for fewer nodes than planned.
	CodePodRangeTooSmall = "pod-range-too-small"
	// CodeNodeRangeTooSmall is a node range with fewer addresses than pods.
	CodeNodeRangeTooSmall = "node-range-too-small"
)
