package load

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// bucketFactor is how far apart the bounds of a recorder's buckets are: a
// quantile is at most 1.1 % above the delay that was there.
const bucketFactor = 1.011

// delays records how long calls took, at any scale, in Prometheus' sparse
// histogram, whose recording does not lock.
type delays struct {
	h    prometheus.Histogram
	n    atomic.Int64
	most atomic.Int64
}

func newDelays() *delays {
	return &delays{h: prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:                        "delay_seconds",
		NativeHistogramBucketFactor: bucketFactor,
	})}
}

func (l *delays) observe(d time.Duration) {
	d = max(d, 0)
	l.h.Observe(d.Seconds())
	l.n.Add(1)
	for {
		old := l.most.Load()
		if int64(d) <= old || l.most.CompareAndSwap(old, int64(d)) {
			return
		}
	}
}

func (l *delays) count() int64 { return l.n.Load() }

func (l *delays) largest() float64 { return time.Duration(l.most.Load()).Seconds() }

// quantile is the upper bound of the bucket that holds the q-quantile, and never
// more than the largest delay, in seconds.
func (l *delays) quantile(q float64) float64 {
	var m dto.Metric
	if err := l.h.Write(&m); err != nil {
		// A histogram without labels has nothing to fail on.
		panic(err)
	}
	h := m.GetHistogram()
	rank := q * float64(h.GetSampleCount())
	seen := float64(h.GetZeroCount())
	if seen >= rank {
		return 0
	}
	index, count, next := int32(0), int64(0), 0
	deltas := h.GetPositiveDelta()
	for _, span := range h.GetPositiveSpan() {
		index += span.GetOffset()
		for range span.GetLength() {
			count += deltas[next]
			seen += float64(count)
			if seen >= rank {
				return min(math.Exp2(float64(index)*math.Exp2(-float64(h.GetSchema()))), l.largest())
			}
			index, next = index+1, next+1
		}
	}
	return l.largest()
}
