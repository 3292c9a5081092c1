package prove

import (
	"context"
	"strings"

	"github.com/kubeseams/seams/internal/prove/rig"
	"github.com/kubeseams/seams/internal/scrape"
)

// Observer reads the metrics of stores and apiservers, and makes figures of them.
type Observer struct {
	watched []*watched
}

// Seen is a process that an Observer looks at.
type Seen struct {
	// Prefix begins the names of its figures: "store.main", "apiserver.nodes".
	Prefix string
	Source *scrape.Source
}

// Observe makes an Observer of processes.
func Observe(all ...Seen) *Observer {
	o := &Observer{}
	for _, s := range all {
		o.watched = append(o.watched, &watched{Seen: s})
	}
	return o
}

// watched is one process under observation.
type watched struct {
	Seen
	// weights are what objects of each kind that was prepared weigh.
	weights []scrape.Figure
	// base is after start, before any load; of an apiserver with garbage
	// collected, as settled, which is after the load.
	base, weighed, before, after, settled *scrape.Snapshot
}

// storePrefix begins the prefix of every store.
const storePrefix = "store."

// componentPrefix begins that of what is neither a store nor an apiserver: only
// its processor and memory are looked at.
const componentPrefix = "component."

// tierPrefix begins that of a server of an aggregated tier.
const tierPrefix = "tier."

// mainTier is the apiservers that everybody talks to, and their store.
const mainTier = "main"

// store says that the process is an etcd, and not an apiserver.
func (w *watched) store() bool { return strings.HasPrefix(w.Prefix, storePrefix) }

// tierOf names the tier of an apiserver's process: "main", or the NAME of
// kube-apiserver-NAME.
func tierOf(p *rig.Process) string {
	pod, _, _ := strings.Cut(p.Name, "@")
	if name, ok := strings.CutPrefix(pod, "kube-apiserver-"); ok {
		return name
	}
	return mainTier
}

// seenAs is how the figures of a process begin; empty when there are none.
func seenAs(p *rig.Process) string {
	switch {
	case p.MetricsURL == "":
		return ""
	case p.Store != "":
		return storePrefix + p.Store
	case p.Tier != "":
		return tierPrefix + p.Tier
	case p.Component == "kube-apiserver":
		return "apiserver." + tierOf(p)
	}
	return ""
}

func newObserver(r *rig.Rig) (*Observer, error) {
	var all []Seen
	for _, p := range r.Processes() {
		prefix := seenAs(p)
		if prefix == "" {
			continue
		}
		source, err := scrape.NewSource(p.Name, strings.TrimSuffix(p.MetricsURL, "/metrics"), r.ConfigOf(p))
		if err != nil {
			return nil, err
		}
		all = append(all, Seen{prefix, source})
	}
	return Observe(all...), nil
}

// collect has every apiserver collect its garbage, and keeps what everything
// holds then.
func (o *Observer) collect(ctx context.Context, keep func(*watched, *scrape.Snapshot)) error {
	for _, w := range o.watched {
		read := w.Source.HeapAfterGC
		if w.store() {
			read = w.Source.Scrape
		}
		s, err := read(ctx)
		if err != nil {
			return err
		}
		keep(w, s)
	}
	return nil
}

// look reads everything once.
func (o *Observer) look(ctx context.Context, keep func(*watched, *scrape.Snapshot)) error {
	for _, w := range o.watched {
		s, err := w.Source.Scrape(ctx)
		if err != nil {
			return err
		}
		keep(w, s)
	}
	return nil
}

// weigh notes what each object of a load that was just prepared made live.
func (o *Observer) weigh(ctx context.Context, l Step) error {
	before := map[*watched]float64{}
	for _, w := range o.watched {
		before[w], _ = heapOf(w.weighed)
	}
	if err := o.collect(ctx, func(w *watched, s *scrape.Snapshot) { w.weighed = s }); err != nil {
		return err
	}
	for _, w := range o.watched {
		heap, ok := heapOf(w.weighed)
		if !ok || w.store() {
			continue
		}
		if before[w] == 0 {
			before[w], _ = heapOf(w.base)
		}
		w.weights = append(w.weights, scrape.Figure{
			Name: l.Kind + "-heap-bytes-per-object", Value: (heap - before[w]) / float64(l.Count), Unit: scrape.Bytes,
		})
	}
	return nil
}
