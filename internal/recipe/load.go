package recipe

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
//
// The embedded rungs alone come from the table that was evaluated ahead, unless
// a CUE file changed since; with directories, all is evaluated here, since their
// rungs may import ours.
func Load(o Options) (*Ladder, []finding.Finding, error) {
	if len(o.Dirs) == 0 {
		lines, err := unpack(packed)
		if err != nil {
			return nil, nil, err
		}
		if l, err := loadEvaluated(lines, seams.CUE); l != nil || err != nil {
			return l, nil, err
		}
	}
	l, findings, err := loadOurs()
	if err != nil {
		return nil, nil, err
	}
	if finding.AtLeast(findings, finding.Error) {
		return nil, nil, fmt.Errorf("the embedded ladder is broken: %s", findings[0])
	}
	for _, dir := range o.Dirs {
		// os.DirFS would say that "." is not there.
		if info, err := os.Stat(dir); err != nil {
			return nil, nil, fmt.Errorf("read rungs: %w", err)
		} else if !info.IsDir() {
			return nil, nil, fmt.Errorf("read rungs: %s is a file: want a directory of CUE files", dir)
		}
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
	return append(findings, e.unknownNames()...)
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
