// Package cluster is the part of prove for a cluster that exists: the load of a
// rung's proof is cut into parts, which the Pods of a Job drive from inside,
// with kwok for hollow nodes where asked; what the kubeconfig reaches is
// measured; everything that was made is removed. Kubernetes itself spreads the
// load. What cannot be seen from outside is named and decides nothing.
package cluster
