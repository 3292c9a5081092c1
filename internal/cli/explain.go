package cli

import (
	"bufio"
	"context"

	"github.com/spf13/cobra"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/recipe"
)

// explanation is what `explain` says of one profile, for machines.
type explanation struct {
	Profile  *profile.Profile   `json:"profile"`
	Digest   string             `json:"digest"`
	Estimate *estimate.Estimate `json:"estimate"`
	WhatIfs  []estimate.WhatIf  `json:"whatIfs"`
	// Memory is what each process holds, now and with the recipe; nothing for one
	// that changes nothing.
	Memory   []processMemory   `json:"memory,omitempty"`
	Recipe   *recipe.Recipe    `json:"recipe"`
	Findings []finding.Finding `json:"findings"`
}

func newExplainCmd(streams Streams, name string) *cobra.Command {
	var (
		in      inputFlags
		output  outputFlag
		failOn  failOnFlag
		figures bool
	)
	cmd := &cobra.Command{
		Use:   "explain -f FILE",
		Short: "say which axis binds, why, and what to do about it",
		Long: `explain estimates the profile, names the axis that binds and the ceiling that
is nearest, shows what each possible change would do to all three axes, and
the recipe that the ladder offers, with the evidence it rests on.

Every number is an estimate from published figures unless it says otherwise;
--figures prints each with its range, formula, inputs and source.

With -o json or yaml, a profile that cannot be used gives {"findings": […]}.`,
		Example: examples(name, `
%[1]s explain -f cluster.cue
%[1]s explain -f cluster.yaml --figures
%[1]s init demo --example agents | %[1]s explain -f -
%[1]s explain -f cluster.cue -o json | jq '.estimate.binding'
`),
		Args: profilesByFlag,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runExplain(cmd.Context(), streams, &in, output, failOn, figures)
		},
	}
	in.register(cmd)
	output.register(cmd)
	failOn.register(cmd)
	cmd.Flags().BoolVar(&figures, "figures", false, "print every figure with its formula, inputs and source")
	return cmd
}

func runExplain(ctx context.Context, streams Streams, in *inputFlags, output outputFlag, failOn failOnFlag, figures bool) error {
	var (
		all  []explanation
		seen []finding.Finding
		past bool
	)
	err := in.each(ctx, streams, output, func(s *subject) error {
		x := explanation{
			Profile: s.profile, Digest: s.digest, Estimate: s.estimate,
			WhatIfs: estimate.WhatIfs(s.profile, estimate.Stock(s.profile)),
			Recipe:  s.recipe, Findings: s.findings,
		}
		if w, ok := recipeWhatIf(s); ok {
			x.WhatIfs = append(x.WhatIfs, w)
			x.Memory = processMemories(s.estimate, s.recipe.Estimate)
		}
		seen, past = append(seen, s.findings...), past || s.recipe.PastLadder()
		if output.isText() {
			page := bufio.NewWriterSize(streams.Out, 64<<10)
			if len(all) > 0 {
				page.WriteByte('\n')
			}
			paged := streams
			paged.Out = page
			explainText(paged, &x, figures)
			if err := page.Flush(); err != nil {
				return err
			}
			x = explanation{}
		}
		all = append(all, x)
		return nil
	})
	if err != nil {
		return err
	}
	if !output.isText() {
		if err := output.write(streams.Out, oneOrMany(all)); err != nil {
			return err
		}
	}
	if past {
		return exit(exitPastLadder)
	}
	return failOn.verdict(seen)
}

// oneOrMany prints a single result as itself and several as a list.
func oneOrMany[T any](all []T) any {
	if len(all) == 1 {
		return all[0]
	}
	return all
}
