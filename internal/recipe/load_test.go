package recipe

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/golden"
)

// withRungs loads the ladder with a directory of further rungs.
func withRungs(t testing.TB, files map[string]string) (*Ladder, []finding.Finding) {
	t.Helper()
	l, findings, err := loadOurs()
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	fs := fstest.MapFS{}
	for name, text := range files {
		fs[name] = &fstest.MapFile{Data: []byte(text)}
	}
	findings, err = l.addDir(fs, "mine")
	if err != nil {
		t.Fatal(err)
	}
	findings = append(findings, l.sort()...)
	finding.Sort(findings)
	return l, findings
}

// mine is a rung that stands between two of ours.
const mine = `package mine

import (
	"github.com/kubeseams/seams/recipes/node"
	"github.com/kubeseams/seams/schemas"
)

rungs: "eight-k": schemas.#Rung & {
	id:      "node/eight-k"
	axis:    "node"
	order:   15
	title:   "eight thousand"
	summary: "Ours."
	status:  "derived"
	envelope: node: {nodes: 8000, livenessWritesPerSecond: 900}
	seams: []
	hazards: []
	evidence: [{kind: "derived", claim: "Ran for a year.", source: "here", vanilla: true}]
	moves: node.rungs."ci-5k".moves & {scheduler: flags: v: "2"}
}
`

func TestOwnRungStandsBetween(t *testing.T) {
	l, findings := withRungs(t, map[string]string{"node/mine.cue": mine})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	p := base()
	p.Nodes.Count = 7000
	r, _ := selectFor(t, l, p)
	if c := r.Choices[0]; c.Rung.ID != "node/eight-k" || r.Settings.Scheduler.Flags["v"] != "2" || r.Settings.Scheduler.QPS != 100 {
		t.Errorf("chose %s with %+v", c.Rung.ID, r.Settings.Scheduler)
	}
	var ids []string
	for _, e := range l.of(estimate.Node) {
		ids = append(ids, e.rung.ID)
	}
	if got, want := slices.Index(ids, "node/eight-k"), slices.Index(ids, "node/ci-5k")+1; got != want {
		t.Errorf("it stands at %d of %v, want %d", got, ids, want)
	}
}

// TestBrokenRungs compares what is said about each broken rung with the golden
// file: every problem has the place where it is written.
func TestBrokenRungs(t *testing.T) {
	change := func(old, new string) string {
		if !strings.Contains(mine, old) {
			t.Fatalf("%q is not in the rung", old)
		}
		return strings.Replace(mine, old, new, 1)
	}
	cases := []struct {
		name string
		text string
	}{
		{"duplicate", change(`"node/eight-k"`, `"node/ci-5k"`)},
		{"unknown field", change("seams: []", "seams: []\n\tcost: 3")},
		{"wrong type", change("order:   15", `order:   "15"`)},
		{"missing field", change(`title:   "eight thousand"`, "")},
		{"id of another axis", change(`"node/eight-k"`, `"churn/eight-k"`)},
		{"unknown measure", change("nodes: 8000", "machines: 8000")},
		{"validated without a proof", change(`"derived"`, `"validated"`)},
		{"published without a vanilla figure", change(`"derived"`, `"published"`)},
		{"syntax", change("seams: []", "seams: [")},
		{"foreign import", change(`"github.com/kubeseams/seams/schemas"`, `"example.com/elsewhere@v1"`)},
		{"missing package", change(`recipes/node"`, `recipes/nodes"`)},
		{"conflict inside", change(`scheduler: flags: v: "2"`, `scheduler: qps: 7`)},
		{"flag that follows", change(`v: "2"`, `"feature-gates": "A=true"`)},
		{"unknown predicate", change("seams: []", `seams: []
	requires: predicates: ["NoSuchBehaviour"]`)},
		{"expression that cannot be evaluated", change("order:   15", "order: [15][1]")},
		{"unknown gate", change("seams: []", `seams: []
	requires: featureGates: NoSuchGate: "ALPHA"`)},
		{"same order", change("order:   15", "order:   10")},
		{"no rungs", "package mine\n\nrung: 1\n"},
	}
	var b strings.Builder
	for _, c := range cases {
		_, findings := withRungs(t, map[string]string{"mine.cue": c.text})
		b.WriteString("== " + c.name + "\n")
		for _, f := range findings {
			b.WriteString(f.String() + "\n")
		}
		if len(findings) == 0 {
			t.Errorf("%s: nothing is said", c.name)
		}
	}
	names := regexp.MustCompile(`use one of [A-Za-z0-9, ]+`)
	golden.File(t, filepath.Join("testdata", "broken.txt"), names.ReplaceAllString(b.String(), "use one of the known "))
}

// TestConflict pins a rung that contradicts the one chosen on another axis. The
// finding names both places, ours relative to the module.
func TestConflict(t *testing.T) {
	text := strings.NewReplacer(`"node/eight-k"`, `"churn/contrary"`, `axis:    "node"`, `axis:    "churn"`,
		"order:   15", "order:   5", "node: {nodes: 8000, livenessWritesPerSecond: 900}", "churn: customWritesPerSecond: 1",
		`node.rungs."ci-5k".moves & {scheduler: flags: v: "2"}`, `{apiserver: flags: "max-requests-inflight": "900"}`,
		"import (\n\t\"github.com/kubeseams/seams/recipes/node\"\n", "import (\n").Replace(mine)
	l, findings := withRungs(t, map[string]string{"mine.cue": text})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	p := base()
	p.Nodes.Count = 3000
	r, findings := selectFor(t, l, p)
	if r.Choices[1].Rung.ID != "churn/stock" {
		t.Errorf("chose %s", r.Choices[1].Rung.ID)
	}
	_, findings = selectFor(t, l, p, "node/ci-5k", "churn/contrary")
	var b strings.Builder
	for _, f := range findings {
		b.WriteString(f.String() + "\n")
	}
	golden.File(t, filepath.Join("testdata", "conflict.txt"), b.String())
	if len(findings) != 1 || findings[0].Code != "recipe-conflict" || findings[0].Severity != finding.Error {
		t.Errorf("findings %v", findings)
	}
}

func TestLoadFromDisk(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.cue"), []byte(mine), 0o644); err != nil {
		t.Fatal(err)
	}
	l, findings, err := Load(Options{Dirs: []string{dir}})
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	if _, ok := l.Rung("node/eight-k"); !ok {
		t.Error("the rung is not on the ladder")
	}
	for _, bad := range []string{filepath.Join(dir, "nowhere"), t.TempDir()} {
		if _, _, err := Load(Options{Dirs: []string{bad}}); err == nil {
			t.Errorf("%s is accepted", filepath.Base(bad))
		}
	}
}

// FuzzRung reads any text as a rung: what is wrong with it is said, never
// panicked.
func FuzzRung(f *testing.F) {
	f.Add(mine)
	f.Add("package mine\nrungs: x: 3\n")
	f.Add("rungs: {\n")
	f.Add("package mine\nimport \"strings\"\nrungs: a: strings.Repeat(\"x\", 3)\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 || strings.Count(text, "[") > 50 {
			t.Skip("CUE's evaluator may take its time; this is about what is said")
		}
		l, findings := withRungs(t, map[string]string{"mine.cue": text})
		for _, e := range l.entries {
			if e.rung.ID == "" || e.file == "" || e.line == 0 {
				t.Errorf("a rung without a name or a place: %+v; findings %v", e.rung, findings)
			}
		}
	})
}
