package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubeseams/seams/internal/lint"
	"github.com/kubeseams/seams/internal/lint/read"
	"github.com/kubeseams/seams/internal/target"
)

// lintFlags are the command's own.
type lintFlags struct {
	output       lintOutput
	failOn       failOnFlag
	as           string
	configs      []string
	kubernetes   string
	kops         string
	kopsFlags    string
	ignore       []string
	oneCluster   bool
	upgrade      bool
	before       []string
	experimental bool
}

func newLintCmd(streams Streams, name string) *cobra.Command {
	var flags lintFlags
	cmd := &cobra.Command{
		Use:   "lint [flags] PATH...",
		Short: "judge the configuration that runs today",
		Long: `lint judges existing files by the code that judges rendered ones: kubeadm
configurations of all kinds and versions, dumps of the ConfigMaps kubeadm-config
and kubelet-config, static pod manifests, kubeadm's patches, kOps documents,
kind clusters, and lists of flags. A PATH is a file, a directory that is
searched to its bottom, or - for standard input. What a file is is told by its
content; files of other kinds are counted and left alone.

Files of one cluster are judged together: manifests with the kubeadm
configuration beside or above them, hosts side by side whose processes name the
same etcd, a kOps Cluster and its instance groups.

A finding is suppressed with its code and a reason, in a comment behind the
line it is about or on a line of its own above it, or for all files with --ignore:

  # seams:ignore override-custom-resource moved to its own server in March

Exit codes: 0 clean, 1 findings at or above --fail-on, 2 usage or tool failure.`,
		Example: examples(name, `
# everything below a directory
%[1]s lint /etc/kubernetes

# what the next kubeadm upgrade would take away
kubectl -n kube-system get cm kubeadm-config -o yaml > kubeadm-config.yaml
%[1]s lint --config kubeadm-config.yaml /etc/kubernetes/manifests

# one value, a kOps cluster, a report for a code host
echo '--etcd-servers-overrides=/events#https://10.0.0.21:2379' | %[1]s lint -
kops get all my.example.com -o yaml | %[1]s lint --kops 1.36 -
%[1]s lint --before before.yaml cluster.yaml
%[1]s lint -o sarif --fail-on never . > lint.sarif
`),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runLint(cmd.Context(), streams, &flags, args)
		},
	}
	flags.register(cmd)
	return cmd
}

func (l *lintFlags) register(cmd *cobra.Command) {
	l.output.register(cmd)
	l.failOn.register(cmd)
	f := cmd.Flags()
	f.StringVar(&l.as, "as", "", "kind of all files, in place of what their content tells: "+strings.Join(lintKinds(), ", ")+", or a program for a list of its flags")
	f.StringArrayVar(&l.configs, "config", nil, "file with the kubeadm configuration, or the ConfigMap, of the manifests that are linted; repeatable")
	f.StringVar(&l.kubernetes, "kubernetes", "", "Kubernetes version where the files do not tell it (default: the newest known)")
	f.StringVar(&l.kops, "kops", "", "version of kOps (default: that of the Kubernetes in the documents)")
	f.StringVar(&l.kopsFlags, "kops-feature-flags", "", "value of KOPS_FEATURE_FLAGS that kOps runs with")
	f.StringArrayVar(&l.ignore, "ignore", nil, "suppress a code in all files, as CODE=REASON; repeatable")
	f.BoolVar(&l.oneCluster, "one-cluster", false, "judge all files together, as one cluster's")
	f.StringArrayVar(&l.before, "before", nil, "file with the kOps documents in force now: say what kOps refuses or cannot do on the way from them; repeatable")
	f.BoolVar(&l.upgrade, "for-upgrade", false, "kubeadm configurations are meant for kubeadm upgrade --config")
	f.BoolVar(&l.experimental, "allow-experimental-api", false, "let kubeadm.k8s.io/v1 pass, as kubeadm does with this flag")
	kinds := append(lintKinds(), target.Components...)
	_ = cmd.RegisterFlagCompletionFunc("as", cobra.FixedCompletions(kinds, cobra.ShellCompDirectiveNoFileComp))
}

func lintKinds() []string {
	kinds := make([]string, 0, len(read.Names))
	for name := range read.Names {
		kinds = append(kinds, name)
	}
	slices.Sort(kinds)
	return kinds
}

// input reads the flags.
func (l *lintFlags) input() (in lint.Input, err error) {
	in = lint.Input{
		KopsFeatureFlags: l.kopsFlags, OneCluster: l.oneCluster, Upgrade: l.upgrade, Experimental: l.experimental,
	}
	if l.as != "" {
		kind, ok := read.Names[l.as]
		switch {
		case ok:
			in.As = kind
		case slices.Contains(target.Components, l.as):
			in.As, in.Program = read.Flags, l.as
		default:
			return in, fmt.Errorf("unknown kind %q for --as: want one of %s, or a program such as kube-apiserver", l.as, strings.Join(lintKinds(), ", "))
		}
	}
	for _, v := range []struct {
		flag, text string
		to         *target.Version
	}{{"kubernetes", l.kubernetes, &in.Kubernetes}, {"kops", l.kops, &in.Kops}} {
		if v.text == "" {
			continue
		}
		if *v.to, err = target.ParseVersion(v.text); err != nil {
			return in, fmt.Errorf("--%s: %w", v.flag, err)
		}
	}
	for _, text := range l.ignore {
		what, reason, _ := strings.Cut(text, "=")
		if what == "" || strings.TrimSpace(reason) == "" {
			return in, fmt.Errorf("--ignore %q: want CODE=REASON, with a reason", text)
		}
		in.Ignore = append(in.Ignore, lint.Ignore{What: what, Reason: reason})
	}
	return in, nil
}

func runLint(ctx context.Context, streams Streams, flags *lintFlags, args []string) error {
	in, err := flags.input()
	if err != nil {
		return err
	}
	if len(args)+len(flags.configs) == 0 {
		return fmt.Errorf("nothing to lint: pass files or directories, or - for standard input")
	}
	for _, p := range flags.before {
		f, err := readBefore(p)
		if err != nil {
			return err
		}
		in.Before = append(in.Before, f)
	}
	files := &lintFiles{stdin: streams.In, configs: flags.configs, paths: args}
	if err := files.check(); err != nil {
		return err
	}
	in.Entries, in.Open = files.entries, files.open
	result, err := lint.Run(ctx, in)
	if err != nil {
		return err
	}
	result.Skipped += files.skipped
	if err := flags.output.write(streams.Out, result); err != nil {
		return err
	}
	return flags.failOn.verdict(result.Findings)
}
