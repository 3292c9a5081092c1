// Command controllermanager prints the flags of kube-controller-manager.
package main

import (
	"k8s.io/kubernetes/cmd/kube-controller-manager/app/options"

	"github.com/kubeseams/seams/hack/minors/flags/dump"
	"github.com/kubeseams/seams/hack/minors/flags/dump/kube"
)

func main() {
	kube.AddLogGates()
	o, err := options.NewKubeControllerManagerOptions()
	if err != nil {
		dump.Fail(err)
	}
	// The lists of controllers only appear in the help text of --controllers.
	kube.Named("kube-controller-manager", o.Flags(nil, nil, nil))
}
