package prove

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubeseams/seams/internal/prove/rig"
	"github.com/kubeseams/seams/internal/scrape"
)

// addsUp: rates add up over the processes of a tier; of everything else the largest
// process counts. The members of a store all do the same work.
func addsUp(w *watched, f scrape.Figure) bool {
	return !w.store() && (f.Unit == scrape.PerSecond || f.Unit == scrape.BytesPerSecond || f.Unit == scrape.Cores)
}

// Figures are those of all stores and tiers, and remarks about processes that
// are not the ones that the run began with.
func (o *Observer) Figures() (all []scrape.Figure, remarks []string, err error) {
	byName := map[string]scrape.Figure{}
	for _, w := range o.watched {
		d, err := scrape.Between(w.before, w.after)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", w.Source.Name, err)
		}
		if d.Restarted != "" {
			remarks = append(remarks, w.Source.Name+" restarted during the run: "+d.Restarted)
		}
		for _, f := range w.own(d) {
			f.Name = w.Prefix + "." + f.Name
			if seen, ok := byName[f.Name]; ok && addsUp(w, f) {
				f.Value += seen.Value
			} else if ok && f.Name == w.Prefix+"."+scrape.WatchWindow {
				f.Value = min(f.Value, seen.Value) // the shortest history counts
			} else if ok {
				f.Value = max(f.Value, seen.Value)
			}
			byName[f.Name] = f
		}
	}
	for _, f := range byName {
		all = append(all, f)
	}
	all = append(all, o.largest()...)
	if ratio, ok := o.spread(byName); ok {
		all = append(all, scrape.Figure{Name: "tier-spread-ratio", Value: ratio})
	}
	if copies, ok := o.copies(); ok {
		all = append(all, scrape.Figure{Name: "resident-copies", Value: copies})
	}
	slices.SortFunc(all, func(a, b scrape.Figure) int { return strings.Compare(a.Name, b.Name) })
	return all, remarks, nil
}

// own are the figures of one process. An apiserver's heap is what lives after
// garbage was collected, and its added heap what the load made live.
func (w *watched) own(d *scrape.Delta) []scrape.Figure {
	if w.store() {
		fs := scrape.Etcd(d)
		if before, ok := inUse(w.base); ok {
			if after, ok := inUse(w.settled); ok {
				fs = append(fs, scrape.Figure{Name: "added-in-use-bytes", Value: after - before, Unit: scrape.Bytes})
			}
		}
		return fs
	}
	if strings.HasPrefix(w.Prefix, componentPrefix) {
		fs := scrape.Memory(d.After)
		if cores, ok := d.Rate("process_cpu_seconds_total"); ok {
			fs = append(fs, scrape.Figure{Name: "cpu-cores", Value: cores, Unit: scrape.Cores})
		}
		return fs
	}
	fs := slices.DeleteFunc(scrape.APIServer(d), func(f scrape.Figure) bool { return f.Name == "heap-bytes" })
	if heap, ok := heapOf(w.settled); ok {
		fs = append(fs, scrape.Figure{Name: "heap-bytes", Value: heap, Unit: scrape.Bytes})
	}
	if added, ok := w.added(); ok {
		fs = append(fs, scrape.Figure{Name: "added-heap-bytes", Value: added, Unit: scrape.Bytes})
	}
	return append(fs, w.weights...)
}

func (w *watched) added() (float64, bool) {
	base, okBase := heapOf(w.base)
	heap, ok := heapOf(w.settled)
	return heap - base, ok && okBase
}

func inUse(s *scrape.Snapshot) (float64, bool) {
	return s.Sum("etcd_mvcc_db_total_size_in_use_in_bytes")
}

func heapOf(s *scrape.Snapshot) (float64, bool) {
	if s == nil {
		return 0, false
	}
	f, ok := scrape.Find(scrape.Memory(s), "heap-bytes")
	return f.Value, ok
}

// copies is how many times over the apiservers of main hold what the load made
// live: what all of them hold over what the largest does.
func (o *Observer) copies() (float64, bool) {
	var total, most float64
	for _, w := range o.watched {
		if w.Prefix != "apiserver."+mainTier {
			continue
		}
		added, ok := w.added()
		if !ok {
			return 0, false
		}
		total, most = total+added, max(most, added)
	}
	return total / most, most > 0
}

// largest are what the objects of each kind made live in the process, apiserver
// or server of a tier, that holds most of them. A share of a partition is seen by
// it: per object of all there are.
func (o *Observer) largest() []scrape.Figure {
	most := map[string]scrape.Figure{}
	for _, w := range o.watched {
		for _, f := range w.weights {
			f.Name = "largest." + f.Name
			if seen, ok := most[f.Name]; !ok || f.Value > seen.Value {
				most[f.Name] = f
			}
		}
	}
	return slices.Collect(maps.Values(most))
}

// spread is the writes of the aggregated tiers' busiest etcd over an even part.
func (o *Observer) spread(byName map[string]scrape.Figure) (float64, bool) {
	var total, most float64
	names := map[string]bool{}
	for _, w := range o.watched {
		if name, ok := strings.CutPrefix(w.Prefix, tierPrefix); ok {
			names[name] = true
		}
	}
	for name := range names {
		puts := byName[storePrefix+name+putsSuffix].Value
		total, most = total+puts, max(most, puts)
	}
	return most / (total / float64(len(names))), total > 0
}

// Tidy sorts figures, keeps the first of each name, since loads share what they
// say about their driver, and writes six significant digits: more is noise.
func Tidy(figures []scrape.Figure) []scrape.Figure {
	scrape.SortFigures(figures)
	figures = slices.CompactFunc(figures, func(a, b scrape.Figure) bool { return a.Name == b.Name })
	for i, f := range figures {
		// FormatFloat and ParseFloat are each other's inverse.
		figures[i].Value, _ = strconv.ParseFloat(strconv.FormatFloat(f.Value, 'g', 6, 64), 64)
	}
	return figures
}

// changesOf lists what the rig changed in what was rendered, each once.
func changesOf(r *rig.Rig) []string {
	var all []string
	for _, p := range r.Processes() {
		for _, c := range p.Changes {
			text := c.What + " of " + p.Component + ": " + c.Why
			if !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	slices.Sort(all)
	return all
}
