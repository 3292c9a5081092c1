// Package kops is the part of the fifth arrow that writes for kOps: from a plan
// to a Cluster and InstanceGroups of kops.k8s.io/v1alpha2, the version that kOps
// stores and writes. Generate makes documents from nothing but the plan; Merge
// puts the plan into the documents that a user has, and leaves every line that
// it does not own as it is. Both come to the same wanted fields.
//
// kOps makes machines, certificates and etcd itself, so a plan's hosts, ports,
// directories and keys are not used here.
package kops
