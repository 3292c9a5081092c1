package profile

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestImportsFollowNoLinkOut: a symbolic link is a way to import what is not
// beneath the profile's directory, unless it leads to a place that is.
func TestImportsFollowNoLinkOut(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "profiles")
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"secret": "a-secret", "profiles/here.txt": "here", "profiles/lib/there.txt": "there"} {
		name = filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link("../secret", "out")
	link(filepath.Join(top, "secret"), "absolute")
	link("..", "up")
	link("out", "twice")
	link("loop", "loop")
	link("here.txt", "within")
	link(filepath.Join(dir, "lib"), "folder")
	if err := os.Symlink(dir, filepath.Join(top, "alias")); err != nil {
		t.Fatal(err)
	}
	for from, imports := range map[string]map[string]string{
		dir: {
			"out": "it is a link to", "absolute": "it is a link to", "up/secret": "it is a link to", "twice": "it is a link to", "loop": "too many levels",
			"within": "", "folder/there.txt": "", "here.txt": "",
		},
		filepath.Join(top, "alias"): {"here.txt": "", "within": "", "out": "it is a link to"},
	} {
		for name, want := range imports {
			l := &Loader{FS: os.DirFS("/"), Dir: from}
			profile := filepath.Join(from, "p.jsonnet")
			if err := os.WriteFile(profile, []byte("{name: importstr '"+name+"', nodes: {count: 3}}"), 0o644); err != nil {
				t.Fatal(err)
			}
			_, found, err := l.Load(context.Background(), Options{Path: profile})
			got := lines(found)
			if err != nil || strings.Contains(got, "a-secret") || !strings.Contains(got, want) || want == "" && got != "" {
				t.Errorf("%s of %s: %v %q, want %q", name, from, err, got, want)
			}
		}
	}
}
