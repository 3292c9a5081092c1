package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/tier"
)

// tierCRDsFlags are those of tier crds.
type tierCRDsFlags struct {
	tierFlags
	output outputFlag
	files  []string
	keep   bool
	dryRun bool
}

func newTierCRDsCmd(streams Streams, name string) *cobra.Command {
	var flags tierCRDsFlags
	cmd := &cobra.Command{
		Use:   "crds -f CRD.yaml...",
		Short: "install or update CustomResourceDefinitions in a tier",
		Long: `crds puts ordinary CustomResourceDefinitions into a tier, or brings those that
are there up to date, and has kube-apiserver send their groups to it: first the
definition in the tier, then an APIService for each served version, then, with
--keep-definition, the definition in the main server for clients that look for
it there, and at last APIServices of versions that are served no more go away.
Afterwards every kube-apiserver is asked who answers.

Each definition gets the category seams-tier-NAME, by which discovery tells that
the tier answers: "kubectl get seams-tier-hot -A" lists what the tier has.

It refuses what would lose objects: a change of scope or kind, dropping a
version that objects are stored as, and a group that has objects in the main
server ("tier move" takes those along). With --lint no server is reached and the
files alone are judged.`,
		Example: examples(name, `
# judge the files alone
%[1]s tier crds -f crds/ --lint

# what would be done, judged by the tier itself
%[1]s tier crds -f crds/sandbox.yaml --dry-run --kubeconfig admin.conf \
  --tier-service seams-system/hot:9443 --tier-server https://10.0.0.11:9443 --tier-ca pki/aggregated/ca.crt

# do it, and keep the definition where operators look for it
%[1]s tier crds -f crds/sandbox.yaml --keep-definition --kubeconfig admin.conf \
  --tier-service seams-system/hot:9443 --tier-server https://10.0.0.11:9443 --tier-ca pki/aggregated/ca.crt
`),
		Args: cobra.NoArgs,
	}
	lint := false
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return runTierCRDs(cmd.Context(), streams, &flags, lint)
	}
	flags.output.register(cmd)
	flags.register(cmd)
	f := cmd.Flags()
	f.StringArrayVarP(&flags.files, "file", "f", nil, "file or directory with CRDs, or - for standard input; repeatable")
	f.BoolVar(&flags.keep, "keep-definition", false, "have the definitions in the main server, too")
	f.BoolVar(&flags.dryRun, "dry-run", false, "say what would be done, have the tier judge the definitions, and change nothing")
	f.BoolVar(&lint, "lint", false, "judge the files alone, without a cluster")
	return cmd
}

func runTierCRDs(ctx context.Context, streams Streams, flags *tierCRDsFlags, lint bool) error {
	if len(flags.files) == 0 {
		return errors.New("no CRD given: pass -f FILE, or -f - for standard input")
	}
	if !lint {
		if err := flags.check(); err != nil {
			return err
		}
	}
	wanted, findings, err := readDefinitions(streams, flags.files)
	if err != nil {
		return err
	}
	findings = append(findings, tier.Twice(wanted)...)
	if lint || finding.AtLeast(findings, finding.Error) {
		return flags.verdict(streams, nil, findings)
	}
	cluster, err := flags.connect(ctx)
	if err != nil {
		return err
	}
	done, more, err := tier.Install(ctx, wanted, tier.InstallOptions{Cluster: cluster, KeepInMain: flags.keep, DryRun: flags.dryRun, Log: streams.Err})
	if err != nil {
		printFindings(streams, more)
		return err
	}
	return flags.verdict(streams, done, append(findings, more...))
}

// verdict prints the product and what was found.
func (f *tierCRDsFlags) verdict(streams Streams, done *tier.Installed, findings []finding.Finding) error {
	finding.Sort(findings)
	bad := finding.AtLeast(findings, finding.Error)
	if !f.output.isText() {
		product := struct {
			*tier.Installed
			Findings []finding.Finding `json:"findings"`
		}{done, findings}
		if product.Findings == nil {
			product.Findings = []finding.Finding{}
		}
		if err := f.output.write(streams.Out, product); err != nil {
			return err
		}
	} else {
		printFindings(streams, findings)
		if done != nil && !bad {
			f.text(streams.Out, done)
		}
	}
	if bad {
		return exit(exitFindings)
	}
	return nil
}

func (f *tierCRDsFlags) text(w io.Writer, done *tier.Installed) {
	if f.dryRun {
		fmt.Fprintln(w, "would be done:")
		for _, step := range done.Steps {
			fmt.Fprintf(w, "  %s\n", step)
		}
		return
	}
	for _, r := range done.Routes {
		fmt.Fprintf(w, "%s/%s: %s served by the tier, through %s\n", r.Group, r.Version, strings.Join(r.Resources, ", "), r.Through)
	}
}

// maxCRDFile bounds a file of CRDs: the largest bundles have some 10 MB.
const maxCRDFile = 64 << 20

// readDefinitions reads files, and those of directories to their bottom.
func readDefinitions(streams Streams, names []string) ([]tier.Definition, []finding.Finding, error) {
	var all []tier.Definition
	var findings []finding.Finding
	for _, name := range names {
		files, err := filesOf(name)
		if err != nil {
			return nil, nil, err
		}
		for _, file := range files {
			data, shown, err := readCRDFile(streams, file)
			if err != nil {
				return nil, nil, err
			}
			definitions, more := tier.ReadDefinitions(shown, data)
			all, findings = append(all, definitions...), append(findings, more...)
		}
	}
	return all, findings, nil
}

// filesOf are a file, or the YAML and JSON files below a directory in order.
func filesOf(name string) ([]string, error) {
	info, err := os.Stat(name)
	if name == "-" || err != nil || !info.IsDir() {
		return []string{name}, nil
	}
	var files []string
	err = filepath.WalkDir(name, func(at string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(at)) {
			files = append(files, at)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: no YAML or JSON file in it", name)
	}
	return files, err
}

func readCRDFile(streams Streams, name string) (data []byte, shown string, err error) {
	in, shown := streams.In, "stdin"
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, "", err
		}
		defer f.Close()
		in, shown = f, name
	}
	if data, err = io.ReadAll(io.LimitReader(in, maxCRDFile+1)); err != nil {
		return nil, "", fmt.Errorf("read %s: %w", shown, err)
	}
	if len(data) > maxCRDFile {
		return nil, "", fmt.Errorf("%s: over %d MB, which no bundle of CRDs has", shown, maxCRDFile>>20)
	}
	return data, shown, nil
}
