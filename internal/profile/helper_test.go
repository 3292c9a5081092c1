package profile

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubeseams/seams/internal/finding"
)

// memoryLoader is a loader over files in memory, working in the directory "/w".
func memoryLoader(files map[string]string) *Loader {
	m := fstest.MapFS{}
	for name, text := range files {
		m[strings.TrimPrefix(name, "/")] = &fstest.MapFile{Data: []byte(text)}
	}
	return &Loader{FS: m, Dir: "/w"}
}

// loadText loads one text under the name p.FORMAT.
func loadText(t testing.TB, format Format, text string) ([]Loaded, []finding.Finding) {
	t.Helper()
	name := "p." + string(format)
	return loadFiles(t, map[string]string{"/w/" + name: text}, Options{Path: name})
}

func loadFiles(t testing.TB, files map[string]string, o Options) ([]Loaded, []finding.Finding) {
	t.Helper()
	got, found, err := memoryLoader(files).Load(context.Background(), o)
	if err != nil {
		t.Fatalf("load %s: %v", o.Path, err)
	}
	return got, found
}

// lines prints findings one on a line.
func lines(fs []finding.Finding) string {
	var b strings.Builder
	for _, f := range fs {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}
