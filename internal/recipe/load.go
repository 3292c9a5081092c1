package recipe

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"github.com/kubeseams/seams"
	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

// Options say where rungs come from besides the program itself.
type Options struct {
	// Dirs are directories of CUE files that define further rungs, as fields of a
	// top-level struct rungs.
	Dirs []string
}

// Load reads the ladder: the embedded rungs and those of the given directories,
// which may stand between them by order but not replace one. The findings are
// what is wrong with the directories' rungs, which are then left out. Errors: a
// directory that cannot be read, or an embedded rung that does not satisfy its
// own schema.
func Load(o Options) (*Ladder, []finding.Finding, error) {
	l, findings, err := loadOurs()
	if err != nil {
		return nil, nil, err
	}
	if finding.AtLeast(findings, finding.Error) {
		return nil, nil, fmt.Errorf("the embedded ladder is broken: %s", findings[0])
	}
	for _, dir := range o.Dirs {
		found, err := l.addDir(os.DirFS(dir), filepath.ToSlash(dir))
		if err != nil {
			return nil, nil, fmt.Errorf("read rungs: %w", err)
		}
		findings = append(findings, found...)
	}
	findings = append(findings, l.sort()...)
	finding.Sort(findings)
	return l, findings, nil
}

func loadOurs() (*Ladder, []finding.Finding, error) {
	l := &Ladder{
		build: newBuilder(seams.CUE),
		ctx:   cuecontext.New(),
		byID:  map[string]*entry{},
		cache: map[string]unified{},
	}
	schemas, err := l.value("schemas")
	if err != nil {
		return nil, nil, err
	}
	l.schema = schemas.LookupPath(cue.MakePath(cue.Def("Rung")))
	recipes, err := l.value("recipes")
	if err != nil {
		return nil, nil, err
	}
	l.base = recipes.LookupPath(cue.ParsePath("base"))
	var findings []finding.Finding
	for _, axis := range estimate.Axes {
		v, err := l.value("recipes/" + string(axis))
		if err != nil {
			return nil, nil, err
		}
		findings = append(findings, l.addRungs(v, "recipes/"+string(axis), false)...)
	}
	return l, findings, l.base.Err()
}

// value builds one package of the embedded module.
func (l *Ladder) value(dir string) (cue.Value, error) {
	inst := l.build.load(token.NoPos, module+"/"+dir)
	if inst.Err != nil {
		return cue.Value{}, fmt.Errorf("%s", errors.Details(inst.Err, nil))
	}
	v := l.ctx.BuildInstance(inst)
	if err := v.Err(); err != nil {
		return v, fmt.Errorf("%s", errors.Details(err, nil))
	}
	return v, nil
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
		inst, err := l.build.instance(files, dir, shown)
		if err != nil {
			findings = append(findings, cueFindings("recipe-invalid", err, shown, 0)...)
			continue
		}
		findings = append(findings, l.addRungs(l.ctx.BuildInstance(inst), shown, true)...)
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
			v = v.Unify(l.schema)
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
	e := &entry{value: v, moves: v.LookupPath(cue.ParsePath("moves"))}
	if err := e.decodeHead(); err != nil {
		return cueFindings("recipe-invalid", err, file, line)
	}
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
	l.byID[e.rung.ID] = e
	l.entries = append(l.entries, e)
	return e.check()
}

// check tells what a schema cannot: names that no version knows.
func (e *entry) check() []finding.Finding {
	var findings []finding.Finding
	say := func(path, message, fix string) {
		findings = append(findings, finding.Finding{
			Code: "rung-unknown-requirement", Severity: finding.Error,
			File: e.file, Line: e.line, Path: path, Message: message, Fix: fix,
		})
	}
	known := target.Target{}.Predicates()
	for _, name := range e.rung.Requires.Predicates {
		if _, ok := known[name]; !ok {
			say("requires.predicates", fmt.Sprintf("%s requires %s, which no version contract names", e.rung.ID, name),
				"use one of "+strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	for _, gate := range slices.Sorted(maps.Keys(e.rung.Requires.FeatureGates)) {
		if len(target.GateMinors(gate)) == 0 {
			say("requires.featureGates", fmt.Sprintf("%s requires the feature gate %s, which no supported Kubernetes has", e.rung.ID, gate), "")
		}
	}
	return findings
}

// sort puts the ladder in order and remarks on rungs that share a step.
func (l *Ladder) sort() []finding.Finding {
	slices.SortFunc(l.entries, func(a, b *entry) int {
		return cmp.Or(
			cmp.Compare(slices.Index(estimate.Axes, a.rung.Axis), slices.Index(estimate.Axes, b.rung.Axis)),
			cmp.Compare(a.rung.Order, b.rung.Order),
			cmp.Compare(a.rung.ID, b.rung.ID),
		)
	})
	var findings []finding.Finding
	for i, e := range l.entries[1:] {
		before := l.entries[i]
		if before.rung.Axis == e.rung.Axis && before.rung.Order == e.rung.Order && !e.rung.Optional && !before.rung.Optional {
			findings = append(findings, finding.Finding{
				Code: "rung-order-tie", Severity: finding.Warning, File: e.file, Line: e.line, Path: "order",
				Message: fmt.Sprintf("%s and %s have the same order, so the name decides which is tried first", before.rung.ID, e.rung.ID),
				Fix:     "give them different orders",
			})
		}
	}
	return findings
}
