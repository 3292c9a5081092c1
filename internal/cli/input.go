package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/recipe"
)

// inputFlags say which profiles to read, what to render them for and which
// ladder to use; explain, render and vet share them.
type inputFlags struct {
	files   []string
	format  string
	pick    string
	extStr  []string
	extCode []string
	tlaStr  []string
	tlaCode []string
	jpath   []string

	recipes []string
	rungs   []string

	platform    string
	kubernetes  string
	kopsVersion string
	cloud       string

	// rendering is set by the command that renders: what files need and an
	// estimate does not is then an error.
	rendering bool
	// several is set once more than one profile is asked for.
	several bool
	// warm, where a command has one, is done while the first profile is read.
	warm func()
}

func (in *inputFlags) register(cmd *cobra.Command) {
	in.registerFiles(cmd)
	cmd.Flags().StringVar(&in.format, "format", "", "format of standard input: cue, yaml, json or jsonnet (default: told by its content)")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"cue", "yaml", "json", "jsonnet"}, cobra.ShellCompDirectiveNoFileComp))
}

// registerFiles is register for a command that reads no profile from standard input.
func (in *inputFlags) registerFiles(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVarP(&in.files, "file", "f", nil, "profile to read: .cue, .yaml, .json, .jsonnet, a CUE package directory, or - for standard input; repeatable")
	f.StringVarP(&in.pick, "expression", "e", "", "path of the profile within the file, such as clusters.east")
	f.StringArrayVar(&in.extStr, "ext-str", nil, "jsonnet external variable NAME=TEXT; repeatable")
	f.StringArrayVar(&in.extCode, "ext-code", nil, "jsonnet external variable NAME=CODE; repeatable")
	f.StringArrayVar(&in.tlaStr, "tla-str", nil, "jsonnet top-level argument NAME=TEXT; repeatable")
	f.StringArrayVar(&in.tlaCode, "tla-code", nil, "jsonnet top-level argument NAME=CODE; repeatable")
	f.StringArrayVarP(&in.jpath, "jpath", "J", nil, "further directory that jsonnet may import from; repeatable")
	f.StringArrayVar(&in.recipes, "recipes", nil, "directory of further rungs in CUE; repeatable")
	f.StringArrayVar(&in.rungs, "rung", nil, "use this rung on its axis, as axis/name, whatever the estimate says; repeatable")
	f.StringVar(&in.platform, "target", "", "platform in place of the profile's: kubeadm, kops, kind or staticpod")
	f.StringVar(&in.kubernetes, "kubernetes", "", "Kubernetes version in place of the profile's")
	f.StringVar(&in.kopsVersion, "kops-version", "", "kOps version in place of the profile's")
	f.StringVar(&in.cloud, "cloud", "", "kOps cloud in place of the profile's")
	_ = cmd.RegisterFlagCompletionFunc("target", cobra.FixedCompletions([]string{"kubeadm", "kops", "kind", "staticpod"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("rung", completeRungs)
	_ = cmd.RegisterFlagCompletionFunc("file", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"cue", "yaml", "yml", "json", "jsonnet"}, cobra.ShellCompDirectiveFilterFileExt
	})
}

// profilesByFlag refuses arguments: a file that stands alone was meant for -f.
func profilesByFlag(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("unexpected argument %q: profiles are given by flag, %s -f %s", args[0], cmd.CommandPath(), args[0])
}

// each takes the profiles one at a time through estimate and recipe and hands
// each on, so that memory does not grow with their number. Once one has an
// error no more are handed on, but the rest are still loaded, so that every
// file's problems are told at once.
//
// For machines the problems are the product, as {"findings": […]}.
func (in *inputFlags) each(ctx context.Context, streams Streams, output outputFlag, use func(*subject) error) error {
	problems, err := in.walk(ctx, streams, use)
	if err != nil {
		return err
	}
	if !finding.AtLeast(problems, finding.Error) {
		return nil
	}
	if output.isText() {
		printFindings(streams, problems)
		return exit(exitFailure)
	}
	finding.Sort(problems)
	if err := output.write(streams.Out, problemsOnly{problems}); err != nil {
		return err
	}
	return exit(exitFailure)
}

// problemsOnly is the product where there is none but what is wrong.
type problemsOnly struct {
	Findings []finding.Finding `json:"findings"`
}

// walk is each without the printing: it returns what is wrong with the files
// and the ladder. What is only doubtful there each subject has, too: its own
// file's, and the first one the ladder's.
func (in *inputFlags) walk(ctx context.Context, streams Streams, use func(*subject) error) ([]finding.Finding, error) {
	if len(in.files) == 0 {
		return nil, errors.New("no profile given: pass -f FILE, or -f - for standard input")
	}
	if first := slices.Index(in.files, "-"); first >= 0 && slices.Contains(in.files[first+1:], "-") {
		return nil, errors.New("-f - is given twice: standard input can be read once, and may hold several profiles")
	}
	options, err := in.profileOptions(streams)
	if err != nil {
		return nil, err
	}
	// What does not need the profile is done beside its schema, which is most of
	// what a single render waits for.
	ladderReady, warmed := startLadder(recipe.Options{Dirs: in.recipes}, in.warm)
	loader, err := profile.NewLoader()
	if err != nil {
		return nil, err
	}
	var problems, doubts []finding.Finding
	in.several = len(in.files) > 1
	for i, path := range in.files {
		options.Path = path
		loaded, findings, err := loader.Load(ctx, options)
		if err != nil {
			return nil, err
		}
		problems = append(problems, findings...)
		if loader.Abandoned() {
			return problems, nil
		}
		in.several = in.several || len(loaded) > 1
		ladder, found, err := ladderReady()
		if err != nil {
			return nil, err
		}
		if i == 0 {
			problems, doubts = append(problems, found...), found
		}
		for _, l := range loaded {
			if finding.AtLeast(problems, finding.Error) {
				break
			}
			l.Findings = slices.Concat(doubts, l.Findings)
			doubts = nil
			s, err := in.choose(ladder, l)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", displayPath(l.Source), err)
			}
			if contrary := contradictions(s.findings); len(contrary) > 0 {
				problems = append(problems, contrary...)
				break
			}
			s.warmed = warmed
			if err := use(s); err != nil {
				return nil, err
			}
		}
	}
	return problems, nil
}

