package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubeseams/seams/internal/check"
	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
)

// renderFlags are the flags of render besides the inputs.
type renderFlags struct {
	in         inputFlags
	output     outputFlag
	failOn     failOnFlag
	dir        string
	force      bool
	pastLadder bool
	overlays   []string
	into       string
	quiet      bool
}

func newRenderCmd(streams Streams, name string) *cobra.Command {
	var flags renderFlags
	cmd := &cobra.Command{
		Use:   "render -f FILE -d DIR",
		Short: "render the recipe as checked kubeadm, kOps, static pod or kind configuration",
		Long: `render chooses the recipe for each profile, generates the files of its
platform, has upstream's own code check them, and writes them below DIR (each
profile in a directory of its name when there are several). Without -d, or
with -d -, it prints them. Nothing is written when any file has an error, and
no file is overwritten without --force.

With --into the plan is put into the configuration of a cluster that is there:
what the plan does not own stays as it is. Without -d the merged documents alone
are printed; with it, the ordered rollout and what it needs are written too.

A load that only an open rung would carry exits with 3 and renders nothing;
--past-ladder renders the last rung that is built.`,
		Example: examples(name, `
%[1]s render -f cluster.cue -d out
%[1]s render -f cluster.cue --target kops --cloud gce -d out
%[1]s render -f cluster.cue -d out --overlay site.jsonnet

# merge into the documents that kOps holds, or into kubeadm's configuration
kops get all my.example.com -o yaml | %[1]s render -f cluster.cue --target kops --into - -d out
%[1]s render -f cluster.cue --target kubeadm --into present.yaml > merged.yaml
`),
		Args: profilesByFlag,
		RunE: func(cmd *cobra.Command, _ []string) error { return runRender(cmd.Context(), streams, &flags) },
	}
	flags.in.register(cmd)
	flags.output.register(cmd)
	flags.failOn.register(cmd)
	f := cmd.Flags()
	f.StringVarP(&flags.dir, "dir", "d", "-", "directory to write to, or - to print")
	f.BoolVar(&flags.force, "force", false, "overwrite files that exist")
	f.BoolVar(&flags.pastLadder, "past-ladder", false, "render the last rung that is built when the load is past the ladder")
	f.StringArrayVar(&flags.overlays, "overlay", nil, "jsonnet function from the rendered objects to the objects wanted; repeatable, in order")
	f.StringVar(&flags.into, "into", "", "documents of a cluster that is there to merge into, kOps' or kubeadm's, or - for standard input")
	f.BoolVarP(&flags.quiet, "quiet", "q", false, "say nothing but errors")
	_ = cmd.MarkFlagDirname("dir")
	return cmd
}

func runRender(ctx context.Context, streams Streams, flags *renderFlags) error {
	flags.in.warm, flags.in.rendering = check.Warm, true
	r := &renderer{ctx: ctx, flags: flags, streams: streams, seen: map[string]string{}}
	if err := r.readInto(); err != nil {
		return err
	}
	if flags.dir != "-" {
		stage, err := newStage(flags.dir, flags.force)
		if err != nil {
			return err
		}
		defer stage.close()
		r.stage = stage
	}
	if err := flags.in.each(ctx, streams, flags.output, r.one); err != nil {
		return err
	}
	return r.finish()
}

// renderer takes the profiles as they come. To a directory each is staged at
// once, so that a thousand take no more memory than one.
type renderer struct {
	ctx      context.Context // of the one command the renderer lives for
	flags    *renderFlags
	streams  Streams
	stage    *stage
	into     *into
	seen     map[string]string
	held     []rendered
	findings []finding.Finding
	// blocked are what stands in the way of profiles that are past the ladder: of
	// them nothing is rendered, and nothing keeps the others from being.
	blocked []finding.Finding
	worst   struct {
		seen     bool
		severity finding.Severity
	}
	past bool
}

// one renders one profile.
func (r *renderer) one(s *subject) error {
	if first, ok := r.seen[s.profile.Name]; ok {
		return fmt.Errorf("%s and %s are both named %q, so their files would overwrite each other: rename one",
			displayPath(first), displayPath(s.source), s.profile.Name)
	}
	r.seen[s.profile.Name] = s.source
	if n := len(r.seen); r.streams.Progress && !r.flags.quiet && n%25 == 0 {
		fmt.Fprintf(r.streams.Err, "\r%d profiles rendered", n)
	}
	if s.recipe.PastLadder() && !r.flags.pastLadder {
		r.refuse(s)
		return nil
	}
	if s.recipe.PastLadder() {
		s.findings = accepted(s.findings)
	}
	out, err := r.render(s)
	if err != nil {
		return fmt.Errorf("%s: %w", s.profile.Name, err)
	}
	r.note(out.findingsBelow(r.directory(s)))
	if r.stage == nil || !r.flags.output.isText() {
		r.held = append(r.held, *out)
	}
	if r.stage == nil {
		return nil
	}
	return r.stage.add(out.below(r.directory(s)))
}

