package load

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Histogram is recorded delays in buckets whose bounds grow by a fixed factor:
// Prometheus' sparse histogram, in a form that travels and can be merged. It
// never gives a quantile of quantiles.
type Histogram struct {
	// Schema n means that bounds are 2^(2^-n) apart.
	Schema int32 `json:"schema"`
	// Zero counts delays too short for any bucket.
	Zero uint64 `json:"zero,omitempty"`
	// Buckets that have anything, by ascending index.
	Buckets []Bucket `json:"buckets,omitempty"`
	// Largest delay, exactly, in seconds.
	Largest float64 `json:"largest"`
}

// Bucket counts the delays up to 2^(Index * 2^-Schema) seconds that are in no
// bucket below.
type Bucket struct {
	Index int32  `json:"i"`
	Count uint64 `json:"n"`
}

// Count is how many delays were recorded.
func (h Histogram) Count() uint64 {
	n := h.Zero
	for _, b := range h.Buckets {
		n += b.Count
	}
	return n
}

// Quantile is the upper bound of the bucket that holds the q-quantile, and never
// more than the largest delay, in seconds.
func (h Histogram) Quantile(q float64) float64 {
	rank, seen := q*float64(h.Count()), float64(h.Zero)
	if seen >= rank {
		return 0
	}
	for _, b := range h.Buckets {
		if seen += float64(b.Count); seen >= rank {
			return min(math.Exp2(float64(b.Index)*math.Exp2(-float64(h.Schema))), h.Largest)
		}
	}
	return h.Largest
}

// Merged is the histogram of all delays of both. Error: they were recorded with
// different bounds.
func (h Histogram) Merged(other Histogram) (Histogram, error) {
	switch {
	case h.Count() == 0:
		return other, nil
	case other.Count() == 0:
		return h, nil
	case h.Schema != other.Schema:
		return Histogram{}, fmt.Errorf("histograms of schema %d and %d do not merge", h.Schema, other.Schema)
	}
	sum := Histogram{Schema: h.Schema, Zero: h.Zero + other.Zero, Largest: max(h.Largest, other.Largest)}
	all := slices.Concat(h.Buckets, other.Buckets)
	slices.SortFunc(all, func(a, b Bucket) int { return cmp.Compare(a.Index, b.Index) })
	for _, b := range all {
		if k := len(sum.Buckets) - 1; k >= 0 && sum.Buckets[k].Index == b.Index {
			sum.Buckets[k].Count += b.Count
		} else {
			sum.Buckets = append(sum.Buckets, b)
		}
	}
	return sum, nil
}
