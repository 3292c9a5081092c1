// Package kubeadm is the arrow from plan to files for clusters that kubeadm
// installs: its configuration for init, join and upgrade in v1beta4, patches
// for the pods it makes, and static pods for what it does not make.
package kubeadm
