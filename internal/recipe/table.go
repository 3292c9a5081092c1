package recipe

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/kubeseams/seams"
	"github.com/kubeseams/seams/internal/estimate"
)

// packed is the ladder as CUE evaluates it, written by hack/ladder: a JSON
// document a line. First comes what it was made from, then the rungs, then the
// settings of each set of rungs, which are found by the way the line begins and
// decoded one by one, so that the file costs nothing to have.
//
// It is a quarter of a millisecond to unpack, and a tenth of the size.
//
//go:embed data/ladder.jsonl.gz
var packed []byte

// unpack gives the lines of an evaluated ladder.
func unpack(packed []byte) ([]byte, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("the evaluated ladder: %w", err)
	}
	lines, err := io.ReadAll(zipped)
	if err != nil {
		return nil, fmt.Errorf("the evaluated ladder: %w", err)
	}
	return lines, nil
}

// headLine is the first line.
type headLine struct {
	// CUE is the digest of the files that were evaluated.
	CUE string `json:"cue"`
	// Rungs is how many lines with rungs follow.
	Rungs int `json:"rungs"`
}

// rungLine is a rung in the order of the ladder.
type rungLine struct {
	File string `json:"file"`
	Line int    `json:"line"`
	// Still says that the rung moves nothing.
	Still bool `json:"still,omitempty"`
	Rung  Rung `json:"rung"`
}

// setLine is what the base and a set of rungs come to.
type setLine struct {
	Set      string   `json:"set"`
	Settings Settings `json:"settings"`
}

// table holds the lines with sets.
type table struct{ lines []byte }

// settings looks a set of rungs up; ok is false when the table does not have it.
func (t *table) settings(ids []string) (s Settings, ok bool, err error) {
	name, err := json.Marshal(setKey(ids))
	if err != nil {
		return s, false, err
	}
	start := slices.Concat([]byte(`{"set":`), name, []byte(`,`))
	at := 0
	if !bytes.HasPrefix(t.lines, start) {
		if at = bytes.Index(t.lines, append([]byte("\n"), start...)) + 1; at == 0 {
			return s, false, nil
		}
	}
	line, _, _ := bytes.Cut(t.lines[at:], []byte("\n"))
	var set setLine
	if err := json.Unmarshal(line, &set); err != nil {
		return s, false, fmt.Errorf("the evaluated ladder, set %s: %w", name, err)
	}
	return set.Settings, true, nil
}

// loadEvaluated reads the ladder that was evaluated ahead; nil when it is not
// that of the CUE files.
func loadEvaluated(data []byte, files fs.FS) (*Ladder, error) {
	var head headLine
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	if err := json.Unmarshal(first, &head); err != nil {
		return nil, fmt.Errorf("the evaluated ladder: %w", err)
	}
	digest, err := digestCUE(files)
	if err != nil || digest != head.CUE {
		return nil, err
	}
	l := newLadder()
	for range head.Rungs {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		var r rungLine
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("the evaluated ladder, rung %d: %w", len(l.entries), err)
		}
		l.add(&entry{rung: r.Rung, file: r.File, line: r.Line, still: r.Still})
	}
	l.table = &table{lines: rest}
	return l, nil
}

// Evaluate evaluates the embedded rungs and gives the table of them, to be kept
// packed as data/ladder.jsonl.gz. Errors: a rung that does not satisfy its schema, or two
// that share a step.
func Evaluate() ([]byte, error) {
	digest, err := digestCUE(seams.CUE)
	if err != nil {
		return nil, err
	}
	l, findings, err := loadOurs()
	if err != nil {
		return nil, err
	}
	if findings = append(findings, l.sort()...); len(findings) > 0 {
		return nil, fmt.Errorf("the embedded ladder is broken: %s", findings[0])
	}
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(headLine{CUE: digest, Rungs: len(l.entries)}); err != nil {
		return nil, err
	}
	for _, e := range l.entries {
		if err := lines.Encode(rungLine{File: e.file, Line: e.line, Still: e.still, Rung: e.rung}); err != nil {
			return nil, err
		}
	}
	for _, ids := range l.sets() {
		u, err := l.unify(ids)
		if err != nil {
			return nil, err
		}
		if len(u.findings) > 0 {
			continue // only CUE can say what the conflict is, and where
		}
		if err := lines.Encode(setLine{Set: setKey(ids), Settings: u.settings}); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// sets lists what selection can come by while no optional rung is asked for: at
// most one rung of each axis, and of those only the ones that move something.
// The open rungs are never unified.
func (l *Ladder) sets() [][]string {
	sets := [][]string{{}}
	for _, axis := range estimate.Axes {
		for _, set := range slices.Clone(sets) {
			for _, e := range l.of(axis) {
				if !e.still && e.rung.Status != Open {
					sets = append(sets, append(slices.Clone(set), e.rung.ID))
				}
			}
		}
	}
	return sets
}

// digestCUE identifies the files that a ladder is made from.
func digestCUE(files fs.FS) (string, error) {
	sum := sha256.New()
	dirs := []string{"schemas", "recipes"}
	for _, axis := range estimate.Axes {
		dirs = append(dirs, path.Join("recipes", string(axis)))
	}
	for _, dir := range dirs {
		names, err := cueFiles(files, dir)
		if err != nil {
			return "", err
		}
		for _, name := range names {
			data, err := fs.ReadFile(files, path.Join(dir, name))
			if err != nil {
				return "", err
			}
			fmt.Fprintf(sum, "%s %d\n", path.Join(dir, name), len(data))
			sum.Write(data)
		}
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}
