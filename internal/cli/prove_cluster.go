package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubeseams/seams/internal/prove"
	"github.com/kubeseams/seams/internal/prove/cluster"
	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/recipe"
)

// clusterFlags are the flags of prove for a cluster that exists.
type clusterFlags struct {
	kubeconfig string
	context    string
	image      string
	kwokImage  string
	jobs       int
	metrics    []string
	yes        bool
	cleanUp    bool
}

// withoutCluster are flags that only mean something for processes of this
// machine, withCluster those that need a cluster.
var (
	withoutCluster = []string{"kubernetes", "bin", "against", "work-dir", "keep-logs"}
	withCluster    = []string{"context", "image", "kwok-image", "jobs", "metrics", "yes", "clean-up"}
)

func (f *clusterFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "drive the load in the cluster of this kubeconfig")
	flags.StringVar(&f.context, "context", "", "context of the kubeconfig (default: its current one)")
	flags.StringVar(&f.image, "image", "", "image with seams, and kwok, for the cluster's Pods; hack/load-image makes one")
	flags.StringVar(&f.kwokImage, "kwok-image", "", "image that begins with kwok, in place of --image's")
	flags.IntVar(&f.jobs, "jobs", 1, "Pods that the load is divided over")
	flags.StringArrayVar(&f.metrics, "metrics", nil, "PREFIX=URL of metrics that the kubeconfig does not reach, store.main=http://10.0.0.11:2381; repeatable")
	flags.BoolVar(&f.yes, "yes", false, "load the cluster; without it the plan is printed and nothing is done")
	flags.BoolVar(&f.cleanUp, "clean-up", false, "remove what a run left that was killed, and do nothing else")
	_ = cmd.MarkFlagFilename("kubeconfig")
}

// check finds flags that do not go together, all at once.
func (f *clusterFlags) check(given func(string) bool) error {
	var errs []error
	names := withCluster
	if f.kubeconfig != "" {
		names = withoutCluster
	}
	for _, name := range names {
		switch {
		case !given(name):
		case f.kubeconfig != "":
			errs = append(errs, fmt.Errorf("--%s: a cluster that exists has its own; it does not go with --kubeconfig", name))
		default:
			errs = append(errs, fmt.Errorf("--%s: want --kubeconfig with it", name))
		}
	}
	switch {
	case f.kubeconfig == "" || f.cleanUp:
	case f.image == "":
		errs = append(errs, errors.New("--image: the cluster's Pods need one; hack/load-image/README.md says how to make it"))
	}
	if f.jobs < 1 {
		errs = append(errs, errors.New("--jobs: want at least 1"))
	}
	if _, err := f.addresses(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// addresses are --metrics by prefix.
func (f *clusterFlags) addresses() (map[string]string, error) {
	all := map[string]string{}
	for _, m := range f.metrics {
		prefix, url, ok := strings.Cut(m, "=")
		kind, name, _ := strings.Cut(prefix, ".")
		if !ok || !slices.Contains([]string{"store", "apiserver"}, kind) || name == "" || all[prefix] != "" {
			return nil, fmt.Errorf("--metrics %s: want PREFIX=URL, each PREFIX once, such as store.main=http://10.0.0.11:2381", m)
		}
		all[prefix] = url
	}
	return all, nil
}

// config reads the kubeconfig.
func (f *clusterFlags) config() (*rest.Config, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: f.kubeconfig}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: f.context}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig %s: %w", f.kubeconfig, err)
	}
	return config, nil
}

// proveCluster plans, and does it with --yes.
func (f *proveFlags) proveCluster(ctx context.Context, streams Streams, ladder *recipe.Ladder, rung recipe.Rung) (*prove.Record, error) {
	config, err := f.cluster.config()
	if err != nil {
		return nil, err
	}
	metrics, err := f.cluster.addresses()
	if err != nil {
		return nil, err
	}
	o := cluster.Options{
		Config: config, Ladder: ladder, Rung: rung, Scale: f.scale, Seconds: f.seconds, Jobs: f.cluster.jobs,
		Image: f.cluster.image, KwokImage: f.cluster.kwokImage, NodesBy: load.Renewer(f.nodesBy), Metrics: metrics,
		Version: Version, Today: time.Now(),
	}
	if !f.quiet {
		o.Log = streams.Err
	}
	plan, err := cluster.Make(ctx, o)
	if err != nil {
		return nil, err
	}
	if !f.cluster.yes {
		fmt.Fprint(streams.Out, plan.Text())
		return nil, errors.New("nothing was done: this loads a real cluster; do it with --yes")
	}
	return plan.Run(ctx)
}

func (f *clusterFlags) removeLeftovers(ctx context.Context, streams Streams) error {
	config, err := f.config()
	if err != nil {
		return err
	}
	fmt.Fprintf(streams.Err, "removing everything labelled %s from %s\n", cluster.RunLabel, config.Host)
	return cluster.CleanUp(ctx, config)
}

// predicted is what the estimator says beside a record; of an existing cluster,
// whose layout nobody looked at, it says nothing.
func (f *proveFlags) predicted(ctx context.Context, ladder *recipe.Ladder, r *prove.Record) (map[string][]prove.Prediction, error) {
	if f.cluster.kubeconfig != "" {
		return nil, nil
	}
	return prove.Predict(ctx, ladder, r)
}

// newLoadCmd is what the Pods of the Job run; no person types it.
func newLoadCmd() *cobra.Command {
	var spec, kubeconfig string
	var index int
	cmd := &cobra.Command{
		Use:    "load --spec FILE",
		Short:  "drive one part of a load from inside a cluster",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			data, err := os.ReadFile(spec)
			if err != nil {
				return err
			}
			s, err := cluster.ReadSpec(data)
			if err != nil {
				return fmt.Errorf("%s: %w", spec, err)
			}
			config, err := rest.InClusterConfig()
			if kubeconfig != "" {
				config, err = (&clusterFlags{kubeconfig: kubeconfig}).config()
			}
			if err != nil {
				return err
			}
			return cluster.Drive(cmd.Context(), config, s, index)
		},
	}
	f := cmd.Flags()
	f.StringVar(&spec, "spec", "", "file with the load")
	f.StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig, for a Pod that is none")
	f.IntVar(&index, "index", indexOf(os.Getenv(cluster.IndexVariable)), "part of the load (default: $"+cluster.IndexVariable+")")
	_ = cmd.MarkFlagRequired("spec")
	return cmd
}

// indexOf reads the completion index; -1, which no part has, for anything else.
func indexOf(text string) int {
	n := -1
	if _, err := fmt.Sscanf(text, "%d", &n); err != nil {
		return -1
	}
	return n
}
