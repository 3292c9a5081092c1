package lint

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/lint/read"
)

// TestRendered: what is rendered, and so has passed the check, lints without
// more than remarks.
func TestRendered(t *testing.T) {
	t.Parallel()
	for _, root := range []string{"../../e2e/golden", "../check/testdata/good"} {
		dirs, err := os.ReadDir(root)
		if err != nil || len(dirs) < 4 {
			t.Fatalf("%d directories in %s (%v)", len(dirs), root, err)
		}
		for _, d := range dirs {
			files := tree{}
			err := filepath.WalkDir(filepath.Join(root, d.Name()), func(p string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() || !read.IsYAMLName(p) {
					return err
				}
				text, err := os.ReadFile(p)
				files[strings.TrimPrefix(filepath.ToSlash(p), "../")] = string(text)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			r := run(t, files, Input{KopsFeatureFlags: "+APIServerNodes"})
			if finding.AtLeast(r.Findings, finding.Warning) || r.Files < 5 {
				t.Errorf("%s, %d files:\n%s", d.Name(), r.Files, full(r.Findings))
			}
		}
	}
}
