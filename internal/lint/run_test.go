package lint

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubeseams/seams/internal/finding"
)

// tree is files by name.
type tree map[string]string

// archive reads a tree in txtar form.
func archive(text string) tree {
	files := tree{}
	for _, f := range txtar.Parse([]byte(text)).Files {
		files[f.Name] = string(f.Data)
	}
	return files
}

// run lints a tree; its files are not named ones unless in says which.
func run(t testing.TB, files tree, in Input) Result {
	t.Helper()
	if in.Entries == nil {
		in.Entries = entries(files, func(name string) Entry { return Entry{Path: name} })
	}
	in.Open = func(name string) (io.ReadCloser, error) {
		text, ok := files[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return io.NopCloser(bytes.NewReader([]byte(text))), nil
	}
	r, err := Run(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func entries(files tree, entry func(string) Entry) func(func(Entry, error) bool) {
	return func(yield func(Entry, error) bool) {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if !yield(entry(name), nil) {
				return
			}
		}
	}
}

// named makes every file one that the user has typed.
func named(files tree) func(func(Entry, error) bool) {
	return entries(files, func(name string) Entry { return Entry{Path: name, Named: true} })
}

// brief writes findings as FILE:LINE SEVERITY CODE.
func brief(findings []finding.Finding) []string {
	out := []string{}
	for _, f := range findings {
		out = append(out, fmt.Sprintf("%s:%d %s %s", f.File, f.Line, f.Severity, f.Code))
	}
	return out
}

// full writes findings for a failed test.
func full(findings []finding.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}
