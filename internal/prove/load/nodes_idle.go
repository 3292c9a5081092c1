package load

import (
	"context"
	"time"
)

// idle is what nodes do between Prepare and Run: kubelets renew from when they
// have registered. Without it a control plane that is left to settle for longer
// than the grace period of nodes (50 s) has them Unknown, and writes that into
// each of them.
type idle struct {
	stop  chan struct{}
	ended chan struct{}
}

// idleAtMost is a bound for whoever prepares and never runs.
const idleAtMost = 12 * time.Hour

// begin has the nodes renew and report, of which nothing is measured. What
// fails is tried again at the next turn, and fails Run as well.
func (n *Nodes) begin(ctx context.Context) {
	n.end()
	run := &nodesRun{Nodes: n, table: n.Driver.timetable(), renewal: newDelays(), status: newDelays()}
	run.plan()
	i := &idle{stop: make(chan struct{}), ended: make(chan struct{})}
	run.table.stopped, n.idle = i.stop, i
	go func() {
		defer close(i.ended)
		_ = run.table.run(ctx, idleAtMost, func(time.Duration) {})
	}()
}

// end stops that, and waits for what is under way.
func (n *Nodes) end() {
	if n.idle == nil {
		return
	}
	close(n.idle.stop)
	<-n.idle.ended
	n.idle = nil
}
