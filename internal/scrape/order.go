package scrape

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
)

const (
	// cpuTime only grows while a process lives; unlike the counters of an
	// apiserver's requests, nothing sets it back.
	cpuTime = "process_cpu_seconds_total"
	// lastCollection is when a Go process last collected its garbage, which it
	// does at least every two minutes: a look is no earlier.
	lastCollection = "go_memstats_last_gc_time_seconds"
)

// How far times of start may differ in one process, in seconds: by a clock tick
// of 10 ms, or back by a clock that was set, since Linux tells the start by the
// time of the boot. And how far the clocks of two machines may be apart.
const (
	sameStart = 0.1
	setClock  = 2
	apart     = 5
)

// Mismatch says why the looks cannot be a window of one process in the order
// that they have; nil when they may be one. Counts between such looks would be
// invented: what a process counted since its start, days ago, would stand for
// what it counted between them.
func (d *Delta) Mismatch() error {
	if d.Before.digest == d.After.digest {
		return errors.New("both looks are the same page: the later one was not saved, or the earlier one is given twice")
	}
	a, okA := d.Before.Sum(startTime)
	b, okB := d.After.Sum(startTime)
	if !okA || !okB {
		return nil // a restart, for all that can be told
	}
	switch moved := b - a; {
	case moved > sameStart:
		// A process that began after the first look is the first one's successor.
		if look, ok := d.Before.Sum(lastCollection); ok && b+apart < look {
			return fmt.Errorf("the looks are at two processes: that of the later one began at %s, and was there when the earlier look was taken, at %s or after: "+
				"give two looks at one process, by its own address and not through a load balancer", clock(b), clock(look))
		}
	case moved < -setClock:
		return fmt.Errorf("the process of the later look began before that of the earlier one, at %s and at %s: "+
			"the looks are swapped, or at two processes, as through a load balancer: give the earlier one first, of one process by its own address", clock(b), clock(a))
	case d.fell():
		return fmt.Errorf("counters fall while the process is the same, %s: the looks are swapped, give the earlier one first", strings.Join(some(d.fallen(), 3), ", "))
	}
	return nil
}

func clock(seconds float64) string {
	return time.UnixMilli(int64(seconds * 1000)).UTC().Format("2006-01-02 15:04:05")
}

// fell reports whether counts went back as a whole. Some may by themselves: a
// server can set its own back, as apiservers do with those of requests when they
// are told to, and drop series and make them anew.
func (d *Delta) fell() bool {
	a, okA := d.Before.Sum(cpuTime)
	b, okB := d.After.Sum(cpuTime)
	if okA && okB && a != b {
		return b < a
	}
	grew, fell := compare(d.Before, d.After)
	return fell > grew
}

// compare counts the series that have grown from one page to another, and those
// that have fallen.
func compare(a, b *Snapshot) (grew, fell int) {
	for name, family := range a.families {
		g, f := compareFamily(family, b.families[name])
		grew, fell = grew+g, fell+f
	}
	return grew, fell
}

func compareFamily(a, b *dto.MetricFamily) (grew, fell int) {
	if a.GetType() != b.GetType() {
		return 0, 0
	}
	base := bySeries(a)
	for _, m := range b.GetMetric() {
		was, okA := counted(base[seriesKey(m)])
		is, okB := counted(m)
		switch {
		case !okA || !okB:
		case is > was:
			grew++
		case is < was:
			fell++
		}
	}
	return grew, fell
}

// counted is what a series has counted so far.
func counted(m *dto.Metric) (float64, bool) {
	switch {
	case m == nil:
		return 0, false
	case m.Counter != nil:
		return value(m)
	case m.Histogram != nil:
		return cumulative(m.Histogram.GetSampleCount(), m.Histogram.GetSampleCountFloat()), true
	}
	return 0, false
}

// fallen names the families with series that fell.
func (d *Delta) fallen() (names []string) {
	for _, name := range d.Before.Names() {
		if _, fell := compareFamily(d.Before.families[name], d.After.families[name]); fell > 0 {
			names = append(names, name)
		}
	}
	return names
}

func some(all []string, n int) []string {
	if len(all) <= n {
		return all
	}
	return append(all[:n:n], fmt.Sprintf("and %d more", len(all)-n))
}

// SameProcess reports whether two looks, taken at about the same time, are at
// one process: they are one page, or tell one start and every count of one is
// at least that of the other. Processes that were started together, to the clock
// tick, count differently.
func SameProcess(a, b *Snapshot) bool {
	if a.digest == b.digest {
		return true
	}
	x, okA := a.Sum(startTime)
	y, okB := b.Sum(startTime)
	if !okA || !okB || math.Abs(x-y) > sameStart {
		return false
	}
	grew, fell := compare(a, b)
	return grew == 0 || fell == 0
}
