package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubeseams/seams/internal/check"
	"github.com/kubeseams/seams/internal/diff"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

// diffFlags are the flags of diff besides the inputs.
type diffFlags struct {
	in         inputFlags
	output     outputFlag
	unified    bool
	pastLadder bool
	overlays   []string
	quiet      bool
}

func newDiffCmd(streams Streams, name string) *cobra.Command {
	var flags diffFlags
	cmd := &cobra.Command{
		Use:   "diff [flags] PROFILE EXISTING",
		Short: "what would change between what runs today and the recipe",
		Long: `diff chooses the recipe for the profile, puts it into what runs today as
"render --into" does, and shows what would change: field by field and flag by
flag, with the old value, the new one and the rung that asks for it; then the
rollout in its order, and its hazards. What the recipe does not own is not
compared. Nothing is written.

EXISTING is a file, a directory that is searched to its bottom, or - for
standard input: kubeadm's ClusterConfiguration and KubeletConfiguration or the
ConfigMaps kubeadm-config and kubelet-config that hold them, static pod
manifests and patches, or what "kops get all -o yaml" prints. Manifests of
several hosts stand in directories of the hosts' names.

Exit codes: 0 nothing to change, 1 something to change, 2 usage or tool failure,
or an error among the findings, so that the comparison is not whole, 3 past the
ladder.`,
		Example: examples(name, `
# a kubeadm cluster
kubectl -n kube-system get configmap kubeadm-config kubelet-config -o yaml > present.yaml
%[1]s diff cluster.cue present.yaml
%[1]s diff cluster.cue /etc/kubernetes

# a kOps cluster, as a patch, and for machines
kops get all my.example.com -o yaml | %[1]s diff --target kops cluster.cue - --unified
%[1]s diff --target kops cluster.cue before.yaml -o json | jq '.documents[].patch'
`),
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			existing, err := flags.arguments(args)
			if err != nil {
				return err
			}
			return runDiff(cmd.Context(), streams, &flags, existing)
		},
	}
	flags.in.register(cmd)
	flags.output.register(cmd)
	f := cmd.Flags()
	f.BoolVar(&flags.unified, "unified", false, "print a unified text diff, for patch -p0 in the directory EXISTING or that of the file, in place of the list of changes")
	f.BoolVar(&flags.pastLadder, "past-ladder", false, "compare with the last rung that is built when the load is past the ladder")
	f.StringArrayVar(&flags.overlays, "overlay", nil, "jsonnet function from the rendered objects to the objects wanted; repeatable, in order")
	f.BoolVarP(&flags.quiet, "quiet", "q", false, "say nothing but the changes and errors")
	return cmd
}

// arguments gives EXISTING; the profile is the first argument or -f's.
func (d *diffFlags) arguments(args []string) (existing string, err error) {
	switch {
	case len(args) == 2 && len(d.in.files) == 0:
		d.in.files = args[:1]
	case len(args) != 1 || len(d.in.files) == 0:
		return "", errors.New("want a profile and what runs today: seams diff PROFILE EXISTING")
	}
	existing = args[len(args)-1]
	switch {
	case existing == "-" && slices.Contains(d.in.files, "-"):
		return "", errors.New("the profile and what runs today both read standard input: give one of them a file")
	case d.unified && !d.output.isText():
		return "", errors.New("--unified is text: leave out -o, whose documents have a JSON patch each")
	}
	return existing, nil
}

func runDiff(ctx context.Context, streams Streams, flags *diffFlags, existing string) error {
	files, err := readExisting(streams.In, existing)
	if err != nil {
		return err
	}
	read, err := diff.Read(files)
	if err != nil {
		return err
	}
	flags.in.warm, flags.in.rendering = check.Warm, true
	d := &differ{ctx: ctx, streams: streams, flags: flags, files: files, existing: read, name: displayPath(entryName(existing)), given: existing}
	if err := flags.in.each(ctx, streams, flags.output, d.one); err != nil {
		return err
	}
	return d.finish()
}

// differ compares what runs with one profile's recipe.
type differ struct {
	ctx     context.Context // of the one command
	streams Streams
	flags   *diffFlags
	// given is the argument that name is made of.
	given    string
	name     string
	files    []file.File
	existing *diff.Existing
	renderer *renderer

	result   *diff.Diff
	findings []finding.Finding
}

func (d *differ) one(s *subject) error {
	if d.flags.in.several {
		return errors.New("diff compares one cluster with one profile: choose one with -e")
	}
	if err := d.fits(s.target.Platform); err != nil {
		return err
	}
	d.renderer = &renderer{
		ctx: d.ctx, streams: d.streams,
		flags: &renderFlags{in: d.flags.in, overlays: d.flags.overlays, quiet: d.flags.quiet, output: d.flags.output},
	}
	if s.recipe.PastLadder() {
		if !d.flags.pastLadder {
			d.renderer.refuse(s)
			return nil
		}
		s.findings = accepted(s.findings)
	}
	stream, err := d.existing.Stream(s.target.Platform == target.Kops)
	if err != nil {
		return err
	}
	if stream != nil && s.target.Platform != target.StaticPod {
		d.renderer.into = &into{name: d.name, data: stream}
	}
	out, err := d.renderer.render(s)
	if err != nil {
		return err
	}
	d.findings = out.Findings
	if out.Plan == nil {
		return nil
	}
	return d.compare(s, out)
}

