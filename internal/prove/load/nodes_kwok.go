package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/kubeseams/seams/internal/scrape"
)

// renewals is what a watch on Leases shows of nodes that another process renews.
type renewals struct {
	mu      sync.Mutex
	last    map[string]time.Time
	longest time.Duration
	count   int64
}

// kwokReady is how long kwok gets for what a node of its own takes seconds for.
const kwokReady = 5 * time.Minute

// awaitKwok waits until kwok has made every node Ready.
func (n *Nodes) awaitKwok(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, kwokReady)
	defer cancel()
	for {
		ready, err := n.ready(ctx)
		if err == nil && ready >= 1 {
			return nil
		}
		n.Driver.progress(Progress{n.Name(), "prepare", int(ready * float64(n.Count)), n.Count})
		select {
		case <-ctx.Done():
			return fmt.Errorf("kwok has made %.0f %% of the nodes Ready: does it run, with rights to them? %w", ready*100, context.Cause(ctx))
		case <-time.After(time.Second):
		}
	}
}

// runKwok watches the renewals of a kwok process: their number and the longest
// time without one. How long each took only kwok knows.
func (n *Nodes) runKwok(ctx context.Context, d time.Duration) (*Result, error) {
	var fails failures
	saturation := n.Driver.watchSaturation()
	table := n.Driver.timetable()
	began := time.Now()
	s := &renewals{last: map[string]time.Time{}}
	for _, h := range n.nodes {
		s.last[h.name] = began
	}
	watching, stop := context.WithTimeout(ctx, d)
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() { s.follow(watching, n.Driver.client(0), &fails) })
	err := table.run(ctx, d, func(at time.Duration) {
		n.Driver.progress(Progress{n.Name(), "run", int(at.Seconds()), int(d.Seconds())})
	})
	stop()
	wg.Wait()

	r := &Result{Load: n.Name(), Seconds: time.Since(began).Seconds()}
	for _, at := range s.last {
		s.longest = max(s.longest, time.Since(at))
	}
	r.count("nodes", int64(n.Count))
	r.count("lease-renewals", s.count)
	r.put("lease-renewals-per-second", scrape.PerSecond, float64(s.count)/d.Seconds())
	r.put("lease-gap-max-seconds", scrape.Seconds, s.longest.Seconds())
	saturation.judge(r, table)
	ready, readyErr := n.ready(ctx)
	if readyErr == nil {
		r.put("nodes-ready-ratio", "", ready)
	}
	return r.finish(n.Driver, &fails), errors.Join(err, readyErr)
}

func (s *renewals) follow(ctx context.Context, c *client, fails *failures) {
	const path = "/apis/coordination.k8s.io/v1/namespaces/" + leaseNamespace + "/leases"
	for ctx.Err() == nil {
		version, _, err := c.list(ctx, path, nil, 500, func(seen) {})
		if err == nil {
			err = c.watch(ctx, path, map[string]string{"resourceVersion": version}, true, s.take)
		}
		if ctx.Err() == nil && err != nil && !errors.Is(err, errExpired) {
			fails.add(err)
			time.Sleep(100 * time.Millisecond)
		}
	}
}

func (s *renewals) take(e event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ours := s.last[e.Object.Metadata.Name]
	if !ours || e.Type != "MODIFIED" && e.Type != "ADDED" {
		return nil
	}
	now := time.Now()
	s.longest = max(s.longest, now.Sub(at))
	s.last[e.Object.Metadata.Name] = now
	s.count++
	return nil
}
