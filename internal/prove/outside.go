package prove

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/scrape"
)

// What follows is for a cluster that was there before: its load is driven in
// parts, by package cluster, and what cannot be seen of it decides nothing.

// Asked is the load that a run of a rung's proof drives. Errors: the rung has no
// proof, or one that is not understood.
func Asked(rung recipe.Rung, scale float64, seconds int) (Demand, error) {
	if rung.Proof == nil {
		return Demand{}, fmt.Errorf("%s has no proof: nobody has built it", rung.ID)
	}
	d, err := demandOf(rung.Proof)
	if err != nil {
		return Demand{}, fmt.Errorf("%s: %w", rung.ID, err)
	}
	if scale > 0 {
		d = d.scaled(scale)
	}
	if seconds > 0 && d.Seconds > 0 {
		d.Seconds = seconds
	}
	return d, nil
}

// Settle is how long a control plane is left alone after the load is prepared.
func (d Demand) Settle() time.Duration {
	if d.Kind == KindNodes {
		return settleNodes + time.Duration(d.Nodes)*time.Second/nodesPerSecond
	}
	return settle
}

// Custom are the custom resources that the load needs.
func (d Demand) Custom() []load.Custom {
	var all []load.Custom
	for _, group := range d.groups() {
		switch d.Kind {
		case KindCustomWrites:
			all = append(all, load.Sessions(group))
		case KindObjects, KindShards:
			all = append(all, load.Dormants(group))
		}
	}
	return all
}

// Parts is into how many parts the load can be cut, at most n: each has
// something of everything.
func (d Demand) Parts(n int) int {
	for _, have := range []int{d.Nodes, d.Elections, d.Objects / max(d.Groups, 1), d.RBACObjects} {
		if have > 0 {
			n = min(n, have)
		}
	}
	return max(n, 1)
}

// Part is part i of n. All parts together are the load: counts differ by one
// at most, and rates are even.
func (d Demand) Part(i, n int) Demand {
	share := func(k int) int {
		if i < k%n {
			return k/n + 1
		}
		return k / n
	}
	objects := share(d.Objects/max(d.Groups, 1)) * max(d.Groups, 1)
	d.Nodes, d.Elections, d.RBACObjects, d.Objects = share(d.Nodes), share(d.Elections), share(d.RBACObjects), objects
	d.PodsPerSecond /= float64(n)
	d.WritesPerSecond /= float64(n)
	d.EventsPerSecond /= float64(n)
	return d
}

// Lag is how much later than the first part this one starts, so that the calls
// of all parts interleave into the timetable that they were cut from.
func (d Demand) Lag(i int) time.Duration {
	for _, rate := range []float64{d.WritesPerSecond, d.EventsPerSecond, d.PodsPerSecond} {
		if rate > 0 {
			return time.Duration(float64(i) / rate * float64(time.Second))
		}
	}
	return 0
}

// Steps are the loads of one part, in the order of preparing. The first part
// has what cannot be cut as well: the watches on everything, and with probe a
// trickle of core calls.
func (d Demand) Steps(driver *load.Driver, at Place, first, probe bool) ([]Step, error) {
	loads, err := d.demanded(driver, driver, at)
	if err != nil {
		return nil, err
	}
	var steps []Step
	for _, l := range loads {
		if _, whole := l.Load.(*load.Watchers); !whole || first {
			steps = append(steps, l)
		}
	}
	if probe && first {
		steps = append(steps, Step{Load: &load.Probe{Driver: driver, Namespace: at.Namespace}})
	}
	return steps, nil
}

// Base looks at everything before there is a load, with garbage collected.
// What cannot collect it on demand, since its profiling is off or not allowed,
// has no live heap; the reasons are returned.
func (o *Observer) Base(ctx context.Context) (remarks []string, err error) {
	return o.gather(ctx, func(w *watched, s *scrape.Snapshot) { w.base = s })
}

// Weigh notes what each of count objects of a kind that was prepared made live.
func (o *Observer) Weigh(ctx context.Context, kind string, count int) error {
	for _, w := range o.watched {
		if _, seen := heapOf(w.base); !seen && w.heavy() {
			return nil // no live heap is seen; Base said why
		}
	}
	return o.weigh(ctx, Step{Kind: kind, Count: count})
}

// Before looks at everything when the load begins, After when it ends.
func (o *Observer) Before(ctx context.Context) error {
	return o.look(ctx, func(w *watched, s *scrape.Snapshot) { w.before = s })
}

// After is the counterpart of Before.
func (o *Observer) After(ctx context.Context) error {
	return o.look(ctx, func(w *watched, s *scrape.Snapshot) { w.after = s })
}

// Settled looks at everything after the load, with garbage collected.
func (o *Observer) Settled(ctx context.Context) error {
	_, err := o.gather(ctx, func(w *watched, s *scrape.Snapshot) { w.settled = s })
	return err
}

// heavy says that a process' live heap is a figure.
func (w *watched) heavy() bool { return !w.store() && !strings.HasPrefix(w.Prefix, componentPrefix) }

func (o *Observer) gather(ctx context.Context, keep func(*watched, *scrape.Snapshot)) (remarks []string, err error) {
	for _, w := range o.watched {
		if !w.heavy() {
			s, err := w.Source.Scrape(ctx)
			if err != nil {
				return nil, err
			}
			keep(w, s)
			continue
		}
		s, err := w.Source.HeapAfterGC(ctx)
		if err != nil {
			remarks = append(remarks, fmt.Sprintf("the live heap of %s is not seen: %v", w.Prefix, err))
			continue
		}
		keep(w, s)
	}
	return remarks, ctx.Err()
}

// NotSeen begins the problem of a limit on what a cluster does not show.
const NotSeen = "not seen"

// JudgeSeen compares what was seen of a cluster with limits. A limit on what
// was not seen is not met and not failed either: its problem begins with
// NotSeen, and why says the rest. So is one against the stock layout, which no
// existing cluster has beside it. undecided says that no limit failed and one
// was not seen.
func JudgeSeen(limits []recipe.ProofLimit, seen []scrape.Figure, why func(metric string) string) (lines []Line, undecided bool) {
	lines = Judge(limits, nil, seen)
	failed := false
	for i, l := range lines {
		switch {
		case l.Measured == nil:
			lines[i].Problem = NotSeen + ": " + why(l.Metric)
		case l.Against == "stock":
			lines[i].Problem = NotSeen + ": there is no stock layout beside an existing cluster"
		case !l.Pass:
			failed = true
			continue
		}
		undecided = undecided || lines[i].Problem != ""
	}
	return lines, undecided && !failed
}
