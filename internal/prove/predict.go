package prove

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/scrape"
)

// Prediction is a figure that the estimator foretold, beside what was measured.
type Prediction struct {
	// Figures of the estimate that add up to it.
	Figures   []string `json:"figures"`
	Predicted float64  `json:"predicted"`
	Low       float64  `json:"low"`
	High      float64  `json:"high"`
	// Metric is the measured figure.
	Metric   string  `json:"metric"`
	Measured float64 `json:"measured"`
	Unit     string  `json:"unit"`
	// Within is whether the measured one lies in the band.
	Within bool `json:"within"`
}

// A write to a store is a put or a delete.
const (
	putsSuffix    = ".puts-per-second"
	deletesSuffix = ".deletes-per-second"
)

// readingError is how far off a measured rate may be, either way: a counter
// and a clock are read twice, one to two minutes apart, each up to a second late.
const readingError = 0.02

// foretold says which figures of the estimate a measured one is compared with;
// they are added up. A figure that ends in * stands for all that it begins.
type foretold struct {
	metric  string
	figures []string
	kinds   []string // of load; none is all
}

// foretells pairs what the rig can measure with what the estimator says of it.
// Figures that only show after an hour, such as the history of Events, or that
// nothing here causes, are not among them.
func foretells(l estimate.Layout) []foretold {
	all := []foretold{
		{metric: "store.main.puts-per-second", figures: []string{"store.main.writes"}},
		{metric: "store.events.puts-per-second", figures: []string{"store.events.writes"}, kinds: []string{KindEvents}},
		{metric: "store.leases.puts-per-second", figures: []string{"store.leases.writes"}},
		{metric: "lease-renewals-per-second", figures: []string{"liveness.leases.writes"}},
		{metric: "apiserver.main.heap-bytes", figures: []string{"apiserver.heap"}},
		{metric: "apiserver.main.resident-bytes", figures: []string{"apiserver.rss"}},
		{metric: "apiserver.main.added-heap-bytes", kinds: []string{KindObjects},
			figures: []string{"resource.dormants.*.cached", "resource.roles.*.cached", "rbac.authorizer"}},
		{metric: "apiserver.main.added-heap-bytes", kinds: []string{KindNodes},
			figures: []string{"resource.nodes.cached", "resource.leases.coordination.k8s.io.cached"}},
		{metric: "store.main.added-in-use-bytes", figures: []string{"resource.dormants.*.stored", "resource.roles.*.stored"}, kinds: []string{KindObjects}},
	}
	for _, t := range l.Aggregated {
		all = append(all,
			foretold{metric: storePrefix + t.Name + putsSuffix, figures: []string{storePrefix + t.Name + ".writes"}, kinds: []string{KindCustomWrites}},
			foretold{metric: tierPrefix + t.Name + ".heap-bytes", figures: []string{tierPrefix + t.Name + ".heap"}},
			foretold{metric: tierPrefix + t.Name + ".resident-bytes", figures: []string{tierPrefix + t.Name + ".rss"}})
	}
	return all
}

// Predict says, for each level of a record, what today's estimator makes of the
// load on that layout, beside what was measured. It is not kept in the record,
// so that it is always about the estimator as it is. Errors: the record's load
// or rungs cannot be rendered any more.
func Predict(ctx context.Context, ladder *recipe.Ladder, r *Record) (map[string][]Prediction, error) {
	rung, ok := ladder.Rung(r.Rung)
	if !ok || rung.Proof == nil {
		return nil, fmt.Errorf("the record is of %s, which is not on the ladder", r.Rung)
	}
	p, err := profilesOf(ctx, r.Load, Probed(rung), r.Versions["kube-apiserver"])
	if err != nil {
		return nil, err
	}
	all := map[string][]Prediction{}
	for _, level := range r.Levels {
		layout, err := layoutOf(ladder, p, level.Rungs)
		if err != nil {
			return nil, fmt.Errorf("%s layout: %w", level.Name, err)
		}
		all[level.Name] = predictions(layout.Estimate, r.Load.Kind, level.Figures)
	}
	return all, nil
}

// predictions compare an estimate with what was measured. What the estimate
// has no figure of on this layout, or the run none, is left out.
func predictions(e *estimate.Estimate, kind string, measured []scrape.Figure) []Prediction {
	all := []Prediction{}
	for _, f := range foretells(e.Layout) {
		if len(f.kinds) > 0 && !slices.Contains(f.kinds, kind) {
			continue
		}
		m, ok := scrape.Find(measured, f.metric)
		if !ok {
			continue
		}
		p := Prediction{Metric: f.metric, Measured: m.Value, Unit: m.Unit}
		if store, ok := strings.CutSuffix(f.metric, putsSuffix); ok {
			if d, ok := scrape.Find(measured, store+deletesSuffix); ok {
				p.Metric, p.Measured = f.metric+" and "+deletesSuffix[1:], m.Value+d.Value
			}
		}
		left := false
		for _, x := range e.Figures {
			if !matchesAny(f.figures, x.ID) || uncached(e, x.ID) {
				continue
			}
			if left = left || moved(e, f.metric, x.ID); !left {
				p.Figures = append(p.Figures, x.ID)
				p.Predicted, p.Low, p.High = p.Predicted+x.Value, p.Low+x.Low, p.High+x.High
			}
		}
		if left || len(p.Figures) == 0 {
			continue // of what the load made, there is nothing to see there
		}
		if _, probed := scrape.Find(measured, "core-calls"); probed && f.metric == storePrefix+mainTier+putsSuffix {
			// The scheduler says of each of the probe's Pods that no node takes it,
			// unless the Pod is gone by then. And none of them reaches a kubelet, of
			// whose Events the estimate has most.
			p.High += load.ProbeCallsPerSecond / 5
			if events, ok := e.Figure("resource.events.writes"); ok && kind != KindEvents && !e.Layout.EventsStore {
				p.Low -= events.Value
			}
		}
		reading := 0.0
		if m.Unit == scrape.PerSecond {
			reading = readingError
		}
		p.Within = p.Low*(1-reading) <= p.Measured && p.Measured <= p.High*(1+reading)
		all = append(all, p)
	}
	return all
}

// uncached reports whether a figure is what a resource would take in the watch
// cache that this layout turned off.
func uncached(e *estimate.Estimate, id string) bool {
	for _, gr := range e.Layout.Uncached {
		if id == "resource."+strings.TrimSuffix(gr.Resource+"."+gr.Group, ".")+".cached" {
			return true
		}
	}
	return false
}

// moved reports whether a figure of a custom resource is of one whose group an
// aggregated tier has, and so none of main's.
func moved(e *estimate.Estimate, metric, id string) bool {
	if !strings.HasPrefix(metric, "apiserver."+mainTier+".") && !strings.HasPrefix(metric, storePrefix+mainTier+".") {
		return false
	}
	for _, t := range e.Layout.Aggregated {
		if slices.ContainsFunc(t.Groups, func(group string) bool {
			return matchesAny([]string{"resource.*." + group + ".cached", "resource.*." + group + ".stored"}, id)
		}) {
			return true
		}
	}
	return false
}

func matchesAny(patterns []string, id string) bool {
	for _, pattern := range patterns {
		before, after, wild := strings.Cut(pattern, "*")
		if id == pattern || wild && strings.HasPrefix(id, before) && strings.HasSuffix(id, after) && len(id) >= len(before)+len(after) {
			return true
		}
	}
	return false
}
