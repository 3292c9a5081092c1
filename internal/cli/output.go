package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/internal/finding"
)

// outputFlag is the shared -o text|yaml|json.
type outputFlag string

func (o *outputFlag) register(cmd *cobra.Command) {
	*o = "text"
	cmd.Flags().VarP(o, "output", "o", "output format: text, yaml or json")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "yaml", "json"}, cobra.ShellCompDirectiveNoFileComp))
}

func (o *outputFlag) String() string { return string(*o) }

// Type names the value in help texts.
func (o *outputFlag) Type() string { return "format" }

// Set takes one of the formats.
func (o *outputFlag) Set(s string) error {
	switch s {
	case "text", "yaml", "json":
		*o = outputFlag(s)
		return nil
	}
	return fmt.Errorf("unknown format %q: want text, yaml or json", s)
}

// isText reports whether people read the output.
func (o *outputFlag) isText() bool { return *o == "text" }

// write prints v for machines.
func (o *outputFlag) write(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("encode output: %w", err)
	}
	data := b.Bytes()
	if *o == "yaml" {
		var err error
		if data, err = yaml.JSONToYAML(data); err != nil {
			return fmt.Errorf("encode output: %w", err)
		}
	}
	_, err := w.Write(data)
	return err
}

// failOnFlag is the severity from which a command exits with 1.
type failOnFlag struct {
	severity finding.Severity
	never    bool
}

func (f *failOnFlag) register(cmd *cobra.Command) {
	f.severity = finding.Error
	cmd.Flags().Var(f, "fail-on", "exit with 1 on findings from this severity on: info, warning, error or never")
	_ = cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions([]string{"info", "warning", "error", "never"}, cobra.ShellCompDirectiveNoFileComp))
}

func (f *failOnFlag) String() string {
	if f.never {
		return "never"
	}
	return f.severity.String()
}

// Type names the value in help texts.
func (f *failOnFlag) Type() string { return "severity" }

// Set takes a severity or never.
func (f *failOnFlag) Set(s string) error {
	if f.never = s == "never"; f.never {
		return nil
	}
	if err := f.severity.UnmarshalText([]byte(s)); err != nil {
		return fmt.Errorf("%w, or never", err)
	}
	return nil
}

// verdict turns findings into the command's exit.
func (f *failOnFlag) verdict(findings []finding.Finding) error {
	if !f.never && finding.AtLeast(findings, f.severity) {
		return exit(exitFindings)
	}
	return nil
}

// printFindings writes findings to the talk, a line each, with their fix below.
func printFindings(s Streams, findings []finding.Finding) {
	finding.Sort(findings)
	for _, f := range findings {
		fmt.Fprintln(s.Err, findingText(f))
	}
}

// findingText is a finding as people read it: the place and message, then the fix and reference.
func findingText(f finding.Finding) string {
	fix, ref := f.Fix, f.Ref
	f.Fix = ""
	var b strings.Builder
	b.WriteString(f.String())
	if fix != "" {
		b.WriteString("\n    fix: " + fix)
	}
	if ref != "" {
		b.WriteString("\n    see: " + ref)
	}
	return b.String()
}
