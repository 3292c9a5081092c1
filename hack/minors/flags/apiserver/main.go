// Command apiserver prints the flags of kube-apiserver.
package main

import (
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"github.com/kubeseams/seams/hack/minors/flags/dump/kube"
)

func main() {
	kube.AddLogGates()
	kube.Named("kube-apiserver", options.NewServerRunOptions().Flags())
}
