package profile

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubeseams/seams/internal/golden"
)

// TestErrors loads the bad inputs in testdata/errors and compares every
// finding, one on a line, with the archive's file "want". The archive's comment
// may name the options: the input's path, and after it flags as the command
// would take them.
func TestErrors(t *testing.T) {
	archives, err := filepath.Glob("testdata/errors/*.txtar")
	if err != nil || len(archives) < 40 {
		t.Fatalf("%d archives, %v", len(archives), err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			fsys := fstest.MapFS{}
			var want *txtar.File
			for i, f := range a.Files {
				if f.Name == "want" {
					want = &a.Files[i]
					continue
				}
				fsys["w/"+f.Name] = &fstest.MapFile{Data: f.Data}
			}
			o := errorOptions(t, string(a.Comment), a.Files[0].Name)
			l := &Loader{FS: fsys, Dir: "/w", Limits: Limits{FileBytes: 20_000}}
			_, found, err := l.Load(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			got := lines(found)
			if len(found) == 0 {
				t.Error("no findings")
			}
			if want != nil && string(want.Data) == got {
				return
			}
			if want == nil {
				a.Files = append(a.Files, txtar.File{Name: "want"})
				want = &a.Files[len(a.Files)-1]
			}
			t.Errorf("findings (-want +got):\n%s", cmp.Diff(string(want.Data), got))
			if golden.Update() {
				want.Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// errorOptions reads the options out of an archive's comment; without any, the
// first file is loaded.
func errorOptions(t *testing.T, comment, first string) Options {
	o := Options{Path: first}
	for i, word := range strings.Fields(comment) {
		key, value, _ := strings.Cut(word, "=")
		switch {
		case i == 0:
			o.Path = word
		case key == "--select":
			o.Select = value
		case key == "--jpath":
			o.JPath = append(o.JPath, value)
		default:
			t.Fatalf("unknown option %q", word)
		}
	}
	return o
}
