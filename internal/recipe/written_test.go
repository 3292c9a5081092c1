package recipe

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubeseams/seams/internal/finding"
)

// TestAllThatIsWrong: an unknown field is told of beside values that the schema
// refuses, each in one line with its own place.
func TestAllThatIsWrong(t *testing.T) {
	text := strings.NewReplacer("order:   15", "order: \"15\"\n\tbogus: 1", `"derived"\n\tenv`, `"good"\n\tenv`,
		"nodes: 8000", "nodes: -8000, nodez: 5", "seams: []", `seams: ["storage"]`).Replace(mine)
	text = strings.Replace(text, `status:  "derived"`, `status:  "good"`, 1)
	text = strings.Replace(text, `kind: "derived"`, `knd: 1, kind: "derived"`, 1)
	text = strings.Replace(text, "{scheduler:", "{apiservr: {}, scheduler:", 1)
	_, findings := withRungs(t, map[string]string{"mine.cue": text})
	want := map[string]string{
		`rungs."eight-k".order`:               `want uint & <=1000; got "15"`,
		`rungs."eight-k".bogus`:               "field not allowed",
		`rungs."eight-k".status`:              `want one of "validated", "published", "derived", "open"; got "good"`,
		`rungs."eight-k".envelope.node.nodes`: "want >=0; got -8000",
		`rungs."eight-k".envelope.node.nodez`: "field not allowed",
		`rungs."eight-k".evidence.0.knd`:      "field not allowed",
		`rungs."eight-k".moves.apiservr`:      "field not allowed",
	}
	for _, f := range findings {
		if f.Message != want[f.Path] || f.File != "mine/mine.cue" || f.Line < 8 || strings.Contains(f.Message, "\n") {
			t.Errorf("%+v", f)
		}
		delete(want, f.Path)
	}
	for path := range want {
		t.Errorf("nothing is said of %s", path)
	}
	i := slices.IndexFunc(findings, func(f finding.Finding) bool { return strings.HasSuffix(f.Path, "nodez") })
	if i < 0 || findings[i].Fix != "did you mean nodes?" {
		t.Errorf("%+v", findings)
	}
}

// TestMessagesAreShort: CUE prints a whole schema where a rung is no struct.
func TestMessagesAreShort(t *testing.T) {
	_, findings := withRungs(t, map[string]string{"mine.cue": "package mine\n\nrungs: x: 5\n"})
	if len(findings) == 0 {
		t.Fatal("nothing is said")
	}
	for _, f := range findings {
		if len(f.Message) > longestMessage+100 || strings.Contains(f.Message, "\n") {
			t.Errorf("%d: %s", len(f.Message), f.Message)
		}
	}
}

// TestUnknownNames: a flag that no kube-apiserver has is found before anything
// is rendered.
func TestUnknownNames(t *testing.T) {
	text := strings.Replace(mine, `{scheduler: flags: v: "2"}`,
		`{apiserver: flags: "max-request-inflight": "640", scheduler: flags: v: "2", controllerManager: featureGates: NoSuchGate: true}`, 1)
	_, findings := withRungs(t, map[string]string{"mine.cue": text})
	if len(findings) != 2 || findings[0].Code != "rung-unknown-flag" || findings[1].Code != "rung-unknown-flag" {
		t.Fatalf("%v", findings)
	}
	if f := findings[0]; f.Path != "moves.apiserver.flags.max-request-inflight" || f.Fix != "did you mean max-requests-inflight?" || f.Severity != finding.Error {
		t.Errorf("%+v", f)
	}
	if f := findings[1]; !strings.Contains(f.Message, "NoSuchGate") {
		t.Errorf("%+v", f)
	}
}

// TestDirectoryIsNamed: what cannot be read is called by the name it was given.
func TestDirectoryIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rungs.cue")
	if err := os.WriteFile(file, []byte("package x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, filepath.Join(filepath.Dir(file), "nowhere")} {
		if _, _, err := Load(Options{Dirs: []string{name}}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
