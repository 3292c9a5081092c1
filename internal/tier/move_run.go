package tier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Move moves the group, from the beginning.
func (m *Mover) Move(ctx context.Context) error {
	return m.locked(ctx, start, func(ctx context.Context) error {
		var over *Journal
		if m.j != nil {
			over = &m.j.Journal
		}
		s, err := m.survey(ctx, over)
		if err != nil {
			return err
		}
		m.log("%s: %d objects, %d bytes, go to %s", s.Group, s.Objects, s.Bytes, s.To)
		first := Journal{
			Group: m.o.Group, To: m.o.To, Tier: m.tierText(), Step: Freeze, Versions: s.Versions, Started: m.o.Now().UTC().Truncate(time.Second), By: m.o.Holder,
		}
		if m.j, err = begin(ctx, m.o.Cluster.Main[0], m.j, first); err != nil {
			return err
		}
		return m.goOn(ctx)
	})
}

// Resume goes on with a move, or with its rollback, from where it stopped.
func (m *Mover) Resume(ctx context.Context) error {
	return m.locked(ctx, resume, func(ctx context.Context) error {
		if m.j.RollingBack {
			return m.undo(ctx)
		}
		return m.goOn(ctx)
	})
}

// Rollback undoes a move that is not over.
func (m *Mover) Rollback(ctx context.Context) error {
	return m.locked(ctx, rollback, func(ctx context.Context) error {
		if !m.j.RollingBack {
			m.j.RollingBack = true
			if err := m.j.save(ctx); err != nil {
				return err
			}
		}
		return m.undo(ctx)
	})
}

func (m *Mover) tierText() string {
	t := m.o.Cluster.Target
	return fmt.Sprintf("%s/%s:%d", t.Namespace, t.Service, t.Port)
}

// locked does something while this mover is the only one.
func (m *Mover) locked(ctx context.Context, ask request, do func(context.Context) error) error {
	l, held, err := acquire(ctx, m.o.Cluster.Main[0], m.o.Holder, m.o.LockDuration, m.log)
	if err != nil {
		return err
	}
	defer l.release()
	if m.j, err = readJournal(held, m.o.Cluster.Main[0], m.o.Group); err != nil {
		return err
	}
	var have *Journal
	if m.j != nil {
		have = &m.j.Journal
	}
	if err := admissible(ask, m.o.Group, m.o.To, have); err != nil {
		return err
	}
	if have != nil && ask != start {
		if have.Tier != m.tierText() {
			return fmt.Errorf("the move of %s is between main and %s, not %s", m.o.Group, have.Tier, m.tierText())
		}
		m.o.To = have.To
	}
	defer m.drop()
	err = do(held)
	if cause := context.Cause(held); cause != nil && err != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w (%v)", cause, err)
	}
	return err
}

// goOn does the steps that are left, each written down before it is begun.
func (m *Mover) goOn(ctx context.Context) error {
	left := m.j.forward()
	all := steps()
	for _, step := range left {
		if m.j.Step != step {
			m.j.Step = step
			if err := m.j.save(ctx); err != nil {
				return err
			}
		}
		m.log("[%d/%d] %s: %s", slices.Index(all, step)+1, len(all)-1, step, explain(step, m.o.To))
		if err := m.do(ctx, step); err != nil {
			return fmt.Errorf("%s: %w\nthe move stands at this step, with writes to %s refused: go on with --resume, or back with --rollback", step, err, m.o.Group)
		}
	}
	m.j.Step = Done
	if err := m.j.save(ctx); err != nil {
		return err
	}
	m.log("%s is in %s; %s still has its old keys, which --clean-up deletes", m.o.Group, m.o.To, m.o.To.Other())
	return nil
}

func (m *Mover) do(ctx context.Context, step Step) error {
	switch step {
	case Freeze:
		return m.freeze(ctx)
	case Fence:
		return m.raise(ctx, m.o.To)
	case Copy:
		return m.copy(ctx)
	case Define:
		return m.define(ctx)
	case Switch:
		return m.switchOver(ctx, m.o.To)
	case Close:
		return m.closeWatches(ctx, m.o.To.Other())
	case Verify:
		return m.verify(ctx)
	case Thaw:
		if err := m.level(ctx, m.o.To); err != nil {
			return err
		}
		return m.thaw(ctx)
	}
	return fmt.Errorf("nobody knows how to %s", step)
}

// undo takes a move back to its beginning, whatever was done of it.
func (m *Mover) undo(ctx context.Context) error {
	from, to := m.o.To.Other(), m.o.To
	undo, err := m.j.back()
	if err != nil {
		return err
	}
	m.log("going back from the step %s", undo[0])
	if m.j.reached(Define) {
		m.log("[back] definitions of %s as they were", from)
		if err := m.mark(ctx, from, from); err != nil {
			return err
		}
	}
	if m.j.reached(Switch) {
		m.log("[back] %s leads to %s again", m.o.Group, from)
		if err := m.raise(ctx, from); err != nil {
			return err
		}
		if err := m.switchOver(ctx, from); err != nil {
			return err
		}
		if err := m.closeWatches(ctx, to); err != nil {
			return err
		}
	}
	if m.j.reached(Copy) {
		if err := m.leadsTo(ctx, from); err != nil {
			return err
		}
		n, err := clear(ctx, m.side(to))
		if err != nil {
			return err
		}
		m.log("[back] %d keys deleted from %s's etcd", n, to)
	}
	if m.j.reached(Define) {
		m.log("[back] definitions of %s", to)
		if err := m.undefine(ctx, to, m.j.Made); err != nil {
			return err
		}
	}
	m.log("[back] take writes again")
	if err := m.thaw(ctx); err != nil {
		return err
	}
	if err := m.j.remove(ctx); err != nil {
		return err
	}
	m.log("%s is in %s, as it was", m.o.Group, from)
	return nil
}

// CleanUp ends a move: it deletes what the source still has, once more making
// sure that nobody reads or has written it since.
func (m *Mover) CleanUp(ctx context.Context, keepDefinition bool) error {
	return m.locked(ctx, cleanUp, func(ctx context.Context) error {
		from, to := m.o.To.Other(), m.o.To
		if err := m.leadsTo(ctx, to); err != nil {
			return err
		}
		left, err := compare(ctx, m.side(from), m.side(from), false)
		if err != nil {
			return err
		}
		// An earlier clean-up may have been cut off: then some are gone.
		if !m.j.CleaningUp && (m.j.Moved == nil || left.Digest != *m.j.Moved) {
			return fmt.Errorf("%s's etcd has other keys of %s than were moved: somebody has written them since, and they are left alone", from, m.o.Group)
		}
		m.j.CleaningUp = true
		if err := m.j.save(ctx); err != nil {
			return err
		}
		n, err := clear(ctx, m.side(from))
		if err != nil {
			return err
		}
		m.log("%d keys deleted from %s's etcd", n, from)
		if from == Tier || !keepDefinition {
			crds, err := crdsOf(ctx, m.servers(from)[0], []string{m.o.Group})
			if err != nil {
				return err
			}
			for _, crd := range sortedCRDs(crds) {
				if err := m.removeEmpty(ctx, from, crd); err != nil {
					return err
				}
				m.log("%s is no longer defined in %s", crd.Name, from)
			}
		}
		return m.j.remove(ctx)
	})
}
