// Cluster brings up, for the scripts of hack/kind, what seams rendered for kind,
// and takes clusters down.
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
	deleted := flag.String("delete", "", "`name` of a cluster to take down, and nothing else")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *deleted != "" {
		if err := cluster.Delete(ctx, o.Kind, *deleted, ""); err != nil {
			fmt.Fprintf(os.Stderr, "cluster %s stays: %v\n", *deleted, err)
			os.Exit(1)
		}
		return
	}
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