// fits sees that what runs is of the profile's platform.
func (d *differ) fits(p target.Platform) error {
	kops, hosts := d.existing.HasKops(), d.existing.HasHosts()
	switch {
	case p == target.Kind:
		return errors.New("a kind cluster is made anew and not changed: pass --target kubeadm, kops or staticpod")
	case p == target.Kops && !kops && hosts:
		return fmt.Errorf("%s is of a cluster that kubeadm or static pods make, and the profile is for kOps: pass --target kubeadm", d.name)
	case p == target.Kops && !kops:
		return fmt.Errorf("%s has no Cluster of kOps: give what \"kops get all -o yaml\" prints", d.name)
	case p != target.Kops && kops && !hosts:
		return fmt.Errorf("%s has documents of kOps, and the profile is for %s: pass --target kops", d.name, p)
	case p != target.Kops && !hosts:
		return fmt.Errorf("%s has no ClusterConfiguration and no static pod of the control plane to compare with", d.name)
	}
	return nil
}

// compare holds the merged and rendered files against those that run.
func (d *differ) compare(s *subject, out *rendered) error {
	in := diff.Input{Existing: d.existing, Plan: out.Plan, Recipe: s.recipe}
	for _, f := range out.below("") {
		if d.renderer.into != nil && isMerged(f.Path) && f.Path != additionalKops {
			in.Before, in.Merged = d.renderer.into.data, f.Data
			continue
		}
		in.Rendered = append(in.Rendered, f)
	}
	if into := d.renderer.into; into != nil && into.present != nil {
		in.Before = into.present.Documents()
	}
	var err error
	if d.result, err = diff.Compare(in); err != nil {
		return err
	}
	d.findings = append(d.findings, d.result.Findings...)
	return nil
}

// asChanges are the findings of a merge that the list of changes says anew, and better.
var asChanges = []string{"kops-changed", "kubeadm-changed", "kubeadm-replaced"}

// finish prints and gives the exit.
func (d *differ) finish() error {
	var findings []finding.Finding
	for _, f := range d.findings {
		if f.Severity != finding.Error && (slices.Contains(asChanges, f.Code) || d.flags.quiet) {
			continue
		}
		findings = append(findings, f)
	}
	if !d.flags.output.isText() {
		finding.Sort(findings)
		if err := d.write(findings); err != nil {
			return err
		}
	} else {
		if d.result != nil {
			d.print()
		}
		printFindings(d.streams, findings)
	}
	switch {
	case d.result == nil && d.renderer.past:
		return exit(exitPastLadder)
	case finding.AtLeast(findings, finding.Error):
		if d.flags.output.isText() {
			fmt.Fprintln(d.streams.Err, "the comparison is not whole: the findings above have errors")
		}
		return exit(exitFailure)
	case d.result.Changed:
		return exit(exitFindings)
	}
	return nil
}

// write prints for machines.
func (d *differ) write(findings []finding.Finding) error {
	if d.result == nil {
		if findings == nil {
			findings = d.renderer.blocked
		}
		return d.flags.output.write(d.streams.Out, problemsOnly{findings})
	}
	d.result.Findings = findings
	if findings == nil {
		d.result.Findings = []finding.Finding{}
	}
	return d.flags.output.write(d.streams.Out, d.result)
}

// unified writes the change as a patch, whose files are called by their paths
// from what was given on.
func (d *differ) unified() {
	text, aside := d.result.Unified(d.files, d.below)
	for line := range strings.Lines(string(text)) {
		fmt.Fprint(d.streams.Out, paintLine(d.streams, line))
	}
	if len(aside) > 0 && !d.flags.quiet {
		fmt.Fprintf(d.streams.Err, "patch cannot apply what is the text of a field: %s\n", listSome(aside, 3))
	}
}

// below is a path from the directory that was given on, or from that of the file;
// of what came by standard input it stays as it is.
func (d *differ) below(name string) string {
	root, err := filepath.Abs(d.given)
	if err != nil || d.given == "-" {
		return name
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		root = filepath.Dir(root)
	}
	whole, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	rel, err := filepath.Rel(root, whole)
	if err != nil || !filepath.IsLocal(rel) {
		return name
	}
	return filepath.ToSlash(rel)
}

// print writes the readable form.
func (d *differ) print() {
	if d.flags.unified {
		d.unified()
		return
	}
	(&diffText{d.streams, d.result}).print()
}
