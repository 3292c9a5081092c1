package load

import (
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

// quantile is Histogram.Quantile of what was recorded so far.
func (l *delays) quantile(q float64) float64 { return l.read().Quantile(q) }

// read is what was recorded so far.
func (l *delays) read() Histogram {
	var m dto.Metric
	if err := l.h.Write(&m); err != nil {
		// A histogram without labels has nothing to fail on.
		panic(err)
	}
	d := m.GetHistogram()
	h := Histogram{Schema: d.GetSchema(), Zero: d.GetZeroCount(), Largest: l.largest()}
	index, count, next := int32(0), int64(0), 0
	deltas := d.GetPositiveDelta()
	for _, span := range d.GetPositiveSpan() {
		index += span.GetOffset()
		for range span.GetLength() {
			if count += deltas[next]; count > 0 {
				h.Buckets = append(h.Buckets, Bucket{index, uint64(count)})
			}
			index, next = index+1, next+1
		}
	}
	return h
}
