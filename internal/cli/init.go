package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
	"github.com/spf13/cobra"

	"github.com/kubeseams/seams"
	"github.com/kubeseams/seams/internal/pattern"
)

// starter is the example that init copies when none is named.
const starter = "starter"

func newInitCmd(streams Streams, name string) *cobra.Command {
	var example, write string
	cmd := &cobra.Command{
		Use:   "init [NAME]",
		Short: "write a profile to start from",
		Long: `init prints a commented profile in CUE: the smallest useful one, or one of the
examples. Change the numbers to yours and run explain.`,
		Example: examples(name, `
%[1]s init my-cluster > my-cluster.cue
%[1]s init --example agents my-agents --write my-agents.cue
`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := exampleProfile(example, args)
			if err != nil {
				return err
			}
			if write == "" {
				_, err := streams.Out.Write(text)
				return err
			}
			return createFile(write, text)
		},
	}
	cmd.Flags().StringVar(&example, "example", starter, "example to start from: "+strings.Join(exampleNames(), ", "))
	cmd.Flags().StringVarP(&write, "write", "w", "", "file to write, which must not exist yet (default: print)")
	_ = cmd.RegisterFlagCompletionFunc("example", cobra.FixedCompletions(exampleNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

const exampleDir = "recipes/examples"

// exampleNames lists the embedded example profiles, the starter first.
func exampleNames() []string {
	entries, err := fs.ReadDir(seams.CUE, exampleDir)
	if err != nil {
		return nil
	}
	names := []string{starter}
	for _, e := range entries {
		if n, ok := strings.CutSuffix(e.Name(), ".cue"); ok && n != starter {
			names = append(names, n)
		}
	}
	return names
}

var (
	packageName = pattern.Of(`(?m)^package \w+$`)
	profileHead = pattern.Of(`(?m)^("[^"]+"|\w+): schemas\.#Profile`)
	nameField   = pattern.Of(`(?m)^(\s*name:\s*)"[^"]*"`)
	profileName = pattern.Of(`^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$`)
)

// exampleProfile reads an example and gives it the name asked for. The profile's
// field has the name too, and all have one package, so that several of them in
// one directory are one package with several profiles.
func exampleProfile(example string, args []string) ([]byte, error) {
	if !slices.Contains(exampleNames(), example) {
		return nil, fmt.Errorf("no example %q: want one of %s", example, strings.Join(exampleNames(), ", "))
	}
	text, err := fs.ReadFile(seams.CUE, path.Join(exampleDir, example+".cue"))
	if err != nil {
		return nil, fmt.Errorf("read the example: %w", err)
	}
	name := example
	if len(args) > 0 {
		name = args[0]
	}
	if !profileName().MatchString(name) {
		return nil, fmt.Errorf("name %q: want lower-case letters, digits, '-' and '.', at most 63 characters", name)
	}
	text = packageName().ReplaceAllLiteral(text, []byte("package clusters"))
	label := name
	if ast.StringLabelNeedsQuoting(name) {
		label = literal.String.Quote(name)
	}
	text = profileHead().ReplaceAllLiteral(text, []byte(label+": schemas.#Profile"))
	at := nameField().FindSubmatchIndex(text)
	if at == nil {
		return nil, fmt.Errorf("example %s has no name to replace", example)
	}
	return slices.Concat(text[:at[3]], []byte(literal.String.Quote(name)), text[at[1]:]), nil
}

// createFile writes a file that must not exist yet.
func createFile(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already: choose another name", path)
	}
	if err != nil {
		return fmt.Errorf("write the profile: %w", err)
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		os.Remove(path)
		return fmt.Errorf("write the profile: %w", err)
	}
	return nil
}
