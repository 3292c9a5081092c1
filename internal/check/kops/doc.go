// Package kops is the checker of the last arrow for kOps documents: Cluster
// and InstanceGroup of kops.k8s.io/v1alpha2, ours or a user's. kOps decodes
// leniently and drops a field it does not know in silence, so names and types
// are held against the structural schemas of the kOps minor in upstream's own
// validator, and what kOps' validation, model builders and node setup do with
// the values is checked by the rules beside it.
package kops
