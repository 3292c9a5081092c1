// Package pki makes the certificates, keys and kubeconfigs that files of a plan
// refer to, laid out as on a kubeadm host. It stands beside the arrow plan →
// files: generators name the paths, this package fills them.
//
// Keys are ECDSA P-256. Every certificate has the usages and names that its use
// needs and no others. No key is ever part of an error or a log line.
package pki
