// Command kops-seams puts a recipe into the documents that kOps prints:
// kops get all NAME -o yaml | kops-seams -f profile.cue > out.yaml
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
	code := cli.KopsMain(ctx, cli.OSStreams(), os.Args[1:])
	stop()
	os.Exit(code)
}
