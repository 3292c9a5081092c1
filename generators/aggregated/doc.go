// Package aggregated is the arrow from the plan to the files of aggregated
// tiers: for each an upstream server of custom resources with an etcd of its
// own, as static pods or as workloads, and the objects by which kube-apiserver
// sends it the groups that it serves.
package aggregated
