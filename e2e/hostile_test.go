package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hostileFiles are texts that grow when they are decoded, nest without end or
// are simply long; head begins a document that the command would read.
func hostileFiles(t *testing.T, dir, head string) map[string]string {
	t.Helper()
	var laughs, block strings.Builder
	laughs.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 14; i++ {
		fmt.Fprintf(&laughs, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	for i := range 2500 {
		block.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	files := map[string]string{}
	for name, text := range map[string]string{
		"laughs": laughs.String(), "to-itself": "b: &a\n  c: *a\n", "deep-flow": "b: " + strings.Repeat("[", 200_000) + "\n",
		"deep-mapping": "b: " + strings.Repeat("{a: ", 100_000) + "\n", "deep-block": block.String(), "dashes": "b:\n" + strings.Repeat("- ", 100_000) + "a\n",
	} {
		files[name] = filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(files[name], []byte(head+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files["100-MB"] = filepath.Join(dir, "100-MB.yaml")
	line := []byte(head + strings.Repeat("z: some text that says nothing\n", 32_000))
	f, err := os.Create(files["100-MB"])
	if err != nil {
		t.Fatal(err)
	}
	for written := 0; written < 100<<20; written += len(line) {
		if _, err := f.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return files
}

// hostileCommands are those that read a user's YAML, with FILE for it; in is
// what comes by standard input.
var hostileCommands = []struct {
	name, head, in string
	args           []string
	// clean are the files that do no harm to the command, and may pass.
	clean []string
}{
	{name: "vet", head: "name: a\nnodes: {count: 10}\n", args: []string{"seams", "vet", "-f", "FILE"}},
	{name: "explain", head: "name: a\nnodes: {count: 10}\n", args: []string{"seams", "explain", "-f", "FILE"}},
	{name: "render", head: "name: a\nnodes: {count: 10}\n", args: []string{"seams", "render", "-f", "FILE"}},
	{name: "report", head: "name: a\nnodes: {count: 10}\n", args: []string{"seams", "report", "-f", "FILE", "-o", "OUT"}},
	{name: "vet by standard input", head: "name: a\nnodes: {count: 10}\n", in: "FILE", args: []string{"seams", "vet", "-f", "-"}},
	{name: "lint", head: "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n", args: []string{"seams", "lint", "FILE"}},
	{name: "lint of kOps", head: "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\n", args: []string{"seams", "lint", "FILE"}},
	{name: "lint before", head: "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\n", args: []string{"seams", "lint", "--before", "FILE", "KOPS"}, clean: []string{"dashes", "deep-block", "to-itself", "laughs"}},
	{name: "diff, profile", head: "name: a\nnodes: {count: 10}\n", args: []string{"seams", "diff", "FILE", "PRESENT"}},
	{name: "diff, existing", head: "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n", args: []string{"seams", "diff", "PROFILE", "FILE"}},
	{name: "diff, kOps", head: "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nmetadata: {name: a.example.com}\n", args: []string{"seams", "diff", "--target", "kops", "PROFILE", "FILE"}},
	{name: "diff, objects", head: "apiVersion: v1\nkind: List\nlabels: {app.kubernetes.io/part-of: seams}\n", args: []string{"seams", "diff", "PROFILE", "FILE"}},
	{name: "render into", head: "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n", args: []string{"seams", "render", "-f", "PROFILE", "--into", "FILE"}},
	{name: "kops-seams", head: "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nmetadata: {name: a.example.com}\n", in: "FILE", args: []string{"kops-seams", "-f", "PROFILE"}},
	{name: "kops-seams, profile", head: "name: a\nnodes: {count: 10}\n", in: "KOPS", args: []string{"kops-seams", "-f", "FILE"}},
	{name: "measure", head: "# TYPE a gauge\n", args: []string{"seams", "measure", "--apiserver", "FILE,FILE", "--interval", "60s"}},
	{name: "tier crds", head: "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n", args: []string{"seams", "tier", "crds", "--lint", "-f", "FILE"}},
}

// TestHostileFiles: whatever reads a user's YAML ends with an error that names
// the file, within bounded time and memory.
func TestHostileFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("writes files of 100 MB")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for _, name := range []string{"seams", "kops-seams"} {
		if err := os.Symlink(self, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	fixed := t.TempDir()
	words := map[string]string{"PROFILE": "name: a\nnodes: {count: 10}\n", "PRESENT": "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n", "KOPS": "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nmetadata: {name: a.example.com}\n"}
	for word, text := range words {
		words[word] = filepath.Join(fixed, strings.ToLower(word)+".yaml")
		if err := os.WriteFile(words[word], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range hostileCommands {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			files := hostileFiles(t, dir, c.head)
			for _, name := range slices.Sorted(func(yield func(string) bool) {
				for n := range files {
					if !yield(n) {
						return
					}
				}
			}) {
				words["FILE"], words["OUT"] = files[name], filepath.Join(dir, name+".html")
				hostile(t, bin, name, c.in, c.args, words, slices.Contains(c.clean, name))
			}
		})
	}
}

// Bounds of one run, as a process of its own. A 64-bit program with all of
// Kubernetes' types takes some 100 MB before it reads anything.
const (
	hostileSeconds = 60
	hostileMiB     = 400
)

func hostile(t *testing.T, bin, name, in string, args []string, words map[string]string, clean bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hostileSeconds*time.Second)
	defer cancel()
	var argv []string
	for _, a := range args[1:] {
		if path, ok := words[a]; ok {
			a = path
		} else if a == "FILE,FILE" {
			a = words["FILE"] + "," + words["FILE"]
		}
		argv = append(argv, a)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(bin, args[0]), argv...)
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	if in != "" {
		f, err := os.Open(words[in])
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cmd.Stdin = f
	}
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	mib := usage.Maxrss >> 10
	said := out.String() + talk.String()
	t.Logf("%s: exit %d, %.1f s, %d MiB: %.200q", name, cmd.ProcessState.ExitCode(), took.Seconds(), mib, said)
	base := filepath.Base(words["FILE"])
	if in == "FILE" {
		base = "stdin"
	}
	switch code := cmd.ProcessState.ExitCode(); {
	case ctx.Err() != nil:
		t.Errorf("%s: not over within %d s", name, hostileSeconds)
	case code != 1 && code != 2 && !clean:
		t.Errorf("%s: exit code %d (%v), want 1 or 2", name, code, err)
	case strings.Contains(said, "goroutine ") || strings.Contains(said, "panic"):
		t.Errorf("%s: panics:\n%.2000s", name, said)
	case !clean && !strings.Contains(said, base) && !strings.Contains(said, "standard input"):
		t.Errorf("%s: the file is not named: %.500s", name, said)
	case len(said) > 20_000:
		t.Errorf("%s: %d bytes of messages: %.500s", name, len(said), said)
	}
	if mib > hostileMiB {
		t.Errorf("%s: %d MiB", name, mib)
	}
}
