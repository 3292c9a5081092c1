package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubeseams/seams/generators/kops"
	"github.com/kubeseams/seams/internal/check"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/yamltext"
)

// kopsFlags are the flags of kops-seams besides the inputs.
type kopsFlags struct {
	in         inputFlags
	failOn     failOnFlag
	format     string
	additional string
	force      bool
	pastLadder bool
	quiet      bool
}

// NewKopsCmd builds the filter of kOps' documents.
func NewKopsCmd(streams Streams) *cobra.Command {
	var flags kopsFlags
	cmd := &cobra.Command{
		Use:   "kops-seams -f PROFILE [flags] [FILE]",
		Short: "put a recipe into the documents that kOps prints",
		Long: `kops-seams reads what "kops get all NAME -o yaml" prints, from FILE or standard
input, chooses the recipe for the profile, and prints the documents with the
recipe in them. Every field, comment and line that the recipe does not own
stays as it is: with nothing to change the output is the input, byte for byte.

On standard error it says what it changed, and which KOPS_FEATURE_FLAGS kOps
needs. "kops replace" takes no additional objects: --additional FILE has those
of the input and of the recipe in a second stream, which may be /dev/fd/3.

--format set prints a "kops edit cluster" command with --set for what kOps sets
that way, and as comments what it does not.

Exit codes: 0 clean; 1 findings at or above --fail-on, after which nothing is
printed when one is an error, or something that --set cannot; 2 usage or tool
failure; 3 past the ladder.`,
		Example: examples("kops-seams", `
kops get all my.example.com -o yaml | %[1]s -f cluster.cue > out.yaml
kops replace -f out.yaml && kops update cluster my.example.com

# additional objects in a stream of their own
kops get all my.example.com -o yaml | %[1]s -f cluster.cue --additional objects.yaml > out.yaml

# a command in place of documents
kops get all my.example.com -o yaml | %[1]s -f cluster.cue --format set
`),
		Args:          cobra.MaximumNArgs(1),
		Version:       Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "-"
			if len(args) == 1 {
				name = args[0]
			}
			return runKops(cmd.Context(), streams, &flags, name)
		},
	}
	cmd.SetVersionTemplate("kops-seams {{.Version}}\n")
	cmd.SetIn(streams.In)
	cmd.SetOut(streams.Out)
	cmd.SetErr(streams.Err)
	flags.register(cmd)
	return cmd
}

func (k *kopsFlags) register(cmd *cobra.Command) {
	k.in.registerFiles(cmd)
	_ = cmd.Flags().MarkHidden("target") // it is kops
	k.failOn.register(cmd)
	f := cmd.Flags()
	f.StringVar(&k.format, "format", "documents", "what to print: documents, or set for a command with --set")
	f.StringVar(&k.additional, "additional", "", "file for the additional objects, or a descriptor such as /dev/fd/3")
	f.BoolVar(&k.force, "force", false, "overwrite the file of --additional")
	f.BoolVar(&k.pastLadder, "past-ladder", false, "use the last rung that is built when the load is past the ladder")
	f.BoolVarP(&k.quiet, "quiet", "q", false, "say nothing but errors and the feature flags")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"documents", "set"}, cobra.ShellCompDirectiveNoFileComp))
}

// usage says what is wrong with the flags before anything is read.
func (k *kopsFlags) usage() error {
	switch {
	case k.format != "documents" && k.format != "set":
		return fmt.Errorf("unknown format %q: want documents or set", k.format)
	case len(k.in.files) == 0:
		return errors.New("no profile given: pass -f FILE")
	case k.format == "set" && k.additional != "":
		return errors.New("--format set prints no documents, so there is nothing for --additional")
	}
	return nil
}

