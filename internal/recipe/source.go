package recipe

import (
	"cmp"
	"fmt"
	"io/fs"
	"reflect"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"github.com/kubeseams/seams"
	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
)

// source is the ladder as CUE. Evaluating it is most of what one render would
// wait for, so that it is only done for what the table does not have.
type source struct {
	build  *builder
	ctx    *cue.Context
	schema cue.Value
	base   cue.Value
	// moves are those of each rung, by its ID.
	moves map[string]cue.Value
}

// loadOurs evaluates the embedded rungs.
func loadOurs() (*Ladder, []finding.Finding, error) {
	s := &source{build: newBuilder(seams.CUE), ctx: cuecontext.New(), moves: map[string]cue.Value{}}
	l := newLadder()
	l.source = s
	schemas, err := s.value("schemas")
	if err != nil {
		return nil, nil, err
	}
	s.schema = schemas.LookupPath(cue.MakePath(cue.Def("Rung")))
	recipes, err := s.value("recipes")
	if err != nil {
		return nil, nil, err
	}
	s.base = recipes.LookupPath(cue.ParsePath("base"))
	var findings []finding.Finding
	for _, axis := range estimate.Axes {
		v, err := s.value("recipes/" + string(axis))
		if err != nil {
			return nil, nil, err
		}
		findings = append(findings, l.addRungs(v, "recipes/"+string(axis), false)...)
	}
	return l, findings, s.base.Err()
}

// value builds one package of the embedded module.
func (s *source) value(dir string) (cue.Value, error) {
	inst := s.build.load(token.NoPos, module+"/"+dir)
	if inst.Err != nil {
		return cue.Value{}, fmt.Errorf("%s", errors.Details(inst.Err, nil))
	}
	v := s.ctx.BuildInstance(inst)
	if err := v.Err(); err != nil {
		return v, fmt.Errorf("%s", errors.Details(err, nil))
	}
	return v, nil
}

// unify evaluates the base with the moves of rungs.
func (s *source) unify(ids []string) (u unified) {
	v := s.base
	for _, id := range ids {
		v = v.Unify(s.moves[id])
	}
	err := v.Validate(cue.Concrete(true))
	if err == nil {
		err = v.Decode(&u.settings)
	}
	if err != nil {
		u.findings = conflictFindings(ids, err)
	}
	return u
}

// addDir adds the rungs of every package below a directory.
func (l *Ladder) addDir(files fs.FS, display string) ([]finding.Finding, error) {
	dirs, err := packages(files)
	if err != nil {
		return nil, err
	}
	if len(dirs) == 0 {
		return nil, fmt.Errorf("%s: no CUE files", display)
	}
	var findings []finding.Finding
	for _, dir := range dirs {
		shown := display
		if dir != "." {
			shown += "/" + dir
		}
		inst, err := l.source.build.instance(files, dir, shown)
		if err != nil {
			findings = append(findings, cueFindings("recipe-invalid", err, shown, 0)...)
			continue
		}
		found := l.addRungs(l.source.ctx.BuildInstance(inst), shown, true)
		findings = append(findings, readRungs(inst.Files, l.source.schema).tidy(found)...)
	}
	return findings, nil
}

// addRungs adds the rungs that one package defines.
func (l *Ladder) addRungs(pkg cue.Value, dir string, users bool) []finding.Finding {
	rungs := pkg.LookupPath(cue.ParsePath("rungs"))
	if err := pkg.Err(); err != nil && !rungs.Exists() {
		return cueFindings("recipe-invalid", err, dir, 0)
	}
	if !rungs.Exists() {
		return []finding.Finding{{
			Code: "recipe-no-rungs", Severity: finding.Warning, File: dir,
			Message: "no rungs here: the package has no field rungs",
			Fix:     `write rungs: NAME: schemas.#Rung & {…}`,
		}}
	}
	fields, err := rungs.Fields()
	if err != nil {
		return cueFindings("recipe-invalid", err, dir, 0)
	}
	var findings []finding.Finding
	for fields.Next() {
		v := fields.Value()
		file, line := placeOf(v)
		if users {
			v = v.Unify(l.source.schema)
		}
		findings = append(findings, l.addRung(v, cmp.Or(file, dir), line)...)
	}
	return findings
}

// addRung checks one rung and adds it.
func (l *Ladder) addRung(v cue.Value, file string, line int) []finding.Finding {
	if err := v.Validate(cue.Concrete(true)); err != nil {
		return cueFindings("recipe-invalid", err, file, line)
	}
	moves := v.LookupPath(cue.ParsePath("moves"))
	e := &entry{}
	if err := v.Decode(&e.rung); err != nil {
		return cueFindings("recipe-invalid", err, file, line)
	}
	e.rung.Summary = strings.Join(strings.Fields(e.rung.Summary), " ")
	prune(e.rung.Moves)
	var s Settings
	e.still = moves.Decode(&s) == nil && reflect.DeepEqual(s, Settings{})
	// The rung's own id field is where it is defined; a field of the schema has
	// its position too.
	e.file, e.line = placeOf(v.LookupPath(cue.ParsePath("id")))
	if first, taken := l.byID[e.rung.ID]; taken {
		return []finding.Finding{{
			Code: "rung-duplicate", Severity: finding.Error, File: e.file, Line: e.line, Path: "id",
			Message: fmt.Sprintf("the rung %s is there already, at %s:%d", e.rung.ID, first.file, first.line),
			Fix:     "give it another name and an order that puts it where it belongs; rungs are added, not replaced",
		}}
	}
	l.add(e)
	l.source.moves[e.rung.ID] = moves
	return e.check()
}

// prune takes the parts of moves away that say nothing.
func prune(moves map[string]any) {
	for name, value := range moves {
		if part, ok := value.(map[string]any); ok {
			prune(part)
			if len(part) == 0 {
				delete(moves, name)
			}
		}
	}
}
