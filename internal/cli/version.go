package cli

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/kubeseams/seams/internal/target"
)

// Version is the tool's; it is part of every rendered file's header, so two
// builds of one version render the same bytes.
const Version = "0.1.0"

// versionInfo is what `version` tells.
type versionInfo struct {
	Seams string `json:"seams"`
	// Commit is empty where the build did not record one.
	Commit     string   `json:"commit,omitempty"`
	Go         string   `json:"go"`
	CUE        string   `json:"cue"`
	Upstream   string   `json:"upstream"`
	Kubernetes []string `json:"kubernetes"`
	Kops       []string `json:"kops"`
}

func newVersionCmd(streams Streams, name string) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "print the version, the libraries that judge and the versions supported",
		Example: examples(name, "%[1]s version -o json"),
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			info := readVersion()
			if !output.isText() {
				return output.write(streams.Out, info)
			}
			fmt.Fprintf(streams.Out, "seams %s\n", info.Seams)
			t := newTable("", "")
			if info.Commit != "" {
				t.add("commit", info.Commit)
			}
			t.add("go", info.Go)
			t.add("cue", info.CUE)
			t.add("judged by", "k8s.io/kubernetes "+info.Upstream)
			t.add("kubernetes", fmt.Sprint(info.Kubernetes))
			t.add("kops", fmt.Sprint(info.Kops))
			t.rowsOnly(streams.Out, streams)
			return nil
		},
	}
	output.register(cmd)
	return cmd
}

// readVersion asks the binary itself which libraries it was linked with.
func readVersion() versionInfo {
	info := versionInfo{Seams: Version}
	for _, v := range target.Minors() {
		info.Kubernetes = append(info.Kubernetes, v.Line())
	}
	info.Kops = []string{"1.34", "1.35", "1.36"}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return info
	}
	info.Go = build.GoVersion
	for _, m := range build.Deps {
		switch m.Path {
		case "cuelang.org/go":
			info.CUE = m.Version
		case "k8s.io/kubernetes":
			info.Upstream = m.Version
		}
	}
	for _, s := range build.Settings {
		if s.Key == "vcs.revision" {
			info.Commit = s.Value
		}
	}
	return info
}
