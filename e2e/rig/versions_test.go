//go:build rig

package rig_test

import (
	"testing"

	"github.com/kubeseams/seams/internal/binaries"
)

// Every program that is built says the version that it was built as.
func TestVersions(t *testing.T) {
	want := map[string]string{"etcd": "3.7.3", "etcdctl": "3.7.3", "kwok": "0.8.0", "apiextensions-apiserver": "0.37.2"}
	names := []string{"apiextensions-apiserver", "etcd", "etcdctl", "kube-apiserver", "kube-controller-manager", "kube-proxy", "kube-scheduler", "kubeadm", "kubectl", "kubelet", "kwok"}
	set, err := binaries.Find("", "", names...)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		version := want[name]
		if version == "" {
			version = set.Kubernetes
		}
		if got, err := set.Version(t.Context(), name); err != nil || got != version {
			t.Errorf("%s says %q, %v; want %s", name, got, err, version)
		}
	}
}
