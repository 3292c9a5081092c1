// Package controlplane makes the objects that several targets share, from plan
// to upstream's types: the static pods of etcd, kube-apiserver, controller
// manager and scheduler, and the configurations of scheduler and kubelet. It
// belongs to the arrow from plan to files and writes none itself.
package controlplane
