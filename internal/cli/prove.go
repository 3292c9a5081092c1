package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubeseams/seams/internal/binaries"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/prove"
	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/target"
)

// proveFlags are the flags of prove.
type proveFlags struct {
	recipes    []string
	output     outputFlag
	kubernetes string
	bin        string
	against    string
	scale      float64
	seconds    int
	evidence   string
	work       string
	keepLogs   bool
	quiet      bool
	nodesBy    string
	cluster    clusterFlags
}

func newProveCmd(streams Streams, name string) *cobra.Command {
	var flags proveFlags
	cmd := &cobra.Command{
		Use:   "prove RUNG...",
		Short: "run a rung with real binaries under its load, and pass or fail it",
		Long: `prove renders a rung and the stock layout, brings each up as processes on this
machine with upstream's own binaries, drives the load that the rung's proof
names, measures every process and compares with the rung's limits. It exits
with 0 when all limits are met and with 1 when one is not.

With --kubeconfig the load is driven in a cluster that exists, by the Pods of a
Job and kwok, and only this cluster is measured: limits that compare with stock,
and those on what is not seen, are undecided, which exits with 1. Everything
that is made for it is removed afterwards. It loads a real cluster: without
--yes, the plan is printed and nothing is done.

Binaries come from the cache that "make binaries" fills in a clone of the
project, or from --bin. Figures are of this machine: what is compared with
stock was measured in the same run.`,
		Example: examples(name, `
%[1]s prove node/leases-store
%[1]s prove node/leases-store --scale 0.2 --seconds 30
%[1]s prove state/cold-uncached --bin ./bin --evidence recipes/evidence
%[1]s prove churn/events-store -o json | jq '.limits[] | select(.pass | not)'

# an existing cluster: what would be done, then doing it with four Pods
%[1]s prove churn/stock --kubeconfig ~/.kube/config --image registry.example/seams-load:1
%[1]s prove churn/stock --kubeconfig ~/.kube/config --image registry.example/seams-load:1 --jobs 4 --yes
`),
		Args: func(cmd *cobra.Command, args []string) error {
			if flags.cluster.cleanUp {
				return cobra.NoArgs(cmd, args)
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		ValidArgsFunction: completeRungs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runProve(cmd.Context(), streams, args, &flags, cmd.Flags().Changed)
		},
	}
	flags.output.register(cmd)
	flags.cluster.register(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&flags.recipes, "recipes", nil, "directory of further rungs in CUE; repeatable")
	f.StringVar(&flags.kubernetes, "kubernetes", "", "Kubernetes version of the binaries (default: the newest that is supported)")
	f.StringVar(&flags.bin, "bin", "", "directory of ready binaries, by their plain names")
	f.StringVar(&flags.against, "against", "stock", "what to compare with in the same run: stock, or none, which fails limits against stock")
	f.Float64Var(&flags.scale, "scale", 1, "multiplies the load of the proof")
	f.IntVar(&flags.seconds, "seconds", 0, "measures for so long in place of the proof's own time")
	f.StringVar(&flags.evidence, "evidence", "", "directory to write the record to")
	f.StringVar(&flags.work, "work-dir", "", "directory for what the processes keep while they run (default: the system's for temporary files)")
	f.BoolVar(&flags.keepLogs, "keep-logs", false, "leave the logs of all processes behind")
	f.StringVar(&flags.nodesBy, "nodes-by", "", "who renews the Leases of hollow nodes: own, the driver itself (default), or kwok (default with --kubeconfig)")
	f.BoolVarP(&flags.quiet, "quiet", "q", false, "say nothing but the verdict")
	_ = cmd.RegisterFlagCompletionFunc("against", cobra.FixedCompletions([]string{"stock", "none"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("nodes-by", cobra.FixedCompletions([]string{"own", "kwok"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.MarkFlagDirname("bin")
	_ = cmd.MarkFlagDirname("evidence")
	return cmd
}

func runProve(ctx context.Context, streams Streams, names []string, flags *proveFlags, given func(string) bool) error {
	if err := errors.Join(flags.check(), flags.cluster.check(given)); err != nil {
		return err
	}
	if flags.cluster.cleanUp {
		return flags.cluster.removeLeftovers(ctx, streams)
	}
	ladder, findings, err := recipe.Load(recipe.Options{Dirs: flags.recipes})
	if err != nil {
		return err
	}
	printFindings(streams, findings)
	if finding.AtLeast(findings, finding.Error) {
		return exit(exitFailure)
	}
	rungs, err := pickRungs(ladder.Rungs(), names)
	if err != nil {
		return err
	}
	if flags.cluster.kubeconfig != "" {
		return flags.judged(ctx, streams, ladder, rungs, func(rung recipe.Rung) (*prove.Record, error) {
			return flags.proveCluster(ctx, streams, ladder, rung)
		})
	}
	version, err := kubernetesOf(flags.kubernetes)
	if err != nil {
		return err
	}
	programs := []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "apiextensions-apiserver"}
	if flags.nodesBy == string(load.Kwok) {
		programs = append(programs, "kwok")
	}
	bin, err := binaries.Find(version, flags.bin, programs...)
	if err != nil {
		return err
	}
	return flags.judged(ctx, streams, ladder, rungs, func(rung recipe.Rung) (*prove.Record, error) {
		return prove.Run(ctx, flags.options(streams, ladder, rung, version, bin))
	})
}

// judged proves rungs one after another, and keeps and prints their records.
func (f *proveFlags) judged(ctx context.Context, streams Streams, ladder *recipe.Ladder, rungs []recipe.Rung, proven func(recipe.Rung) (*prove.Record, error)) error {
	var records []*prove.Record
	passed := true
	for i, rung := range rungs {
		record, err := proven(rung)
		if err != nil {
			return err
		}
		if err := f.keep(record); err != nil {
			return err
		}
		records, passed = append(records, record), passed && record.Pass
		if f.output.isText() {
			if i > 0 {
				fmt.Fprintln(streams.Out)
			}
			predicted, err := f.predicted(ctx, ladder, record)
			if err != nil {
				return err
			}
			recordText(streams, record, predicted)
		}
	}
	if !f.output.isText() {
		if err := f.output.write(streams.Out, oneOrMany(records)); err != nil {
			return err
		}
	}
	if !passed {
		return exit(exitFindings)
	}
	return nil
}

func (f *proveFlags) check() error {
	switch {
	case f.against != "stock" && f.against != "none":
		return fmt.Errorf("--against %s: want stock or none", f.against)
	case !(f.scale > 0):
		return errors.New("--scale: want more than 0")
	case f.seconds < 0:
		return errors.New("--seconds: want more than 0")
	case f.nodesBy != "" && f.nodesBy != string(load.Own) && f.nodesBy != string(load.Kwok):
		return fmt.Errorf("--nodes-by %s: want own or kwok", f.nodesBy)
	}
	return nil
}

// kubernetesOf completes a version; empty is the newest.
func kubernetesOf(text string) (string, error) {
	v := slices.MaxFunc(target.Minors(), func(a, b target.Version) int { return a.Minor - b.Minor })
	if text != "" {
		parsed, err := target.ParseVersion(text)
		if err != nil {
			return "", fmt.Errorf("--kubernetes: %w", err)
		}
		v = parsed
	}
	v, err := target.Resolve(v)
	if err != nil {
		return "", fmt.Errorf("--kubernetes: %w", err)
	}
	return v.String(), nil
}

func (f *proveFlags) options(streams Streams, ladder *recipe.Ladder, rung recipe.Rung, version string, bin binaries.Set) prove.Options {
	o := prove.Options{
		Ladder: ladder, Rung: rung, Kubernetes: version, Bin: bin,
		Scale: f.scale, Seconds: f.seconds, WithoutStock: f.against == "none",
		NodesBy: load.Renewer(f.nodesBy), Dir: f.work, KeepLogs: f.keepLogs, Version: Version, Today: time.Now(),
	}
	if f.quiet {
		return o
	}
	o.Log = streams.Err
	if streams.Progress {
		o.Progress = progressLine(streams.Err)
	}
	return o
}

// progressLine keeps one line of the terminal up to date.
func progressLine(w io.Writer) func(load.Progress) {
	return func(p load.Progress) {
		if p.Step == "done" || p.Total == 0 {
			fmt.Fprint(w, "\r\x1b[K")
			return
		}
		fmt.Fprintf(w, "\r\x1b[K  %s: %s %d of %d", p.Load, p.Step, p.Done, p.Total)
	}
}

// keep writes the record below --evidence. A record of an earlier run is
// replaced: it is about the same rung, and the ladder shows one.
func (f *proveFlags) keep(record *prove.Record) error {
	if f.evidence == "" {
		return nil
	}
	data, err := record.Encode()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.evidence, 0o755); err != nil {
		return fmt.Errorf("write the record: %w", err)
	}
	if err := os.WriteFile(filepath.Join(f.evidence, prove.FileName(record.Rung)), data, 0o644); err != nil {
		return fmt.Errorf("write the record: %w", err)
	}
	return nil
}
