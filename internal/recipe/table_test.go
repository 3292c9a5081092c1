package recipe

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubeseams/seams"
	"github.com/kubeseams/seams/internal/target"
)

// fromCUE is the ladder without the table.
func fromCUE(t testing.TB) *Ladder {
	t.Helper()
	l, findings, err := loadOurs()
	if err != nil || len(append(findings, l.sort()...)) > 0 {
		t.Fatal(err, findings)
	}
	return l
}

// kept are the lines of the table in the program.
func kept(t testing.TB) []byte {
	t.Helper()
	lines, err := unpack(packed)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestTableIsCurrent fails when a schema, a rung or the evaluation changed
// without the table.
func TestTableIsCurrent(t *testing.T) {
	want, err := Evaluate()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept(t), want) {
		t.Error("internal/recipe/data/ladder.jsonl.gz is stale; run hack/update-ladder.sh")
	}
}

// TestTableIsWhatCUEGives compares both ways to every rung and to every set of
// rungs, down to the bytes and the digest.
func TestTableIsWhatCUEGives(t *testing.T) {
	ahead, now := mustLoad(t), fromCUE(t)
	if ahead.table == nil {
		t.Fatal("the table is not used")
	}
	for i, e := range now.entries {
		got := ahead.entries[i]
		if diff := cmp.Diff(e.rung, got.rung); diff != "" {
			t.Errorf("%s (-CUE +table):\n%s", e.rung.ID, diff)
		}
		if e.file != got.file || e.line != got.line || e.still != got.still || e.line == 0 {
			t.Errorf("%s is at %s:%d, %v; in the table at %s:%d, %v", e.rung.ID, e.file, e.line, e.still, got.file, got.line, got.still)
		}
	}
	sets := now.sets()
	if len(sets) < 50 || !reflect.DeepEqual(sets, ahead.sets()) {
		t.Fatalf("%d and %d sets", len(sets), len(ahead.sets()))
	}
	for _, ids := range sets {
		want, got := unify(t, now, ids...), unify(t, ahead, ids...)
		compareSettings(t, ids, want.settings, got.settings)
	}
	if ahead.source != nil {
		t.Error("CUE was asked about a set that selection can choose")
	}
}

func compareSettings(t *testing.T, ids []string, want, got Settings) {
	t.Helper()
	wantBytes, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	gotBytes, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(wantBytes, gotBytes) {
		t.Errorf("%v (-CUE +table):\n%s", ids, cmp.Diff(want, got))
	}
	wantDigest, _ := digest(ids, &want)
	gotDigest, _ := digest(ids, &got)
	if wantDigest != gotDigest || wantDigest == "" {
		t.Errorf("%v: digests %s and %s", ids, wantDigest, gotDigest)
	}
}

// TestOptionalRungsAskCUE pins what the table does not have, and compares with
// a ladder that has no table.
func TestOptionalRungsAskCUE(t *testing.T) {
	ahead, now := mustLoad(t), fromCUE(t)
	for _, e := range now.entries {
		if !e.rung.Optional {
			continue
		}
		p := base()
		p.Nodes.Count = 4000
		want, wantFindings := selectFor(t, now, p, e.rung.ID)
		got, gotFindings := selectFor(t, ahead, p, e.rung.ID)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-CUE +table):\n%s", e.rung.ID, diff)
		}
		if diff := cmp.Diff(wantFindings, gotFindings); diff != "" {
			t.Errorf("%s (-CUE +table):\n%s", e.rung.ID, diff)
		}
	}
	if ahead.source == nil {
		t.Error("CUE was never asked")
	}
}

