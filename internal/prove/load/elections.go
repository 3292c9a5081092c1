package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"github.com/kubeseams/seams/internal/scrape"
)

// Elections is a load of leader elections, each of one candidate that leads and
// one that waits, by client-go's own elector with its components' timing.
type Elections struct {
	Driver *Driver
	// Count of elections.
	Count int
	// LeaseDuration, RenewDeadline and RetryPeriod are of the elector; 0 is 15 s,
	// 10 s and 2 s, as components have.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	// Namespace of the Leases; empty is "prove-elections".
	Namespace string

	stop    context.CancelFunc
	running sync.WaitGroup
	leading []atomic.Int32 // by election
	begun   atomic.Int64   // terms
	lost    atomic.Int64   // terms that ended by themselves
	clashes atomic.Int64   // terms that began while another led
}

// Name of the load.
func (e *Elections) Name() string { return "elections" }

func (e *Elections) namespace() string {
	if e.Namespace == "" {
		return "prove-elections"
	}
	return e.Namespace
}

// Prepare starts all candidates, and returns when every election has a leader.
func (e *Elections) Prepare(ctx context.Context) error {
	if e.stop != nil {
		return errors.New("elections are held already")
	}
	if err := e.Driver.ensureNamespace(ctx, e.namespace()); err != nil {
		return err
	}
	// The electors would log every try.
	life, stop := context.WithCancel(klog.NewContext(context.WithoutCancel(ctx), klog.Logger{}))
	e.stop, e.leading = stop, make([]atomic.Int32, e.Count)
	for i := range e.Count {
		for j := range 2 {
			candidate, err := e.candidate(i, j)
			if err != nil {
				return err
			}
			e.running.Go(func() {
				// Run ends with the term: a real component would be started anew.
				for life.Err() == nil {
					candidate.Run(life)
				}
			})
		}
	}
	for e.led() < e.Count {
		e.Driver.progress(Progress{e.Name(), "prepare", e.led(), e.Count})
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d elections have a leader: %w", e.led(), e.Count, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

func (e *Elections) led() int {
	n := 0
	for i := range e.leading {
		if e.leading[i].Load() > 0 {
			n++
		}
	}
	return n
}

func (e *Elections) candidate(i, j int) (*leaderelection.LeaderElector, error) {
	name := fmt.Sprintf("election-%05d", i)
	candidate, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: name, Namespace: e.namespace()},
			Client:     e.Driver.client(2*i + j).core.coordination,
			LockConfig: resourcelock.ResourceLockConfig{Identity: fmt.Sprintf("%s-%d", name, j)},
		},
		LeaseDuration: orDefault(e.LeaseDuration, 15*time.Second),
		RenewDeadline: orDefault(e.RenewDeadline, 10*time.Second),
		RetryPeriod:   orDefault(e.RetryPeriod, 2*time.Second),
		Name:          name,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				e.begun.Add(1)
				if e.leading[i].Add(1) > 1 {
					e.clashes.Add(1)
				}
				<-ctx.Done()
				e.leading[i].Add(-1)
			},
			OnStoppedLeading: func() { e.lost.Add(1) },
		},
	})
	if err != nil {
		return nil, fmt.Errorf("election %s: %w", name, err)
	}
	return candidate, nil
}

// Run watches the elections for d.
func (e *Elections) Run(ctx context.Context, d time.Duration) (*Result, error) {
	if e.stop == nil {
		return nil, errors.New("elections are not prepared")
	}
	begun, lost, clashes := e.begun.Load(), e.lost.Load(), e.clashes.Load()
	table := e.Driver.timetable()
	leaderless, seconds := 0, 0
	saturation := e.Driver.watchSaturation()
	began := time.Now()
	err := table.run(ctx, d, func(at time.Duration) {
		leaderless, seconds = leaderless+e.Count-e.led(), seconds+1
		e.Driver.progress(Progress{e.Name(), "run", int(at.Seconds()), int(d.Seconds())})
	})
	r := &Result{Load: e.Name(), Seconds: time.Since(began).Seconds()}
	r.count("elections", int64(e.Count))
	// A term that began in the run is a change of leader: all had one before.
	r.count("leader-changes", e.begun.Load()-begun)
	r.count("leaders-lost", e.lost.Load()-lost)
	r.count("two-leaders", e.clashes.Load()-clashes)
	r.put("leaderless-ratio", "", float64(leaderless)/float64(max(seconds*e.Count, 1)))
	r.put("election-renewals-asked-per-second", scrape.PerSecond, float64(e.Count)/orDefault(e.RetryPeriod, 2*time.Second).Seconds())
	saturation.judge(r, table)
	return r.finish(e.Driver, &failures{}), err
}

// Cleanup ends the elections and deletes their Leases.
func (e *Elections) Cleanup(ctx context.Context) error {
	if e.stop != nil {
		e.stop()
		e.running.Wait()
		e.stop = nil
	}
	leases := e.Driver.client(0).core.leases(e.namespace())
	err := leases.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	if ignoreNotFound(err) != nil {
		return fmt.Errorf("delete leases of elections: %w", err)
	}
	return e.Driver.dropNamespace(ctx, e.namespace())
}
