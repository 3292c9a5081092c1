// Package golden compares what a test made with files kept beside it. It
// stands beside the flow, and only tests import it.
package golden

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeseams/seams/internal/file"
)

var update = flag.Bool("update", false, "rewrite the golden files; the test still fails when that changed any")

// Update reports whether tests were asked to rewrite their golden files. A
// test that does so by itself must still fail when that changed any, so that
// no run passes by rewriting.
func Update() bool { return *update }

// File compares text with the file at path; with -update it rewrites the file,
// and still fails when that changed it.
func File(t *testing.T, path, got string) {
	t.Helper()
	want, err := os.ReadFile(path)
	if err == nil && string(want) == got {
		return
	}
	if !*update {
		t.Errorf("%s differs (-want +got); -update rewrites it:\n%s", path, cmp.Diff(string(want), got))
		return
	}
	write(t, path, got)
	t.Errorf("%s was rewritten", path)
}

// Dir compares files with those below dir. With -update it makes dir hold
// exactly the files, and still fails when that changed anything.
func Dir(t *testing.T, dir string, files []file.File) {
	t.Helper()
	want := Read(t, dir)
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
		write(t, filepath.Join(dir, filepath.FromSlash(path)), data)
	}
	t.Errorf("%s was rewritten", dir)
}

// Read gives the files below dir by their paths with forward slashes; none
// when there is no such directory.
func Read(t *testing.T, dir string) map[string]string {
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
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return files
}

func write(t *testing.T, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}
