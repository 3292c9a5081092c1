package plantest

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeseams/seams/internal/file"
)

var update = flag.Bool("update", false, "rewrite the golden files; the test still fails when that changed any")

// Golden compares files with those below dir. With -update it makes dir hold
// exactly the files, and still fails when that changed anything.
func Golden(t *testing.T, dir string, files []file.File) {
	t.Helper()
	want := read(t, dir)
	got := map[string]string{}
	for _, f := range files {
		if _, twice := got[f.Path]; twice {
			t.Errorf("%s is rendered twice", f.Path)
		}
		got[f.Path] = string(f.Data)
	}
	diff := cmp.Diff(want, got)
	if diff == "" {
		return
	}
	if !*update {
		t.Errorf("%s differs (-want +got); -update rewrites it:\n%s", dir, diff)
		return
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for path, data := range got {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Errorf("%s was rewritten", dir)
}

func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil && !strings.Contains(err.Error(), "no such file") {
		t.Fatal(err)
	}
	return files
}
