// Command seams chooses and renders recipes for large Kubernetes control planes.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/kubeseams/seams/internal/cli"
	_ "github.com/kubeseams/seams/internal/collect" // before all else
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, cli.OSStreams(), os.Args[1:])
	stop()
	os.Exit(code)
}
