package recipe

import (
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
)

// Ladder is every rung there is. It may be used by several goroutines. What it
// keeps grows with the number of sets of rungs that were chosen, never with the
// number of profiles.
type Ladder struct {
	entries []*entry
	byID    map[string]*entry

	mu    sync.Mutex
	cache map[string]unified
	// table has what sets of rungs come to, where that was evaluated ahead.
	table *table
	// source is nil until something is asked that the table does not have.
	source *source
}

func newLadder() *Ladder {
	return &Ladder{byID: map[string]*entry{}, cache: map[string]unified{}}
}

// entry is one rung, and where it is written.
type entry struct {
	rung Rung
	file string
	line int
	// still is whether unifying the rung would change nothing, as with the stock
	// rungs.
	still bool
}

// unified is the outcome of unifying the base with a set of rungs.
type unified struct {
	settings Settings
	findings []finding.Finding
}

// add adds a rung. Its numbers get one type, whether CUE or the table has them:
// what is whole is an integer.
func (l *Ladder) add(e *entry) {
	integers(map[string]any(e.rung.Moves))
	if e.rung.Proof != nil {
		integers(e.rung.Proof.Load)
	}
	l.byID[e.rung.ID] = e
	l.entries = append(l.entries, e)
}

func integers(v any) any {
	switch v := v.(type) {
	case float64:
		if whole := int64(v); float64(whole) == v && math.Abs(v) < 1<<53 {
			return whole
		}
	case map[string]any:
		for k := range v {
			v[k] = integers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	}
	return v
}

// Rungs lists the ladder, axis by axis, lowest first.
func (l *Ladder) Rungs() []Rung {
	rungs := make([]Rung, len(l.entries))
	for i, e := range l.entries {
		rungs[i] = e.rung
	}
	return rungs
}

// Rung finds a rung by its ID; ok is false when there is none.
func (l *Ladder) Rung(id string) (r Rung, ok bool) {
	e, ok := l.byID[id]
	if !ok {
		return Rung{}, false
	}
	return e.rung, true
}

// of lists the rungs of an axis that selection may choose, lowest first.
func (l *Ladder) of(axis estimate.Axis) []*entry {
	var es []*entry
	for _, e := range l.entries {
		if e.rung.Axis == axis && !e.rung.Optional {
			es = append(es, e)
		}
	}
	return es
}

// unify gives the settings that a set of rungs comes to, or the conflict
// between them. The set is in the order of the ladder. Errors: none while the
// embedded ladder is whole.
func (l *Ladder) unify(ids []string) (unified, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return l.byID[id].still })
	key := setKey(ids)
	if u, ok := l.cache[key]; ok {
		return u, nil
	}
	u, err := l.evaluate(ids)
	if err == nil {
		l.cache[key] = u
	}
	return u, err
}

// evaluate looks a set up in the table, and asks CUE about those that are not
// there: with optional rungs, or of rungs that contradict each other.
func (l *Ladder) evaluate(ids []string) (unified, error) {
	if l.table != nil {
		if s, ok, err := l.table.settings(ids); ok || err != nil {
			return unified{settings: s}, err
		}
	}
	if l.source == nil {
		ours, _, err := loadOurs()
		if err != nil {
			return unified{}, err
		}
		l.source = ours.source
	}
	return l.source.unify(ids), nil
}

// setKey names a set of rungs.
func setKey(ids []string) string { return strings.Join(ids, "+") }

// in puts rung IDs into the order of the ladder.
func (l *Ladder) in(ids []string) []string {
	var ordered []string
	for _, e := range l.entries {
		if slices.Contains(ids, e.rung.ID) {
			ordered = append(ordered, e.rung.ID)
		}
	}
	return ordered
}
