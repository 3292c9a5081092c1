package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/tier"
)

// tierFlags say how the main servers and those of a tier are reached.
type tierFlags struct {
	cluster        clusterFlags
	mainServers    []string
	tierKubeconfig string
	tierServers    []string
	service        string
	ca             string
}

func newTierCmd(streams Streams, name string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tier",
		Short: "fill an aggregated tier of a live cluster",
		Long: `An aggregated tier is a server of custom resources with an etcd of its own, to
which kube-apiserver sends whole API groups. render makes its files; these
commands put definitions into it, and move the objects of a group into it and
back while the cluster runs.`,
	}
	cmd.AddCommand(newTierCRDsCmd(streams, name), newTierMoveCmd(streams, name))
	return cmd
}

func (f *tierFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.cluster.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "kubeconfig of the cluster, of an administrator (default: $KUBECONFIG)")
	flags.StringVar(&f.cluster.context, "context", "", "context of the kubeconfig (default: its current one)")
	flags.StringArrayVar(&f.mainServers, "main-server", nil, "URL of a kube-apiserver, each by itself; repeatable (default: the endpoints of the Service kubernetes)")
	flags.StringVar(&f.service, "tier-service", "", "Service of the tier as its APIServices name it, NAMESPACE/NAME:PORT")
	flags.StringVar(&f.ca, "tier-ca", "", "certificate of the authority that signed the tier's, as PEM")
	flags.StringArrayVar(&f.tierServers, "tier-server", nil, "URL of a server of the tier, called with the kubeconfig's identity; repeatable, all of them")
	flags.StringVar(&f.tierKubeconfig, "tier-kubeconfig", "", "kubeconfig of the tier's server, where that identity is not known to it")
	_ = cmd.MarkFlagFilename("kubeconfig")
	_ = cmd.MarkFlagFilename("tier-kubeconfig")
	_ = cmd.MarkFlagFilename("tier-ca", "crt", "pem")
}

// check finds flags that lack or do not go together, all at once.
func (f *tierFlags) check() error {
	var errs []error
	for _, needed := range []struct{ value, text string }{
		{f.cluster.kubeconfig, "--kubeconfig: want the cluster's, or KUBECONFIG in the environment"},
		{f.service, "--tier-service: want NAMESPACE/NAME:PORT, as the tier's rendered APIServices have it"},
		{f.ca, "--tier-ca: want the certificate of the tier's authority, which its pki.sh made"},
	} {
		if needed.value == "" {
			errs = append(errs, errors.New(needed.text))
		}
	}
	if len(f.tierServers) == 0 && f.tierKubeconfig == "" {
		errs = append(errs, errors.New("--tier-server: want the URL of each server of the tier, or --tier-kubeconfig; kube-apiserver does not lead to where its definitions are managed"))
	}
	if f.service != "" {
		if _, err := tier.ParseService(f.service); err != nil {
			errs = append(errs, fmt.Errorf("--tier-service: %w", err))
		}
	}
	return errors.Join(errs...)
}

// connect reaches all servers.
func (f *tierFlags) connect(ctx context.Context) (tier.Cluster, error) {
	a := tier.Access{MainServers: f.mainServers, TierServers: f.tierServers}
	var err error
	if a.Target, err = tier.ParseService(f.service); err != nil {
		return tier.Cluster{}, err
	}
	if a.Target.CA, err = os.ReadFile(f.ca); err != nil {
		return tier.Cluster{}, fmt.Errorf("--tier-ca: %w", err)
	}
	if _, err := rest.HTTPClientFor(&rest.Config{Host: "https://tier", TLSClientConfig: rest.TLSClientConfig{CAData: a.Target.CA}}); err != nil {
		return tier.Cluster{}, fmt.Errorf("--tier-ca %s: %w", f.ca, err)
	}
	if a.Main, err = f.cluster.config(); err != nil {
		return tier.Cluster{}, err
	}
	if f.tierKubeconfig != "" {
		if a.Tier, err = (&clusterFlags{kubeconfig: f.tierKubeconfig}).config(); err != nil {
			return tier.Cluster{}, fmt.Errorf("the tier: %w", err)
		}
	}
	return tier.Connect(ctx, a)
}
