// Command proxy prints the flags of kube-proxy.
package main

import (
	"k8s.io/kubernetes/cmd/kube-proxy/app"

	"github.com/kubeseams/seams/hack/minors/flags/dump/kube"
)

func main() {
	kube.Command("kube-proxy", app.NewProxyCommand().Flags())
}