// TestSelectionNeverAsksCUE selects for clusters of all sizes: none of the sets
// that it comes by is missing from the table.
func TestSelectionNeverAsksCUE(t *testing.T) {
	l := mustLoad(t)
	chosen := map[string]bool{}
	for _, nodes := range []int{10, 900, 3000, 5000, 8000, 15000, 40000, 150000} {
		for _, name := range []string{"", "45c-workflow-burst", "45a-admission-reports"} {
			p := base()
			if name != "" {
				p = loadCase(t, name)
			}
			p.Nodes.Count = nodes
			r, _ := selectFor(t, l, p)
			for _, c := range r.Choices {
				chosen[c.Rung.ID] = true
			}
			if l.source != nil {
				t.Fatalf("%d nodes of %q: CUE was asked", nodes, p.Name)
			}
		}
	}
	if len(chosen) < 6 {
		t.Errorf("only %d rungs were chosen", len(chosen))
	}
}

// copyModule is the embedded module as files that can be changed.
func copyModule(t *testing.T) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	err := fs.WalkDir(seams.CUE, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(seams.CUE, name)
		files[name] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestTableFollowsCUE changes, adds and removes each file that a rung may
// depend on: the table is then not used.
func TestTableFollowsCUE(t *testing.T) {
	files, evaluated := copyModule(t), kept(t)
	used := func() bool {
		l, err := loadEvaluated(evaluated, files)
		if err != nil {
			t.Fatal(err)
		}
		return l != nil
	}
	if !used() {
		t.Fatal("the table is not used with the files it was made from")
	}
	n := 0
	for name, file := range files {
		counts := !strings.HasPrefix(name, "recipes/examples/") &&
			!strings.HasPrefix(name, "recipes/evidence/") && strings.HasSuffix(name, ".cue") && !strings.HasPrefix(name, "cue.mod/")
		if counts {
			n++
		}
		files[name] = &fstest.MapFile{Data: append(bytes.Clone(file.Data), '\n')}
		if used() == counts {
			t.Errorf("%s changed, and the table is used: %v", name, !counts)
		}
		delete(files, name)
		if used() == counts {
			t.Errorf("%s is gone, and the table is used: %v", name, !counts)
		}
		files[name] = file
	}
	if n < 20 {
		t.Errorf("only %d files count", n)
	}
	files["recipes/node/new.cue"] = &fstest.MapFile{Data: []byte("package node\n")}
	if used() {
		t.Error("a file was added, and the table is used")
	}
}

// TestTableRefusesDamage cuts the table short and garbles it.
func TestTableRefusesDamage(t *testing.T) {
	evaluated := kept(t)
	rungs := bytes.Index(evaluated, []byte("\n"+`{"set":""`))
	for name, data := range map[string][]byte{
		"nothing":     nil,
		"half a line": evaluated[:20],
		"a rung less": evaluated[:bytes.LastIndexByte(evaluated[:rungs], '\n')+1],
		"no JSON":     bytes.Replace(evaluated, []byte(`"rung":{`), []byte(`"rung":[`), 1),
	} {
		if l, err := loadEvaluated(data, seams.CUE); err == nil {
			t.Errorf("%s is accepted: %v", name, l)
		}
	}
	for name, data := range map[string][]byte{"nothing": nil, "no gzip": evaluated, "half": packed[:len(packed)/2]} {
		if lines, err := unpack(data); err == nil {
			t.Errorf("%s unpacks to %d bytes", name, len(lines))
		}
	}
	data := bytes.Replace(evaluated, []byte(`{"set":"","settings":{`), []byte(`{"set":"","settings":[`), 1)
	l, err := loadEvaluated(data, seams.CUE)
	if err != nil || l == nil {
		t.Fatalf("no ladder: %v", err)
	}
	p := base()
	at := target.Target{Kubernetes: target.Minors()[0], Platform: target.Kubeadm}
	if _, _, err := l.Select(p, at, SelectOptions{}); err == nil || !strings.Contains(err.Error(), "evaluated ladder") {
		t.Errorf("a garbled set gives %v", err)
	}
}

// BenchmarkLoad reads the ladder as a render does, and as one with rungs of
// somebody's own.
func BenchmarkLoad(b *testing.B) {
	b.Run("table", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := Load(Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("cue", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := loadOurs(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
