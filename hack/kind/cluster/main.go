// Cluster brings up, for hack/kind/cluster.sh, what seams rendered for kind.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/kubeseams/seams/e2e/kind/cluster"
)

func main() {
	o := cluster.Options{Talk: os.Stderr}
	flag.StringVar(&o.Dir, "dir", "", "`directory` that seams render --target kind wrote")
	flag.StringVar(&o.Image, "image", "", "node `image`")
	flag.StringVar(&o.Kind, "kind", "kind", "`path` of kind")
	flag.StringVar(&o.Kubectl, "kubectl", "kubectl", "`path` of kubectl")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c, err := cluster.Create(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		if c != nil {
			fmt.Fprintf(os.Stderr, "the node containers are kept to look at; hack/kind/cluster.sh down %s takes them down\n", c.Name)
		}
		os.Exit(1)
	}
	fmt.Println(c.Kubeconfig)
}
