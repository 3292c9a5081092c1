// Command etcd prints the flags of etcd. Most come from package embed; those
// that only etcd's main declares are passed as arguments NAME=TYPE, read from
// its source by hack/minors, because that package exports none of it.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/features"

	"github.com/kubeseams/seams/hack/minors/flags/dump"
)

func main() {
	fs := flag.NewFlagSet("etcd", flag.ContinueOnError)
	embed.NewConfig().AddFlags(fs)
	flags := dump.FromStandard(fs)
	for _, arg := range os.Args[1:] {
		name, kind, ok := strings.Cut(arg, "=")
		if !ok {
			dump.Fail(fmt.Errorf("%q: want NAME=TYPE", arg))
		}
		f := dump.Flag{Name: name, Type: kind}
		if kind == "bool" {
			f.Default, f.NoOptDefault = "false", "true"
		}
		flags = append(flags, f)
	}
	gates := map[string]dump.Gate{}
	for name, spec := range features.DefaultEtcdServerFeatureGates {
		stage := string(spec.PreRelease)
		if stage == "" {
			stage = "GA"
		}
		gates[string(name)] = dump.Gate{Stage: stage, Default: spec.Default, Locked: spec.LockToDefault}
	}
	dump.Print("etcd", flags, gates)
}
