package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
)

// reportFlags are the flags of report besides the inputs.
type reportFlags struct {
	in     inputFlags
	failOn failOnFlag
	out    string
	dir    string
	force  bool
	quiet  bool
}

func newReportCmd(streams Streams, name string) *cobra.Command {
	var flags reportFlags
	cmd := &cobra.Command{
		Use:   "report [PROFILE...] -o FILE",
		Short: "write one page of what explain says, with curves and drawings",
		Long: `report writes one self-contained HTML page for each profile: the pressure on
the three axes, how far each may grow until its next wall on the present layout
and on the recipe's, the ladder with why each rung is in the recipe or not, the
stores and tiers as a drawing, the memory bill of the apiservers, the evidence,
the rollout, the findings, and every figure with its formula, inputs and source.

The page asks nothing of any network and runs no script; it can be mailed,
printed and read on a phone. -o names the file of one profile ("-", the default,
prints it); -d DIR writes NAME.html for each. Nothing is overwritten without
--force. A load that is past the ladder gets its page, and the exit code 3.`,
		Example: examples(name, `
%[1]s report cluster.cue -o report.html
%[1]s report -f clusters.cue -d reports
%[1]s init demo --example platform | %[1]s report -f - -o platform.html
`),
		RunE: func(cmd *cobra.Command, args []string) error {
			flags.in.files = append(flags.in.files, args...)
			return runReport(cmd.Context(), streams, &flags)
		},
	}
	flags.in.register(cmd)
	flags.failOn.register(cmd)
	f := cmd.Flags()
	f.StringVarP(&flags.out, "out", "o", "-", "file to write the page to, or - to print it")
	f.StringVarP(&flags.dir, "dir", "d", "", "directory to write NAME.html of each profile to")
	f.BoolVar(&flags.force, "force", false, "overwrite files that exist")
	f.BoolVarP(&flags.quiet, "quiet", "q", false, "say nothing but errors")
	_ = cmd.MarkFlagFilename("out", "html")
	_ = cmd.MarkFlagDirname("dir")
	cmd.MarkFlagsMutuallyExclusive("out", "dir")
	return cmd
}

func runReport(ctx context.Context, streams Streams, flags *reportFlags) error {
	runs, ladder, err := provenRuns(ctx, flags.in.recipes)
	if err != nil {
		return err
	}
	w := &pageWriter{flags: flags, streams: streams, sources: map[string]string{}}
	var (
		seen []finding.Finding
		past bool
	)
	err = flags.in.each(ctx, streams, "text", func(s *subject) error {
		if first, ok := w.sources[s.profile.Name]; ok {
			return fmt.Errorf("%s and %s are both named %q, so their pages would overwrite each other: rename one",
				displayPath(first), displayPath(s.source), s.profile.Name)
		}
		w.sources[s.profile.Name] = s.source
		page, findings, err := reportPage(s, ladder.Rungs(), runs)
		if err != nil {
			return fmt.Errorf("%s: %w", s.profile.Name, err)
		}
		seen, past = append(seen, findings...), past || s.recipe.PastLadder()
		return w.add(s.profile.Name, page)
	})
	if err != nil {
		return err
	}
	if err := w.write(); err != nil {
		return err
	}
	if past {
		return exit(exitPastLadder)
	}
	return flags.failOn.verdict(seen)
}

// pageWriter keeps pages until all of them are made.
type pageWriter struct {
	flags   *reportFlags
	streams Streams
	sources map[string]string
	pages   []file.File
}

func (w *pageWriter) add(name string, page []byte) error {
	if w.flags.dir == "" && len(w.pages) > 0 {
		return fmt.Errorf("%s is a second profile, and one page holds one: pass -d DIR", name)
	}
	w.pages = append(w.pages, file.File{Path: name + ".html", Data: page})
	return nil
}

// write puts the pages where they were asked for, all or none.
func (w *pageWriter) write() error {
	dir := w.flags.dir
	if dir == "" {
		if w.flags.out == "-" {
			return printFiles(w.streams.Out, w.pages, false)
		}
		dir = filepath.Dir(w.flags.out)
		for i := range w.pages {
			w.pages[i].Path = filepath.Base(w.flags.out)
		}
	}
	if len(w.pages) == 0 {
		return nil
	}
	stage, err := newStage(dir, w.flags.force)
	if err != nil {
		return err
	}
	defer stage.close()
	if err := stage.add(w.pages); err != nil {
		return err
	}
	if err := stage.commit(); err != nil {
		return err
	}
	if !w.flags.quiet {
		for _, p := range slices.Clone(w.pages) {
			fmt.Fprintf(w.streams.Err, "%s: %d kB\n", displayPath(filepath.Join(dir, p.Path)), (len(p.Data)+999)/1000)
		}
	}
	return nil
}
