package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/recipe"
)

func newVetCmd(streams Streams, name string) *cobra.Command {
	var (
		in     inputFlags
		output outputFlag
		failOn failOnFlag
	)
	cmd := &cobra.Command{
		Use:   "vet [-f FILE] [--recipes DIR]",
		Short: "validate profiles and recipes without rendering",
		Long: `vet loads profiles and rungs, and tells every problem at once with file, line
and field. It also runs the estimate, whose advice that is not a rung (a slow
disk, a runaway controller) it reports as findings, and the plan: what only
rendered files need, such as hosts, is a warning.`,
		Example: examples(name, `
%[1]s vet -f cluster.cue
%[1]s vet --recipes ./my-rungs
%[1]s vet -f cluster.yaml --fail-on warning -o json
`),
		Args: profilesByFlag,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runVet(cmd.Context(), streams, &in, output, failOn)
		},
	}
	in.register(cmd)
	output.register(cmd)
	failOn.register(cmd)
	return cmd
}

func runVet(ctx context.Context, streams Streams, in *inputFlags, output outputFlag, failOn failOnFlag) error {
	var (
		all   = []finding.Finding{}
		names []string
		rungs int
	)
	if len(in.files) == 0 {
		if len(in.recipes) == 0 {
			return fmt.Errorf("nothing to vet: pass -f FILE for a profile or --recipes DIR for rungs")
		}
		ladder, findings, err := recipe.Load(recipe.Options{Dirs: in.recipes})
		if err != nil {
			return err
		}
		all = append(all, findings...)
		if ladder != nil {
			rungs = len(ladder.Rungs())
		}
	} else {
		sources := map[string]string{} // by name
		problems, err := in.walk(ctx, streams, func(s *subject) error {
			if first, ok := sources[s.profile.Name]; ok {
				all = append(all, sameName(s, first))
			}
			sources[s.profile.Name] = s.source
			names = append(names, s.profile.Name)
			planned, err := toPlan(s)
			all = slices.Concat(all, s.findings, planned)
			return err
		})
		if err != nil {
			return err
		}
		all = append(all, problems...)
	}
	finding.Sort(all)
	all = slices.CompactFunc(all, func(a, b finding.Finding) bool { return a == b })
	if !output.isText() {
		if err := output.write(streams.Out, all); err != nil {
			return err
		}
		return failOn.verdict(all)
	}
	for _, f := range all {
		fmt.Fprintln(streams.Out, findingText(f))
	}
	if len(all) == 0 {
		if rungs > 0 {
			fmt.Fprintf(streams.Out, "%d rungs: no findings\n", rungs)
		} else {
			fmt.Fprintf(streams.Out, "%s: no findings\n", listSome(names, 5))
		}
	}
	return failOn.verdict(all)
}

// toPlan is what the plan of a profile has to say. What stands in the way of
// rendering is a warning here, and then alone: the rest follows from it.
func toPlan(s *subject) ([]finding.Finding, error) {
	if s.recipe.PastLadder() {
		return nil, nil // there is nothing to plan
	}
	_, findings, err := plan.Make(s.profile, s.digest, s.recipe, s.target)
	if finding.AtLeast(findings, finding.Error) {
		findings = slices.DeleteFunc(findings, func(f finding.Finding) bool { return f.Severity != finding.Error })
		for i := range findings {
			findings[i].Severity = finding.Warning
		}
	}
	return s.placed(findings), err
}

// sameName tells of a profile with the name of another: rendered together, their
// files would overwrite each other.
func sameName(s *subject, other string) finding.Finding {
	f := finding.Finding{
		Code: "profile-name-twice", Severity: finding.Warning, Path: "name",
		Message: fmt.Sprintf("another profile is named %q too (%s), so that they cannot be rendered together", s.profile.Name, displayPath(other)),
		Fix:     "rename one of them",
	}
	f.File, f.Line = s.place(f.Path)
	return f
}
