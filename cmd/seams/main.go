// Command seams chooses and renders recipes for large Kubernetes control planes.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/kubeseams/seams/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := cli.Main(ctx, cli.OSStreams(), os.Args[1:])
	stop()
	os.Exit(code)
}
