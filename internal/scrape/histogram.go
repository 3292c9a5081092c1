package scrape

import (
	"cmp"
	"math"
	"slices"

	dto "github.com/prometheus/client_model/go"
)

// Histogram is observations in buckets, added up over series and freed of what
// was there before.
type Histogram struct {
	// per bucket, not cumulative, by ascending upper bound; the last may be +Inf.
	buckets []bucket
	sum     float64
}

type bucket struct{ upper, count float64 }

// add takes the observations of now that were not yet in was, which may be nil.
func (h *Histogram) add(now, was *dto.Histogram) {
	base := perBucket(was)
	current := perBucket(now)
	if went(base, current) {
		base, was = nil, nil // the series began anew
	}
	for i, b := range current {
		if i < len(base) {
			b.count -= base[i].count
		}
		h.put(b)
	}
	if s := now.GetSampleSum() - was.GetSampleSum(); !math.IsNaN(s) {
		h.sum += s
	}
}

// went reports whether a series cannot be the continuation of base.
func went(base, now []bucket) bool {
	if len(base) != len(now) {
		return base != nil
	}
	for i := range base {
		if base[i].upper != now[i].upper || base[i].count > now[i].count {
			return true
		}
	}
	return false
}

// perBucket undoes the accumulation of the text form. What the text claims
// beyond its last finite bucket, by +Inf or by the count, goes to +Inf; counts
// that fall, which no sound process writes, are taken as no observation.
func perBucket(h *dto.Histogram) []bucket {
	if h == nil {
		return nil
	}
	bounds := slices.Clone(h.GetBucket())
	bounds = slices.DeleteFunc(bounds, func(b *dto.Bucket) bool {
		return math.IsNaN(b.GetUpperBound()) || math.IsInf(b.GetUpperBound(), 1)
	})
	slices.SortFunc(bounds, func(a, b *dto.Bucket) int { return cmp.Compare(a.GetUpperBound(), b.GetUpperBound()) })
	out := make([]bucket, 0, len(bounds)+1)
	below := 0.0
	for _, b := range bounds {
		c := cumulative(b.GetCumulativeCount(), b.GetCumulativeCountFloat())
		out = append(out, bucket{b.GetUpperBound(), math.Max(0, c-below)})
		below = math.Max(below, c)
	}
	all := cumulative(h.GetSampleCount(), h.GetSampleCountFloat())
	return append(out, bucket{math.Inf(1), math.Max(0, all-below)})
}

// cumulative picks the integer or the float count: the parser fills one.
func cumulative(n uint64, f float64) float64 {
	if n == 0 && f > 0 && !math.IsInf(f, 1) {
		return f
	}
	return float64(n)
}

func (h *Histogram) put(b bucket) {
	i, found := slices.BinarySearchFunc(h.buckets, b.upper, func(x bucket, upper float64) int {
		return cmp.Compare(x.upper, upper)
	})
	if found {
		h.buckets[i].count += b.count
		return
	}
	h.buckets = slices.Insert(h.buckets, i, b)
}

// Count is the number of observations.
func (h *Histogram) Count() float64 {
	n := 0.0
	for _, b := range h.buckets {
		n += b.count
	}
	return n
}

// Mean is the mean observation, in the histogram's unit.
func (h *Histogram) Mean() (float64, bool) {
	n := h.Count()
	return h.sum / n, n > 0
}

// Quantile is the value below which a share q of the observations lie, by
// straight lines inside buckets, as Prometheus draws them. A quantile that lies
// above the last finite bound is +Inf rather than that bound: a limit must not
// be met because the histogram ends early. False when there are no
// observations.
func (h *Histogram) Quantile(q float64) (float64, bool) {
	n := h.Count()
	if n == 0 || math.IsNaN(q) {
		return 0, false
	}
	rank := min(max(q, 0), 1) * n
	below, lower := 0.0, 0.0
	for i, b := range h.buckets {
		if i == 0 && b.upper <= 0 {
			lower = b.upper // as in PromQL: a first bucket at or below zero has no width
		}
		if b.count > 0 && below+b.count >= rank {
			if math.IsInf(b.upper, 1) {
				return b.upper, true
			}
			return lower + (b.upper-lower)*((rank-below)/b.count), true
		}
		below, lower = below+b.count, b.upper
	}
	return h.buckets[len(h.buckets)-1].upper, true
}
