package profile

import (
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubeseams/seams/internal/finding"
)

// The fuzz targets below hold for every text in a format: loading it gives a
// profile or a finding, twice the same, and a profile survives being written as
// JSON.

func FuzzLoadYAML(f *testing.F)    { fuzzLoad(f, YAML) }
func FuzzLoadJSON(f *testing.F)    { fuzzLoad(f, JSON) }
func FuzzLoadCUE(f *testing.F)     { fuzzLoad(f, CUE) }
func FuzzLoadJsonnet(f *testing.F) { fuzzLoad(f, Jsonnet) }

// hostile are seeds in no format in particular.
var hostile = []string{
	"", "\x00", "\xff\xfe", "{", "}", "[", "]", "{}", "[]", "null", "~", "\"", "'", "- - - - -", "{{{{", "!!", "&a *a", "&a [*a]", "<<: *x", "? ? ?",
	"a: &a {<<: *a}", "%YAML 9.9\n---\n", "!!binary x", "!!float y", "1e999999999", "-", "0x", ".nan", "name: name", "_", "_|_", "#A: #A", "a: a", "...",
	"{[string]: int}", "x: [x]", "if true {a: 1}", "let a = a", "\"\\(a)\"", "#\"\"\"", "import \"list\"", "package", "@if(x)", "1Ki", "self", "$", "std",
	"error 'x'", "local a = a; a", "function(a) a", "importstr '/etc/passwd'", "{a: $}", "|||\n", "assert false; 1", "name: x\nnodes: {count: 1}", "{\"name\":\"x\",\"nodes\":{\"count\":1}}",
	"{name: 'x', nodes: {count: 1}}", "name: \"x\", nodes: count: 1",
}

func fuzzLoad(f *testing.F, format Format) {
	for _, text := range hostile {
		f.Add(text)
	}
	archives, err := filepath.Glob("testdata/errors/" + string(format) + "-*.txtar")
	if err != nil || len(archives) == 0 {
		f.Fatal(archives, err)
	}
	for _, name := range archives {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range a.Files {
			if file.Name == "p."+string(format) {
				f.Add(string(file.Data))
			}
		}
	}
	// One loader for all: its context is renewed as it goes.
	shared := &Loader{Limits: Limits{FileBytes: 32 << 10, Tokens: 1000, Values: 20_000, Documents: 20, Time: 5 * time.Second, HeapBytes: 256 << 20, Renew: 50}}
	f.Fuzz(func(t *testing.T, text string) {
		shared.FS, shared.Dir = fstest.MapFS{"w/p." + string(format): {Data: []byte(text)}}, "/w"
		load := func() ([]Loaded, []finding.Finding) {
			got, found, err := shared.Load(context.Background(), Options{Path: "p." + string(format)})
			if err != nil {
				t.Fatalf("load: %v", err)
			}
			return got, found
		}
		got, found := load()
		if len(got)+len(found) == 0 {
			t.Error("neither a profile nor a finding")
		}
		for _, x := range found {
			checkFinding(t, x, len(yamlBreak.FindAllString(text, -1))+1)
		}
		_, again := load()
		if a, b := lines(found), lines(again); a != b {
			t.Errorf("findings differ from run to run:\n%s\n%s", a, b)
		}
		for _, p := range got {
			roundTrip(t, p)
		}
	})
}

// yamlBreak is what ends a line of YAML: a lone carriage return does so as well.
var yamlBreak = regexp.MustCompile(`\r\n|[\r\n\x{85}\x{2028}\x{2029}]`)

func checkFinding(t *testing.T, f finding.Finding, maxLine int) {
	switch {
	case f.Code == "" || f.Message == "" || strings.ContainsAny(f.Message+f.Fix, "\n"):
		t.Errorf("a finding without a code or one line of text: %+v", f)
	case f.Code == CodeEvaluatorFailed:
		t.Errorf("a panic: %s", f)
	case strings.Contains(f.Path, "#Profile"):
		t.Errorf("a path inside the schema: %s", f)
	case f.File == "" || f.Line < 0 || f.Line > maxLine+1:
		t.Errorf("a finding outside the file: %s", f)
	}
}

// roundTrip writes a loaded profile as JSON and loads it again.
func roundTrip(t *testing.T, p Loaded) {
	text, err := json.Marshal(p.Profile)
	if err != nil {
		t.Fatal(err)
	}
	got, found := loadText(t, JSON, string(text))
	if len(got) != 1 || got[0].Digest != p.Digest {
		t.Errorf("the profile does not survive JSON: %s\n%s", text, lines(found))
	}
}
