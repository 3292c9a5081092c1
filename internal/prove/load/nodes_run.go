package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubeseams/seams/internal/scrape"
)

// nodesRun is one run of hollow nodes that the driver renews.
type nodesRun struct {
	*Nodes
	table                                                   *timetable
	renewal, status                                         *delays
	due, done, late, missed, conflicts, reports, unreported atomic.Int64
	failures                                                failures
}

// Run renews Leases and reports status for d.
func (n *Nodes) Run(ctx context.Context, d time.Duration) (*Result, error) {
	if len(n.nodes) == 0 {
		return nil, errors.New("nodes are not prepared")
	}
	if n.RenewedBy == Kwok {
		return n.runKwok(ctx, d)
	}
	n.end()
	run := &nodesRun{Nodes: n, table: n.Driver.timetable(), renewal: newDelays(), status: newDelays()}
	run.plan()
	saturation := n.Driver.watchSaturation()
	began := time.Now()
	for _, h := range n.nodes {
		h.renewed, h.gap = began, 0
	}
	err := run.table.run(ctx, d, func(at time.Duration) {
		n.Driver.progress(Progress{n.Name(), "run", int(at.Seconds()), int(d.Seconds())})
	})
	r := run.result(time.Since(began), d)
	saturation.judge(r, run.table)
	ready, readyErr := n.ready(ctx)
	if readyErr == nil {
		r.put("nodes-ready-ratio", "", ready)
	}
	return r.finish(n.Driver, &run.failures), errors.Join(err, readyErr)
}

// plan spreads the first renewals and reports over their interval, as nodes that
// started at different times are.
func (run *nodesRun) plan() {
	r := run.Driver.random(run.prefix() + "/run")
	every := orDefault(run.StatusEvery, 5*time.Minute)
	for i := range run.nodes {
		jitter := rand.New(rand.NewPCG(r.Uint64(), r.Uint64()))
		first := time.Duration(jitter.Float64() * float64(run.interval()))
		run.table.at(first, func(due time.Duration) { run.renewDue(i, due, jitter) })
		run.table.every(time.Duration(jitter.Float64()*float64(every)), every, func(_ int, due time.Duration) { run.reportDue(i, due) })
	}
}

func (run *nodesRun) renewDue(i int, due time.Duration, jitter *rand.Rand) {
	next := due + time.Duration(float64(run.interval())*(1+renewJitter*jitter.Float64()))
	run.table.at(next, func(due time.Duration) { run.renewDue(i, due, jitter) })
	run.due.Add(1)
	h := run.nodes[i]
	if !h.busy.CompareAndSwap(false, true) {
		run.missed.Add(1)
		return
	}
	started := run.table.start(due, func(ctx context.Context) {
		defer h.busy.Store(false)
		if err := run.renew(ctx, i); err != nil {
			run.failures.add(err)
			return
		}
		now := time.Now()
		h.gap, h.renewed = max(h.gap, now.Sub(h.renewed)), now
		delay := run.table.since(due)
		run.renewal.observe(delay)
		run.done.Add(1)
		if delay > orDefault(run.LateAfter, time.Second) {
			run.late.Add(1)
		}
	})
	if !started {
		h.busy.Store(false)
		run.missed.Add(1)
	}
}

// renew writes the lease from the last answer, without reading it first; after a
// conflict it reads, and a lease that is gone is made again. So does the kubelet.
func (run *nodesRun) renew(ctx context.Context, i int) error {
	h, leases := run.nodes[i], run.Driver.client(i).core.leases(leaseNamespace)
	var err error
	for range renewAttempts {
		lease, e := leases.Update(ctx, run.Nodes.renewal(h), metav1.UpdateOptions{})
		if err = e; err == nil {
			h.lease = lease
			return nil
		}
		switch {
		case apierrors.IsConflict(err):
			run.conflicts.Add(1)
			lease, e := leases.Get(ctx, h.name, metav1.GetOptions{})
			if e == nil {
				h.lease = lease
			} else if apierrors.IsNotFound(e) && run.create(ctx, i) {
				return nil
			}
		case apierrors.IsNotFound(err):
			if run.create(ctx, i) {
				return nil
			}
		}
		if ctx.Err() != nil {
			break
		}
	}
	return fmt.Errorf("renew lease of node %s: %w", h.name, err)
}

// create makes a lease that is gone again. A store that lost everything says
// conflict to an update, and not found only to whoever reads.
func (run *nodesRun) create(ctx context.Context, i int) bool {
	h, leases := run.nodes[i], run.Driver.client(i).core.leases(leaseNamespace)
	h.lease = nil
	lease, err := leases.Create(ctx, run.Nodes.renewal(h), metav1.CreateOptions{})
	if err != nil {
		return false
	}
	h.lease = lease
	return true
}

func (run *nodesRun) reportDue(i int, due time.Duration) {
	body, err := heartbeat(time.Now())
	if err != nil {
		run.failures.add(err)
		return
	}
	started := run.table.start(due, func(ctx context.Context) {
		_, err := run.Driver.client(i).core.nodes().Patch(ctx, run.nodes[i].name,
			types.StrategicMergePatchType, body, metav1.PatchOptions{}, "status")
		if err != nil {
			run.failures.add(err)
			return
		}
		run.status.observe(run.table.since(due))
		run.reports.Add(1)
	})
	if !started {
		run.unreported.Add(1)
	}
}

func (run *nodesRun) result(took, asked time.Duration) *Result {
	r := &Result{Load: run.Name(), Seconds: took.Seconds()}
	r.count("nodes", int64(run.Count))
	r.count("lease-renewals-due", run.due.Load())
	r.count("lease-renewals", run.done.Load())
	r.count("lease-renewals-late", run.late.Load())
	r.count("lease-renewals-missed", run.missed.Load())
	r.count("lease-renewals-failed", run.due.Load()-run.done.Load()-run.missed.Load())
	r.count("lease-conflicts", run.conflicts.Load())
	r.count("status-reports", run.reports.Load())
	r.count("status-reports-missed", run.unreported.Load())
	r.put("lease-renewals-per-second", scrape.PerSecond, float64(run.done.Load())/asked.Seconds())
	r.delay("lease-renewal", run.renewal)
	r.delay("status-report", run.status)
	longest := time.Duration(0)
	for _, h := range run.nodes {
		longest = max(longest, h.gap, time.Since(h.renewed))
	}
	// What the controller manager's grace period is held against.
	r.put("lease-gap-max-seconds", scrape.Seconds, longest.Seconds())
	return r
}

// ready is the share of the nodes that are Ready, as the API shows them.
func (n *Nodes) ready(ctx context.Context) (float64, error) {
	ready, from := 0, ""
	for {
		page, err := n.Driver.client(0).core.nodes().List(ctx, metav1.ListOptions{LabelSelector: n.label(), Limit: 500, Continue: from})
		if err != nil {
			return 0, fmt.Errorf("list nodes: %w", err)
		}
		for _, node := range page.Items {
			for _, c := range node.Status.Conditions {
				if c.Type == core.NodeReady && c.Status == core.ConditionTrue {
					ready++
				}
			}
		}
		if from = page.Continue; from == "" {
			return float64(ready) / float64(n.Count), nil
		}
	}
}