func runKops(ctx context.Context, streams Streams, flags *kopsFlags, name string) error {
	if err := flags.usage(); err != nil {
		return err
	}
	if flags.additional != "" && !flags.force {
		if info, err := os.Stat(flags.additional); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			return fmt.Errorf("%s exists: pass --force to overwrite it", flags.additional)
		}
	}
	flags.in.platform, flags.in.warm, flags.in.rendering = "kops", check.Warm, true
	r := &renderer{ctx: ctx, streams: streams, seen: map[string]string{}, flags: &renderFlags{
		in: flags.in, output: "text", into: name, quiet: flags.quiet, failOn: flags.failOn,
	}}
	if err := r.readInto(); err != nil {
		return err
	}
	k := &kopsFilter{flags: flags, streams: streams, renderer: r}
	if err := flags.in.each(ctx, streams, "text", k.one); err != nil {
		return err
	}
	return k.finish()
}

// kopsFilter is one run of the filter.
type kopsFilter struct {
	flags    *kopsFlags
	streams  Streams
	renderer *renderer
	subject  *subject
	out      *rendered
}

func (k *kopsFilter) one(s *subject) error {
	k.renderer.flags.in.several = k.flags.in.several
	if s.recipe.PastLadder() {
		if !k.flags.pastLadder {
			k.renderer.refuse(s)
			return nil
		}
		s.findings = accepted(s.findings)
	}
	out, err := k.renderer.render(s)
	if err != nil {
		return err
	}
	k.renderer.note(out.Findings)
	k.subject, k.out = s, out
	return nil
}

// finish prints the talk, the documents or the command, and gives the exit.
func (k *kopsFilter) finish() error {
	findings := slices.Concat(k.renderer.blocked, k.renderer.findings)
	printFindings(k.streams, findings)
	switch {
	case k.renderer.past:
		return exit(exitPastLadder)
	case finding.AtLeast(findings, finding.Error) || k.out.Plan == nil:
		fmt.Fprintln(k.streams.Err, "nothing printed: the findings above have errors")
		return exit(exitFindings)
	}
	if flags := kops.FeatureFlags(k.out.Findings); len(flags) > 0 {
		fmt.Fprintf(k.streams.Err, "KOPS_FEATURE_FLAGS=%s\n", strings.Join(flags, ","))
	}
	print := k.documents
	if k.flags.format == "set" {
		print = k.set
	}
	if err := print(); err != nil {
		return err
	}
	if k.renderer.worst.seen {
		return k.flags.failOn.verdict([]finding.Finding{{Severity: k.renderer.worst.severity}})
	}
	return nil
}

// merged are the documents with the recipe in them.
func (k *kopsFilter) merged() []byte {
	i := slices.IndexFunc(k.out.Files, func(f renderedFile) bool { return f.Path == mergedKops })
	return []byte(k.out.Files[i].Data)
}

// documents prints the documents, and the additional objects where they were asked for.
func (k *kopsFilter) documents() error {
	stream := k.merged()
	rest, other := apart(stream)
	own := k.objects()
	if k.flags.additional == "" {
		if len(other) > 0 {
			k.talk("kops replace takes none of the input's additional objects (%s): pass --additional FILE to have them in a stream of their own", listSome(kindsOf(other), 3))
		}
		if len(own) > 0 {
			k.talk("the recipe has %d additional objects (%s), which are not printed: pass --additional FILE", len(own), listSome(kindsOf(own), 3))
		}
		_, err := k.streams.Out.Write(stream)
		return err
	}
	if err := k.writeAdditional(yamltext.Join(slices.Concat(other, own))); err != nil {
		return err
	}
	_, err := k.streams.Out.Write(rest)
	return err
}

func (k *kopsFilter) talk(format string, args ...any) {
	if !k.flags.quiet {
		fmt.Fprintf(k.streams.Err, format+"\n", args...)
	}
}

// writeAdditional writes the second stream, an empty one too, so that whoever
// reads it finds it.
func (k *kopsFilter) writeAdditional(data []byte) error {
	f, err := os.OpenFile(k.flags.additional, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		var bad *fs.PathError
		if errors.As(err, &bad) {
			err = bad.Err
		}
		return fmt.Errorf("write the additional objects to %s: %w", k.flags.additional, err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write the additional objects to %s: %w", k.flags.additional, err)
	}
	return nil
}
