// Package staticpod is the arrow from plan to files for whoever runs neither
// kubeadm nor kOps: complete static pods for every control-plane host.
package staticpod
