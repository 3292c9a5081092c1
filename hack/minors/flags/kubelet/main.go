// Command kubelet prints the flags of kubelet.
package main

import (
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/kubernetes/cmd/kubelet/app/options"

	"github.com/kubeseams/seams/hack/minors/flags/dump"
	"github.com/kubeseams/seams/hack/minors/flags/dump/kube"
)

func main() {
	kube.AddLogGates()
	config, err := options.NewKubeletConfiguration()
	if err != nil {
		dump.Fail(err)
	}
	fs := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	fs.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	options.NewKubeletFlags().AddFlags(fs)
	options.AddKubeletConfigFlags(fs, config)
	options.AddGlobalFlags(fs)
	fs.BoolP("help", "h", false, "")
	// The kubelet parses by itself: what cobra would add does not count.
	dump.Print("kubelet", kube.FromPflag(fs), kube.Gates())
}
