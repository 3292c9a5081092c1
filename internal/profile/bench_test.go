package profile

import (
	"context"
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"
)

// benchmarkTexts are the platform example, the largest, in every format.
func benchmarkTexts(b *testing.B) map[Format]string {
	b.Helper()
	text, err := os.ReadFile("../../recipes/examples/platform.cue")
	if err != nil {
		b.Fatal(err)
	}
	got, found := loadText(b, CUE, string(text))
	if len(got) != 1 {
		b.Fatal(lines(found))
	}
	data, err := json.MarshalIndent(got[0].Profile, "", "  ")
	if err != nil {
		b.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		b.Fatal(err)
	}
	asYAML, err := yaml.Marshal(tree)
	if err != nil {
		b.Fatal(err)
	}
	return map[Format]string{CUE: string(text), JSON: string(data), Jsonnet: string(data), YAML: string(asYAML)}
}

// BenchmarkCold loads one profile with a new loader: context, schema and all.
func BenchmarkCold(b *testing.B) {
	text := benchmarkTexts(b)[YAML]
	files := fstest.MapFS{"w/p.yaml": {Data: []byte(text)}}
	for b.Loop() {
		l := &Loader{FS: files, Dir: "/w"}
		if got, _, err := l.Load(context.Background(), Options{Path: "p.yaml"}); err != nil || len(got) != 1 {
			b.Fatal(err)
		}
	}
}

// BenchmarkWarm loads profile after profile with one loader, and reports the
// memory it holds in the end for each.
func BenchmarkWarm(b *testing.B) {
	for format, text := range benchmarkTexts(b) {
		b.Run(string(format), func(b *testing.B) { benchmarkWarm(b, format, text) })
	}
	b.Run("small", func(b *testing.B) { benchmarkWarm(b, YAML, "name: x\nnodes: {count: 100}\n") })
}

func benchmarkWarm(b *testing.B, format Format, text string) {
	name := "p." + string(format)
	l := &Loader{FS: fstest.MapFS{"w/" + name: {Data: []byte(text)}}, Dir: "/w"}
	load := func() {
		if got, _, err := l.Load(context.Background(), Options{Path: name}); err != nil || len(got) != 1 {
			b.Fatal(err)
		}
	}
	load()
	before := live()
	peak := before
	n := 0
	for b.Loop() {
		load()
		if n++; n%100 == 0 {
			b.StopTimer()
			peak = max(peak, live())
			b.StartTimer()
		}
	}
	peak = max(peak, live())
	b.ReportMetric(float64(peak-before)/(1<<20), "peak-MiB")
	runtime.KeepAlive(l)
}

func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkThousand loads a thousand profiles out of one file in one call.
func BenchmarkThousand(b *testing.B) {
	text := strings.Repeat("---\n"+benchmarkTexts(b)[YAML], 1000)
	l := &Loader{FS: fstest.MapFS{"w/p.yaml": {Data: []byte(text)}}, Dir: "/w", Limits: Limits{FileBytes: len(text) + 1}}
	for b.Loop() {
		got, _, err := l.Load(context.Background(), Options{Path: "p.yaml"})
		if err != nil || len(got) != 1000 {
			b.Fatal(len(got), err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/1000, "ms/profile")
}
