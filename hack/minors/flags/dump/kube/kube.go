// Package kube reads flags and feature gates of Kubernetes components.
package kube

import (
	"strings"

	"github.com/spf13/pflag"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/version/verflag"

	"github.com/kubeseams/seams/hack/minors/flags/dump"
)

// Named prints a component whose options come as named flag sets, with the
// global flags that each component's command adds.
func Named(component string, sets cliflag.NamedFlagSets) {
	global := sets.FlagSet("global")
	verflag.AddFlags(global)
	globalflag.AddGlobalFlags(global, component, logs.SkipLoggingConfigurationFlags())
	all := pflag.NewFlagSet(component, pflag.ContinueOnError)
	for _, set := range sets.FlagSets {
		all.AddFlagSet(set)
	}
	Command(component, all)
}

// Command prints a component from the flags of its cobra command. Running it
// adds the flags of logging, help, and whatever the program's packages have
// put into pflag's command line, such as version.
func Command(component string, fs *pflag.FlagSet) {
	extra := pflag.NewFlagSet(component, pflag.ContinueOnError)
	logs.AddFlags(extra)
	extra.BoolP("help", "h", false, "")
	dump.Print(component, FromPflag(fs, extra, pflag.CommandLine), Gates())
}

// AddLogGates does what the package of a component's command does on start. It
// has to come before the component's flags are made.
func AddLogGates() {
	if err := logsapi.AddFeatureGates(utilfeature.DefaultMutableFeatureGate); err != nil {
		dump.Fail(err)
	}
}

// Gates reads the feature gates that are compiled into this program.
func Gates() map[string]dump.Gate {
	gates := map[string]dump.Gate{}
	for name, spec := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		stage := string(spec.PreRelease)
		if stage == "" {
			stage = "GA"
		}
		gates[string(name)] = dump.Gate{Stage: stage, Default: spec.Default, Locked: spec.LockToDefault}
	}
	return gates
}

// FromPflag reads flag sets; where two have a flag of one name, the first counts.
func FromPflag(sets ...*pflag.FlagSet) []dump.Flag {
	var flags []dump.Flag
	for _, set := range sets {
		set.VisitAll(func(f *pflag.Flag) {
			flags = append(flags, dump.Flag{
				Name: f.Name, Shorthand: f.Shorthand, Type: f.Value.Type(), Default: f.DefValue,
				Deprecated: strings.TrimSpace(f.Deprecated), NoOptDefault: f.NoOptDefVal,
			})
		})
	}
	return flags
}
