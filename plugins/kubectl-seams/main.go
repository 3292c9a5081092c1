// Command kubectl-seams is seams under the name by which kubectl finds
// plugins: with it on the PATH, `kubectl seams explain -f profile.cue` works.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/kubeseams/seams/internal/cli"
	_ "github.com/kubeseams/seams/internal/collect" // before all else
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := cli.PluginMain(ctx, cli.OSStreams(), "kubectl seams", os.Args[1:])
	stop()
	os.Exit(code)
}
