package target

import "strings"

// BuiltIn reports whether the resource is compiled into kube-apiserver of this
// version, so that --etcd-servers-overrides can route it; everything else is a
// custom or an aggregated resource.
func BuiltIn(kubernetes Version, group, resource string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io") && !strings.Contains(group, ".x-k8s")
}
