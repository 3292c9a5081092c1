package e2e

import (
	"bytes"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeseams/seams/internal/cli"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/golden"
)

var exampleNames = []string{"training-15k", "training-100k", "agents", "platform"}

// beyondKops are examples that no rung carries on kOps, which has one
// kube-apiserver configuration for a cluster, and so no node-facing tier.
var beyondKops = map[string]bool{"training-100k": true}

// needsLeases are examples whose rung has an etcd for leases, which kOps knows from 1.36.
var needsLeases = map[string]bool{"training-15k": true, "agents": true}

// TestExamples renders every example for kubeadm and kOps and compares the
// directories with golden/: what a user gets is what is reviewed here.
func TestExamples(t *testing.T) {
	for _, example := range exampleNames {
		for _, target := range []string{"kubeadm", "kops"} {
			t.Run(example+"/"+target, func(t *testing.T) {
				args := []string{"-f", "../recipes/examples/" + example + ".cue", "--target", target}
				if beyondKops[example] && target == "kops" {
					args = append(args, "--past-ladder")
				}
				got := renderDir(t, args...)
				if again := renderDir(t, args...); !maps.Equal(got, again) {
					t.Errorf("a second render gives other bytes:\n%s", cmp.Diff(got, again))
				}
				golden.Dir(t, filepath.Join("golden", example, target), asFiles(got))
			})
		}
	}
}

// TestEveryTarget renders every example for every platform and version that
// is supported; the check inside render judges the files, so an error is a
// failure here.
func TestEveryTarget(t *testing.T) {
	targets := map[string][]string{}
	for _, minor := range []string{"1.34", "1.35", "1.36", "1.37"} {
		for _, platform := range []string{"kubeadm", "kind", "staticpod"} {
			targets[platform+"-"+minor] = []string{"--target", platform, "--kubernetes", minor}
		}
	}
	for minor, version := range map[string]string{"1.34": "1.34.3", "1.35": "1.35.2", "1.36": "1.36.2"} {
		for _, cloud := range []string{"aws", "gce"} {
			targets["kops-"+cloud+"-"+minor] = []string{"--target", "kops", "--kops-version", version, "--kubernetes", minor, "--cloud", cloud}
		}
	}
	for _, example := range exampleNames {
		for _, name := range slices.Sorted(maps.Keys(targets)) {
			t.Run(example+"/"+name, func(t *testing.T) {
				args := append([]string{"render", "-f", "../recipes/examples/" + example + ".cue", "-d", t.TempDir()}, targets[name]...)
				code, _, stderr := run(t, "", args...)
				want := 0
				if strings.HasPrefix(name, "kops") && (beyondKops[example] || needsLeases[example] && !strings.HasSuffix(name, "1.36")) {
					want = 3
				}
				if code != want {
					t.Errorf("exit %d, want %d:\n%s", code, want, stderr)
				}
			})
		}
	}
}

// run calls the program in this process.
func run(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, talk bytes.Buffer
	code = cli.Main(context.Background(), cli.Streams{In: bytes.NewBufferString(stdin), Out: &out, Err: &talk}, args)
	return code, out.String(), talk.String()
}

// renderDir renders into a new directory and reads it back, by path.
func renderDir(t *testing.T, args ...string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	code, _, stderr := run(t, "", append([]string{"render", "-d", dir}, args...)...)
	if code != 0 {
		t.Fatalf("render %v: exit %d\n%s", args, code, stderr)
	}
	return golden.Read(t, dir)
}

func asFiles(tree map[string]string) []file.File {
	var files []file.File
	for path, data := range tree {
		files = append(files, file.File{Path: path, Data: []byte(data)})
	}
	return files
}
