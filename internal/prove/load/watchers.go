package load

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/kubeseams/seams/internal/scrape"
)

// Watchers is a load of watches on one resource. They are open from Prepare to
// Cleanup, so that they can be felt by other loads and weighed between runs.
type Watchers struct {
	Driver *Driver
	// Path of the resource: Custom.Path, or "/api/v1/configmaps".
	Path string
	// LabelSelector narrows the watches; empty is everything.
	LabelSelector string
	// Count of watches; with Shards, of each shard.
	Count int
	// Shards divides each set of watches by a hash range of Field; 0 is none.
	Shards int
	// Field that shards go by; empty is "object.metadata.uid".
	Field string
	// WatchList asks for the initial state as a stream, as client-go does from
	// 1.35 on, instead of by lists.
	WatchList bool
	// Informers makes every watch read the whole initial state first, as a client
	// that starts does. Without it only the first watch of each shard does, and
	// the others begin where the resource is: they are about fan-out, and many
	// full lists at once are a load of another kind.
	Informers bool
	// PerConnection is how many watches share a connection; 0 is 100. A kubelet
	// has one of its own.
	PerConnection int
	// Settle is how long watches may take after a run to have seen everything;
	// 0 is 15 s.
	Settle time.Duration

	watchers []*watcher
	stop     context.CancelFunc
	running  sync.WaitGroup
	fails    failures
}

// Name of the load.
func (w *Watchers) Name() string { return "watchers" }

// Path of a custom resource in all namespaces, for a watch.
func (c Custom) Path() string { return c.path("") }

// ShardSelector is the shardSelector of part i of n: equal ranges of the 64-bit
// hash of a field. Servers want 16 digits, and 17 for the very end.
func ShardSelector(field string, i, n int) string {
	bound := func(i int) string {
		b := new(big.Int).Lsh(big.NewInt(int64(i)), 64)
		return fmt.Sprintf("0x%016x", b.Div(b, big.NewInt(int64(n))))
	}
	return fmt.Sprintf("shardRange(%s, '%s', '%s')", field, bound(i), bound(i+1))
}

// Prepare opens the watches, and returns when each knows the initial state.
func (w *Watchers) Prepare(ctx context.Context) error {
	if w.stop != nil {
		return errors.New("watchers are open already")
	}
	n, shards := w.Count, max(w.Shards, 1)
	w.watchers = make([]*watcher, 0, n*shards)
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	w.stop = stop
	var c *client
	for i := range n * shards {
		if i%orDefault(w.PerConnection, 100) == 0 {
			server := w.Driver.opts.Servers[len(w.watchers)%len(w.Driver.opts.Servers)]
			var err error
			if c, err = w.Driver.connect(server); err != nil {
				return err
			}
		}
		// The first of each shard keeps what it sees; the others only count.
		first := i < shards
		x := &watcher{
			client: c, path: w.Path, params: w.params(i % shards), tracks: first, reads: first || w.Informers,
			synced: make(chan struct{}), fails: &w.fails,
		}
		x.streams = w.WatchList && x.reads
		w.watchers = append(w.watchers, x)
	}
	return w.Driver.each(ctx, w.Name(), "prepare", len(w.watchers), func(ctx context.Context, i int) error {
		x := w.watchers[i]
		w.running.Go(func() { x.follow(life) })
		select {
		case <-x.synced:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("open watch %d: %w (failures: %v)", i, ctx.Err(), w.fails.counts())
		}
	})
}

func (w *Watchers) params(shard int) map[string]string {
	p := map[string]string{}
	if w.LabelSelector != "" {
		p["labelSelector"] = w.LabelSelector
	}
	if w.Shards > 0 {
		field := w.Field
		if field == "" {
			field = "object.metadata.uid"
		}
		p["shardSelector"] = ShardSelector(field, shard, w.Shards)
	}
	return p
}

