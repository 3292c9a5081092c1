package tier

import (
	"fmt"
	"slices"
)

// reached reports whether a step was begun.
func (j Journal) reached(s Step) bool {
	all := steps()
	return slices.Index(all, j.Step) >= slices.Index(all, s)
}

// forward are the steps that are still to do: from the last that was begun on,
// since each can be done again.
func (j Journal) forward() []Step {
	all := steps()
	i := slices.Index(all, j.Step)
	if i < 0 || j.Step == Done {
		return nil
	}
	return all[i : len(all)-1]
}

// back are the steps to undo, the last first. Once writes were let through to
// the target, the source lacks them, and only a move the other way goes back.
func (j Journal) back() ([]Step, error) {
	if j.reached(Thaw) {
		return nil, fmt.Errorf("%s is in %s and has been written to there since: move it with --to %s", j.Group, j.To, j.To.Other())
	}
	all := steps()
	undo := slices.Clone(all[:slices.Index(all, j.Step)+1])
	slices.Reverse(undo)
	return undo, nil
}

// request is what a user asks of a mover.
type request string

const (
	start    request = "move"
	resume   request = "--resume"
	rollback request = "--rollback"
	cleanUp  request = "--clean-up"
)

// admissible is an error when a request does not fit the journal that is there,
// nil for none.
func admissible(ask request, group string, to Place, have *Journal) error {
	if have == nil {
		if ask != start {
			return fmt.Errorf("%s: no move of %s was begun", ask, group)
		}
		return nil
	}
	running := have.Step != Done
	switch {
	case ask == start && running:
		return fmt.Errorf("a move of %s to %s is at the step %s: go on with --resume or back with --rollback", group, have.To, have.Step)
	case ask == start && have.To == to:
		return fmt.Errorf("%s was moved to %s already; --clean-up ends it", group, to)
	case ask == start && have.CleaningUp:
		return fmt.Errorf("the clean-up of %s was cut off; finish it with --clean-up first", group)
	case ask == resume && !running:
		return fmt.Errorf("the move of %s to %s is over; --clean-up deletes what it left in %s", group, have.To, have.To.Other())
	case ask == rollback && have.RollingBack, ask == resume && have.RollingBack:
		return nil
	case ask == rollback:
		_, err := have.back()
		return err
	case ask == cleanUp && running:
		return fmt.Errorf("the move of %s is at the step %s, and both sides are needed until it is over", group, have.Step)
	}
	return nil
}

// explain says what a step does.
func explain(s Step, to Place) string {
	from := to.Other()
	return map[Step]string{
		Freeze: "refuse writes to the group, by a ValidatingAdmissionPolicy that both servers enforce",
		Fence:  fmt.Sprintf("raise the revision of %s's etcd above that of %s's, so that clients list anew", to, from),
		Copy:   fmt.Sprintf("copy the keys from %s's etcd to %s's, until nothing differs", from, to),
		Define: fmt.Sprintf("define the group's resources in %s", to),
		Switch: fmt.Sprintf("let the group's APIServices lead to %s", to),
		Close:  fmt.Sprintf("have %s end its watches of the group", from),
		Verify: fmt.Sprintf("compare both etcds and what %s serves", to),
		Thaw:   "take writes again",
	}[s]
}
