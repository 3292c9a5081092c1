// Command scheduler prints the flags of kube-scheduler.
package main

import (
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"

	"github.com/kubeseams/seams/hack/minors/flags/dump/kube"
)

func main() {
	kube.AddLogGates()
	kube.Named("kube-scheduler", *options.NewOptions().Flags)
}
