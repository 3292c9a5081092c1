package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// NewRootCmd builds the command tree; name is what the user types.
func NewRootCmd(streams Streams, name string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "seams",
		Short: "the assembly manual for large Kubernetes control planes",
		Long: `seams reads a profile of a cluster's load on three independent axes (nodes,
churn, state), says which axis binds, chooses a recipe for it, and renders the
recipe as kubeadm, kOps, static pod or kind configuration.

  profile -> estimate -> recipe -> plan -> generators -> files -> check

Exit codes: 0 clean, 1 findings at or above --fail-on, 2 usage, load or tool
failure, 3 past the ladder (only a rung that nobody has built is left).`,
		Example: examples(name, `
# write a profile to start from, and see what it means
%[1]s init my-cluster > my-cluster.cue
%[1]s explain -f my-cluster.cue

# render it
%[1]s render -f my-cluster.cue -d out
`),
		Version:           Version,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
	}
	if name != "seams" {
		cmd.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: name}
	}
	cmd.SetVersionTemplate("seams {{.Version}}\n")
	cmd.SetIn(streams.In)
	cmd.SetOut(streams.Out)
	cmd.SetErr(streams.Err)
	cmd.AddCommand(
		newInitCmd(streams, name),
		newExplainCmd(streams, name),
		newRenderCmd(streams, name),
		newReportCmd(streams, name),
		newDiffCmd(streams, name),
		newMeasureCmd(streams, name),
		newLintCmd(streams, name),
		newLadderCmd(streams, name),
		newProveCmd(streams, name),
		newLoadCmd(),
		newTierCmd(streams, name),
		newVetCmd(streams, name),
		newVersionCmd(streams, name),
	)
	cmd.InitDefaultCompletionCmd()
	for _, c := range cmd.Commands() {
		if c.HasSubCommands() && !c.Runnable() {
			c.RunE = wantsCommand
		}
	}
	return cmd
}

// wantsCommand is run for a command that only has others below it. Cobra's own
// way with a word that is none of them is to print the help and succeed, which
// `completion tcsh > file` would take for the completion.
func wantsCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return fmt.Errorf("unknown command %q for %q: want %s", args[0], cmd.CommandPath(), strings.Join(names, ", "))
}

// examples puts the typed name into an example text and indents it as cobra prints it.
func examples(name, text string) string {
	text = strings.TrimSpace(fmt.Sprintf(text, name))
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}
