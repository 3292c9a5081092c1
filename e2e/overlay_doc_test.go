package e2e

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubeseams/seams/internal/cli"
)

// TestDocumentedOverlay renders the profile of `seams init`, and an example,
// with the overlay that docs/rendering.md shows.
func TestDocumentedOverlay(t *testing.T) {
	text, err := os.ReadFile("../docs/rendering.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```jsonnet\n(.*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatal("docs/rendering.md shows no overlay")
	}
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		var out, talk bytes.Buffer
		if code := cli.Main(context.Background(), cli.Streams{In: &out, Out: &out, Err: &talk}, args); code != 0 {
			t.Fatalf("seams %v: exit %d\n%s", args, code, &talk)
		}
		return out.String()
	}
	profile, overlay := filepath.Join(dir, "my-cluster.cue"), filepath.Join(dir, "site.jsonnet")
	for name, data := range map[string][]byte{profile: []byte(run("init", "my-cluster")), overlay: block[1]} {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{profile, "../recipes/examples/training-15k.cue"} {
		got := run("render", "-f", p, "--overlay", overlay)
		if strings.Count(got, "imageRepository: registry.example.com/kubernetes") != 1 || strings.Count(got, "name: profiling") != 1 {
			t.Errorf("%s: the overlay changed nothing", p)
		}
	}
}