// startLadder loads the ladder in the background and then does warm, which may
// be nil. The first function it returns waits for the ladder, the second for
// the end of both, so that nothing need run beside what it warms.
func startLadder(o recipe.Options, warm func()) (ready func() (*recipe.Ladder, []finding.Finding, error), warmed func()) {
	var (
		ladder       *recipe.Ladder
		findings     []finding.Finding
		err          error
		loaded, done = make(chan struct{}), make(chan struct{})
	)
	go func() {
		defer close(done)
		ladder, findings, err = recipe.Load(o)
		close(loaded)
		if warm != nil {
			warm()
		}
	}()
	ready = func() (*recipe.Ladder, []finding.Finding, error) {
		<-loaded
		return ladder, findings, err
	}
	return ready, func() { <-done }
}

func (in *inputFlags) profileOptions(streams Streams) (profile.Options, error) {
	o := profile.Options{
		Override:  profile.Override{Platform: in.platform, Kubernetes: in.kubernetes, KopsVersion: in.kopsVersion, Cloud: in.cloud},
		Rendering: in.rendering,
		Stdin:     streams.In, Format: profile.Format(in.format), Select: in.pick, JPath: in.jpath,
	}
	for _, v := range []struct {
		flag string
		from []string
		to   *map[string]string
	}{
		{"ext-str", in.extStr, &o.ExtVars}, {"ext-code", in.extCode, &o.ExtCode},
		{"tla-str", in.tlaStr, &o.TLAVars}, {"tla-code", in.tlaCode, &o.TLACode},
	} {
		for _, pair := range v.from {
			key, value, ok := strings.Cut(pair, "=")
			if !ok || key == "" {
				return o, fmt.Errorf("--%s %s: want NAME=VALUE", v.flag, pair)
			}
			if *v.to == nil {
				*v.to = map[string]string{}
			}
			(*v.to)[key] = value
		}
	}
	return o, nil
}

func completeRungs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	ladder, _, err := recipe.Load(recipe.Options{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var ids []string
	for _, r := range ladder.Rungs() {
		ids = append(ids, r.ID+"\t"+r.Title)
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// contradictions are the findings by which a recipe is none to use: the rungs
// wanted exclude each other.
func contradictions(findings []finding.Finding) (contrary []finding.Finding) {
	for _, f := range findings {
		if f.Code == "recipe-conflict" && f.Severity == finding.Error {
			contrary = append(contrary, f)
		}
	}
	return contrary
}
