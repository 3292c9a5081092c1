package recipe

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"cuelang.org/go/cue"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
)

// Ladder is every rung there is, compiled once. It may be used by several
// goroutines. What it keeps grows with the number of sets of rungs that were
// chosen, never with the number of profiles.
type Ladder struct {
	build  *builder
	ctx    *cue.Context
	schema cue.Value
	base   cue.Value

	entries []*entry
	byID    map[string]*entry

	mu    sync.Mutex
	cache map[string]unified
}

// entry is one rung, decoded as far as it was needed.
type entry struct {
	value, moves cue.Value
	file         string
	line         int

	// rung has what selection reads; it never changes. whole has the rest, too,
	// once it was asked for.
	rung  Rung
	whole *Rung
	// still is whether the rung moves nothing, once that was asked.
	still, asked bool
}

// unified is the outcome of unifying the base with a set of rungs.
type unified struct {
	settings Settings
	findings []finding.Finding
}

// head is what selection reads of a rung; the texts are decoded when shown.
type head struct {
	ID       string                               `json:"id"`
	Axis     estimate.Axis                        `json:"axis"`
	Order    int                                  `json:"order"`
	Title    string                               `json:"title"`
	Status   Status                               `json:"status"`
	Optional bool                                 `json:"optional"`
	Envelope map[estimate.Axis]map[string]float64 `json:"envelope"`
	Requires Requires                             `json:"requires"`
}

func (e *entry) decodeHead() error {
	var h head
	if err := e.value.Decode(&h); err != nil {
		return err
	}
	e.rung = Rung{
		ID: h.ID, Axis: h.Axis, Order: h.Order, Title: h.Title, Status: h.Status,
		Optional: h.Optional, Envelope: h.Envelope, Requires: h.Requires,
	}
	return nil
}

// full is the whole rung. The ladder must be locked.
func (e *entry) full() (Rung, error) {
	if e.whole == nil {
		var r Rung
		if err := e.value.Decode(&r); err != nil {
			return e.rung, err
		}
		r.Summary = strings.Join(strings.Fields(r.Summary), " ")
		prune(r.Moves)
		e.whole = &r
	}
	return *e.whole, nil
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

// movesNothing reports whether unifying the rung would change nothing, as with
// the stock rungs. The ladder must be locked.
func (e *entry) movesNothing() bool {
	if !e.asked {
		var s Settings
		e.still, e.asked = e.moves.Decode(&s) == nil && reflect.DeepEqual(s, Settings{}), true
	}
	return e.still
}

// Rungs lists the ladder, axis by axis, lowest first.
func (l *Ladder) Rungs() []Rung {
	l.mu.Lock()
	defer l.mu.Unlock()
	rungs := make([]Rung, len(l.entries))
	for i, e := range l.entries {
		// A rung that was validated and whose head was decoded decodes.
		rungs[i], _ = e.full()
	}
	return rungs
}

// Rung finds a rung by its ID; ok is false when there is none.
func (l *Ladder) Rung(id string) (r Rung, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.byID[id]
	if !ok {
		return Rung{}, false
	}
	r, _ = e.full()
	return r, true
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
// between them. The set is in the order of the ladder.
func (l *Ladder) unify(ids []string) unified {
	l.mu.Lock()
	defer l.mu.Unlock()
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return l.byID[id].movesNothing() })
	key := strings.Join(ids, "+")
	if u, ok := l.cache[key]; ok {
		return u
	}
	u := l.compute(ids)
	l.cache[key] = u
	return u
}

func (l *Ladder) compute(ids []string) unified {
	v := l.base
	for _, id := range ids {
		v = v.Unify(l.byID[id].moves)
	}
	err := v.Validate(cue.Concrete(true))
	var u unified
	if err == nil {
		err = v.Decode(&u.settings)
	}
	if err != nil {
		u.findings = conflictFindings(ids, err)
	}
	return u
}

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