// directory is where a profile's files go below --dir: its own directory when
// more than one profile is asked for.
func (r *renderer) directory(s *subject) string {
	if r.flags.in.several {
		return s.profile.Name
	}
	return ""
}

// refuse says that a profile is past the ladder, and which version or platform
// would change that.
func (r *renderer) refuse(s *subject) {
	r.past = true
	blocked := requirements(s.findings)
	r.blocked = append(r.blocked, blocked...)
	for _, c := range s.recipe.Choices {
		if c.PastLadder && slices.Contains(r.flags.in.rungs, c.Rung.ID) {
			fmt.Fprintf(r.streams.Err, "%s: %s was asked for, which nobody has built; nothing rendered; ask for another rung of the %s axis, or pass --past-ladder for the last one that is built\n",
				s.profile.Name, c.Rung.ID, c.Axis)
		} else if c.PastLadder {
			fmt.Fprintf(r.streams.Err, "%s: past the ladder on the %s axis: only %s is left, which nobody has built; nothing rendered; %s, or pass --past-ladder for the last rung that is built\n",
				s.profile.Name, c.Axis, c.Rung.ID, wayOut(c.Axis, blocked))
		}
	}
}

// requirements are the findings about rungs that only a version or a platform stands in the way of.
func requirements(findings []finding.Finding) []finding.Finding {
	var blocked []finding.Finding
	for _, f := range findings {
		if f.Code == "rung-requirement" {
			blocked = append(blocked, f)
		}
	}
	return blocked
}

// accepted makes warnings of what stands in a rung's way, once --past-ladder
// asked for the best that can be had without it.
func accepted(findings []finding.Finding) []finding.Finding {
	all := slices.Clone(findings)
	for i, f := range all {
		if f.Code == "rung-requirement" && f.Severity == finding.Error {
			all[i].Severity = finding.Warning
		}
	}
	return all
}

// wayOut is what to do past the ladder: change what stands in a rung's way
// where something does, else make the load smaller.
func wayOut(axis estimate.Axis, blocked []finding.Finding) string {
	for _, f := range blocked {
		if strings.HasPrefix(f.Path, string(axis)+"/") {
			return "change the version or the platform that " + f.Path + " needs"
		}
	}
	return "split the cluster or lower the load"
}

// finish prints the talk, then the product or its place, and gives the exit.
func (r *renderer) finish() error {
	if r.streams.Progress && !r.flags.quiet && len(r.seen) >= 25 {
		fmt.Fprint(r.streams.Err, "\r\x1b[K")
	}
	printFindings(r.streams, slices.Concat(r.blocked, r.findings))
	if r.past && len(r.seen) == 1 {
		return exit(exitPastLadder)
	}
	if finding.AtLeast(r.findings, finding.Error) && !r.flags.failOn.never {
		fmt.Fprintln(r.streams.Err, "nothing written: the findings above have errors")
		return exit(exitFindings)
	}
	if r.stage != nil && len(r.stage.paths) > 0 {
		if err := r.commit(); err != nil {
			return err
		}
	}
	if err := r.print(); err != nil {
		return err
	}
	if r.past {
		return exit(exitPastLadder)
	}
	if r.worst.seen {
		return r.flags.failOn.verdict([]finding.Finding{{Severity: r.worst.severity}})
	}
	return nil
}

// note keeps the findings that will be printed, and of the others only how
// grave they are: a fleet's remarks would take more memory than its profiles.
func (r *renderer) note(findings []finding.Finding) {
	for _, f := range findings {
		r.worst.seen, r.worst.severity = true, max(r.worst.severity, f.Severity)
		if f.Severity == finding.Error || !r.flags.quiet {
			r.findings = append(r.findings, f)
		}
	}
}

func (r *renderer) commit() error {
	if err := r.stage.commit(); err != nil {
		return err
	}
	for _, path := range staleFiles(r.flags.dir, r.stage.paths) {
		fmt.Fprintf(r.streams.Err, "%s: left from an earlier render and not part of this one; remove it where it was installed\n",
			displayPath(filepath.Join(r.flags.dir, path)))
	}
	if !r.flags.quiet && r.flags.output.isText() {
		fmt.Fprintf(r.streams.Err, "%d files written below %s; begin with rollout.md\n", len(r.stage.paths), displayPath(r.flags.dir))
	}
	return nil
}

// print writes what was held back for standard output.
func (r *renderer) print() error {
	switch {
	case !r.flags.output.isText():
		return r.flags.output.write(r.streams.Out, oneOrMany(r.held))
	case r.stage != nil:
		return nil
	}
	var files []file.File
	for _, out := range r.held {
		files = append(files, out.below("")...)
	}
	if r.into == nil {
		return printFiles(r.streams.Out, files, true)
	}
	if !r.flags.quiet && len(files) > 0 {
		fmt.Fprintln(r.streams.Err, "printed: the merged documents alone; pass -d DIR for the ordered rollout too, without which they are not safe to apply")
	}
	return printFiles(r.streams.Out, slices.DeleteFunc(files, func(f file.File) bool { return !isMerged(f.Path) }), false)
}
