package load

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/scrape"
)

// Merge is the result of a load whose parts were driven side by side: delays
// come from all histograms together, counts and rates add up, and shares are
// weighed by what they are shares of. Errors: no part, parts of different loads,
// or a figure that nothing is known of how to merge.
func Merge(parts ...*Result) (*Result, error) {
	if len(parts) == 0 {
		return nil, errors.New("there is no part of a load to merge")
	}
	sum := &Result{Load: parts[0].Load}
	delays := map[string]Histogram{}
	for i, p := range parts {
		if p.Load != sum.Load {
			return nil, fmt.Errorf("a part of %s and one of %s are of different loads", sum.Load, p.Load)
		}
		sum.Seconds = max(sum.Seconds, p.Seconds)
		for _, limit := range p.DriverLimits {
			sum.limit("part %d: %s", i, limit)
		}
		for reason, n := range p.Failures {
			if sum.Failures == nil {
				sum.Failures = map[string]int{}
			}
			sum.Failures[reason] += n
		}
		for name, h := range p.Delays {
			merged, err := delays[name].Merged(h)
			if err != nil {
				return nil, fmt.Errorf("%s of %s: %w", name, sum.Load, err)
			}
			delays[name] = merged
		}
	}
	for _, name := range slices.Sorted(maps.Keys(delays)) {
		sum.histogram(name, delays[name])
	}
	if err := sum.addFigures(parts); err != nil {
		return nil, fmt.Errorf("merge %s: %w", sum.Load, err)
	}
	scrape.SortFigures(sum.Figures)
	return sum, nil
}

// addFigures adds the figures that are not of histograms.
func (r *Result) addFigures(parts []*Result) error {
	names := map[string]string{}
	for _, p := range parts {
		for _, f := range p.Figures {
			if _, done := r.Value(f.Name); !done {
				names[f.Name] = f.Unit
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		v, err := mergedFigure(name, names[name], parts)
		if err != nil {
			return err
		}
		r.put(name, names[name], v)
	}
	return nil
}

// ratios are weighed by a figure of the same part: what they are a share of.
var ratios = map[string][]string{
	"achieved-ratio":    {"writes-due", "events-due"},
	"nodes-ready-ratio": {"nodes"},
	"leaderless-ratio":  {"elections"},
}

// largest are figures of which the worst part speaks for all.
var largest = []string{"object-bytes", "lease-gap-max-seconds", "driver-lag-p99-seconds", "host-cpu-ratio"}

func mergedFigure(name, unit string, parts []*Result) (float64, error) {
	var values, weights []float64
	for _, p := range parts {
		v, ok := p.Value(name)
		if !ok {
			continue
		}
		values = append(values, v)
		weight := 0.0
		for _, by := range ratios[name] {
			if w, ok := p.Value(by); ok {
				weight = w
			}
		}
		weights = append(weights, weight)
	}
	switch {
	case len(values) == 1:
		return values[0], nil
	case slices.Contains(largest, name):
		return slices.Max(values), nil
	case ratios[name] != nil:
		return weighedMean(values, weights), nil
	case strings.HasSuffix(name, "-ratio") || unit == scrape.Seconds:
		return 0, fmt.Errorf("figure %s does not say how its parts merge", name)
	}
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total, nil
}

func weighedMean(values, weights []float64) float64 {
	sum, all := 0.0, 0.0
	for i, v := range values {
		sum, all = sum+v*weights[i], all+weights[i]
	}
	if all == 0 {
		return slices.Min(values)
	}
	return sum / all
}
