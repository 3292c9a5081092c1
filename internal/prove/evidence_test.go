package prove

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/load"
	cuejson "cuelang.org/go/encoding/json"

	"github.com/kubeseams/seams"
	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/scrape"
)

// TestPublishedEvidence holds what the ladder says of itself against the
// records: a validated rung has a current record of a run that passed, and the
// record satisfies #Record.
func TestPublishedEvidence(t *testing.T) {
	ladder := mustLadder(t)
	all, err := Standings(context.Background(), ladder, seams.CUE, EvidenceDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range ladder.Rungs() {
		if r.Status == recipe.Validated && all[r.ID].Standing != Proven {
			t.Errorf("%s says validated, and its record is %q: run seams prove %s --evidence %s", r.ID, all[r.ID].Standing, r.ID, EvidenceDir)
		}
		if all[r.ID].Standing == Proven && !slices.ContainsFunc(r.Evidence, func(e recipe.Evidence) bool { return e.Kind == "proof" }) {
			t.Errorf("%s has a record that proves it, which its evidence does not name", r.ID)
		}
	}
	for id, e := range all {
		if e.Standing == Stale {
			t.Errorf("the record of %s is of another recipe or proof: run seams prove %s --evidence %s", id, id, EvidenceDir)
		}
		satisfies(t, e.Record)
	}
}

// satisfies holds a record to its schema.
func satisfies(t *testing.T, r *Record) {
	t.Helper()
	insts := load.Instances([]string{"./schemas"}, &load.Config{FS: seams.CUE, Dir: "/"})
	ctx := cuecontext.New()
	schema := ctx.BuildInstance(insts[0]).LookupPath(cue.ParsePath("#Record"))
	data, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	expr, err := cuejson.Extract(FileName(r.Rung), data)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Unify(ctx.BuildExpr(expr)).Validate(cue.Concrete(true)); err != nil {
		t.Errorf("%s: %v", r.Rung, err)
	}
}

// example is a record as a run makes it.
func example(t *testing.T, ladder *recipe.Ladder) *Record {
	t.Helper()
	rung, _ := ladder.Rung("node/leases-store")
	demand, err := demandOf(rung.Proof)
	if err != nil {
		t.Fatal(err)
	}
	figures := func(puts float64) []scrape.Figure {
		return []scrape.Figure{
			{Name: "store.main.puts-per-second", Value: puts, Unit: scrape.PerSecond},
			{Name: "nodes-ready-ratio", Value: 1}, {Name: "lease-renewal-p99-seconds", Value: 0.2, Unit: scrape.Seconds},
		}
	}
	r := &Record{
		Rung: rung.ID, Date: "2026-01-02", Versions: map[string]string{"seams": "0", "kube-apiserver": "1.37.2"},
		Machine: thisMachine(), Scale: 1, Load: demand, Remarks: []string{},
	}
	for name, puts := range map[string]float64{LevelStock: 100, LevelRung: 2} {
		r.Levels = append(r.Levels, Level{
			Name: name, Rungs: []string{rung.ID}, Recipe: "sha256:" + strings.Repeat("0", 64),
			Figures: figures(puts), Changes: []string{},
		})
	}
	r.Limits = Judge(rung.Proof.Limits, figures(100), figures(2))
	r.Pass = Passed(r.Limits)
	if r.Digest, err = Digest(context.Background(), ladder, rung, "1.37.2"); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestStandings reads records back, and finds those that something has changed
// under.
func TestStandings(t *testing.T) {
	ladder := mustLadder(t)
	good := example(t, ladder)
	satisfies(t, good)
	for _, c := range []struct {
		name   string
		change func(*Record)
		want   Standing
	}{
		{"as it ran", func(*Record) {}, Proven},
		{"a limit was not met", func(r *Record) { r.Pass = false }, Failed},
		{"another recipe", func(r *Record) { r.Digest = "sha256:" + strings.Repeat("1", 64) }, Stale},
		{"a rung that is gone", func(r *Record) { r.Rung = "node/of-yesterday" }, Stale},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := *good
			c.change(&r)
			data, err := r.Encode()
			if err != nil {
				t.Fatal(err)
			}
			all, err := Standings(context.Background(), ladder, fstest.MapFS{"e/" + FileName(r.Rung): {Data: data}}, "e")
			if err != nil {
				t.Fatal(err)
			}
			if got := all[r.Rung].Standing; got != c.want {
				t.Errorf("standing %q, want %q", got, c.want)
			}
		})
	}
}

func TestBrokenRecords(t *testing.T) {
	one, err := json.Marshal(&Record{Rung: "node/stock"})
	if err != nil {
		t.Fatal(err)
	}
	for name, files := range map[string]fstest.MapFS{
		"no JSON":       {"e/a.json": {Data: []byte("{")}},
		"nameless":      {"e/a.json": {Data: []byte("{}")}},
		"two of a rung": {"e/a.json": {Data: one}, "e/b.json": {Data: one}},
	} {
		if _, err := Records(files, "e"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestCalibrationIsCurrent compares docs/calibration.md with the records.
func TestCalibrationIsCurrent(t *testing.T) {
	records, err := Records(seams.CUE, EvidenceDir)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../../docs/calibration.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := Calibration(context.Background(), mustLadder(t), records)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Error("docs/calibration.md is not of these records: run go run ./hack/calibration")
	}
}
