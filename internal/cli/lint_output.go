package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/lint"
)

// lintOutput is -o with one format more.
type lintOutput struct{ outputFlag }

func (o *lintOutput) register(cmd *cobra.Command) {
	o.outputFlag = "text"
	cmd.Flags().VarP(o, "output", "o", "output format: text, yaml, json or sarif")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "yaml", "json", "sarif"}, cobra.ShellCompDirectiveNoFileComp))
}

// Set takes one of the formats.
func (o *lintOutput) Set(s string) error {
	if s == "sarif" {
		o.outputFlag = outputFlag(s)
		return nil
	}
	if err := o.outputFlag.Set(s); err != nil {
		return fmt.Errorf("unknown format %q: want text, yaml, json or sarif", s)
	}
	return nil
}

// write prints a result.
func (o *lintOutput) write(w io.Writer, r lint.Result) error {
	switch {
	case o.outputFlag == "sarif":
		return lint.SARIF(w, r, Version)
	case !o.isText():
		return o.outputFlag.write(w, r)
	}
	for _, f := range r.Findings {
		fmt.Fprintln(w, findingText(f))
	}
	fmt.Fprintln(w, lintSummary(r))
	return nil
}

// lintSummary counts: "3 files linted, 2 of other kinds: 1 error, 2 warnings; 1 suppressed".
func lintSummary(r lint.Result) string {
	counts := map[finding.Severity]int{}
	for _, f := range r.Findings {
		counts[f.Severity]++
	}
	var parts []string
	for _, s := range []finding.Severity{finding.Error, finding.Warning, finding.Info} {
		if counts[s] > 0 {
			parts = append(parts, counted(counts[s], s.String()))
		}
	}
	text := counted(r.Files, "file") + " linted"
	if r.Skipped > 0 {
		text += fmt.Sprintf(", %d of other kinds", r.Skipped)
	}
	if len(parts) == 0 {
		parts = []string{"no findings"}
	}
	text += ": " + strings.Join(parts, ", ")
	if len(r.Suppressed) > 0 {
		text += fmt.Sprintf("; %d suppressed", len(r.Suppressed))
	}
	return text
}

// counted writes a number of things.
func counted(n int, what string) string {
	if n != 1 && what != "info" {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
