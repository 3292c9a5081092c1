// Command apiextensions prints the flags of the standalone
// apiextensions-apiserver, which serves an aggregated tier.
package main

import (
	"context"
	"io"

	"k8s.io/apiextensions-apiserver/pkg/cmd/server"

	"github.com/kubeseams/seams/hack/minors/flags/dump/kube"
)

func main() {
	kube.Command("apiextensions-apiserver", server.NewServerCommand(context.Background(), io.Discard, io.Discard).Flags())
}