// Run counts what the watches receive in d, then checks that they have seen
// everything.
func (w *Watchers) Run(ctx context.Context, d time.Duration) (*Result, error) {
	if w.stop == nil {
		return nil, errors.New("watchers are not prepared")
	}
	before := w.totals()
	table := w.Driver.timetable()
	saturation := w.Driver.watchSaturation()
	began := time.Now()
	err := table.run(ctx, d, func(at time.Duration) {
		w.Driver.progress(Progress{w.Name(), "run", int(at.Seconds()), int(d.Seconds())})
	})
	after := w.totals()
	r := &Result{Load: w.Name(), Seconds: time.Since(began).Seconds()}
	r.count("watches", int64(len(w.watchers)))
	r.put("watch-events-per-second", scrape.PerSecond, float64(after.events-before.events)/r.Seconds)
	r.put("watch-bytes-per-second", scrape.BytesPerSecond, float64(after.bytes-before.bytes)/r.Seconds)
	r.count("watch-restarts", after.restarts-before.restarts)
	r.count("watch-relists", after.relists-before.relists)
	saturation.judge(r, table)
	var checkErr error
	if err == nil {
		checkErr = w.check(ctx, r)
	}
	return r.finish(w.Driver, &w.fails), errors.Join(err, checkErr)
}

// totals over all watches.
func (w *Watchers) totals() watchCounts {
	var sum watchCounts
	for _, x := range w.watchers {
		c := x.counts()
		sum.events += c.events
		sum.bytes += c.bytes
		sum.restarts += c.restarts
		sum.relists += c.relists
	}
	return sum
}

// check compares what the watches know with what is there. Watches may lag, and
// other loads may still be writing: the comparison is repeated until it is clean
// or the time for it is over.
func (w *Watchers) check(ctx context.Context, r *Result) error {
	deadline := time.Now().Add(orDefault(w.Settle, 15*time.Second))
	params := map[string]string{}
	if w.LabelSelector != "" {
		params["labelSelector"] = w.LabelSelector
	}
	for {
		there := map[string]string{}
		_, _, err := w.Driver.client(0).list(ctx, w.Path, params, 500, func(s seen) { there[s.UID] = s.ResourceVersion })
		if err != nil {
			return err
		}
		c := w.compare(there)
		if c.clean() || time.Now().After(deadline) {
			w.report(r, c, len(there))
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// comparison of the tracking watches, one of each shard, with what is there.
type comparison struct{ missing, stale, extra, duplicate int64 }

func (c comparison) clean() bool { return c.missing+c.stale+c.extra == 0 }

func (w *Watchers) compare(there map[string]string) comparison {
	var c comparison
	holders := map[string]int{}
	for _, x := range w.watchers[:max(w.Shards, 1)] {
		x.mu.Lock()
		for uid, version := range x.view {
			holders[uid]++
			now, exists := there[uid]
			switch {
			case !exists:
				c.extra++
			case now != version:
				c.stale++
			}
		}
		x.mu.Unlock()
	}
	for uid := range there {
		if holders[uid] == 0 {
			c.missing++
		}
	}
	for _, n := range holders {
		c.duplicate += int64(n - 1)
	}
	return c
}

func (w *Watchers) report(r *Result, c comparison, there int) {
	r.count("watched-objects", int64(there))
	prefix := "watch"
	if w.Shards > 0 {
		prefix = "shard"
		r.count("shard-duplicate-objects", c.duplicate)
		w.egress(r)
	}
	r.count(prefix+"-missing-objects", c.missing)
	r.count(prefix+"-stale-objects", c.stale)
	r.count(prefix+"-extra-objects", c.extra)
}

// egress compares the bytes of shards, initial state included, with an even part
// of all.
func (w *Watchers) egress(r *Result) {
	bytes := make([]float64, w.Shards)
	all := 0.0
	for i, x := range w.watchers {
		b := float64(x.counts().bytes)
		bytes[i%w.Shards] += b
		all += b
	}
	if all == 0 {
		return
	}
	most, least := bytes[0], bytes[0]
	for _, b := range bytes {
		most, least = max(most, b), min(least, b)
	}
	even := all / float64(w.Shards)
	r.put("shard-egress-ratio", "", most/even)
	r.put("shard-egress-ratio-min", "", least/even)
}

// Cleanup closes the watches.
func (w *Watchers) Cleanup(context.Context) error {
	if w.stop != nil {
		w.stop()
		w.running.Wait()
		w.stop = nil
	}
	return nil
}
