package load

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/kubeseams/seams/internal/scrape"
)

// When the driver is taken to be the limit.
const (
	// maxLagP99 is the delay of the timekeeper from which delays of calls are no
	// longer the control plane's alone.
	maxLagP99 = 50 * time.Millisecond
	// maxDriverCPU is the share of its processors that a driver can use before
	// it queues for them.
	maxDriverCPU = 0.85
	// maxHostCPU is the same of the whole machine, where the control plane may
	// run as well.
	maxHostCPU = 0.97
)

// saturation watches whether the driver keeps up.
type saturation struct {
	began   time.Time
	process scrape.Process
	host    scrape.Host
	known   bool
	start   int64 // throttled so far
	d       *Driver
}

func (d *Driver) watchSaturation() *saturation {
	s := &saturation{began: time.Now(), start: d.traffic.throttled.Load(), d: d}
	s.process, s.host, s.known = readUsage()
	return s
}

// readUsage is false where the kernel does not tell: then only the timekeeper's
// lag and the bound on calls in flight judge the driver.
func readUsage() (scrape.Process, scrape.Host, bool) {
	p, err := scrape.ReadProcess(os.Getpid())
	if err != nil {
		return p, scrape.Host{}, false
	}
	h, err := scrape.ReadHost()
	return p, h, err == nil
}

// judge adds to the result how the driver fared, and in words where it was the
// limit.
func (s *saturation) judge(r *Result, t *timetable) {
	if t.lag.count() > 0 {
		lag := t.lag.quantile(0.99)
		r.put("driver-lag-p99-seconds", scrape.Seconds, lag)
		if lag > maxLagP99.Seconds() {
			r.limit("the driver started calls late: p99 %.0f ms after they were due", lag*1000)
		}
	}
	if n := t.refused.Load(); n > 0 {
		r.limit("%d calls were not made because %d were waiting for an answer: the longest delays are not in the figures", n, t.limit)
	}
	r.count("throttled", s.d.traffic.throttled.Load()-s.start)
	if !s.known {
		return
	}
	p, h, ok := readUsage()
	wall := time.Since(s.began).Seconds()
	if !ok || wall < 0.5 {
		return // a tick of 10 ms says nothing of so short a time
	}
	cores := (p.CPUSeconds - s.process.CPUSeconds) / wall
	r.put("driver-cpu-cores", scrape.Cores, cores)
	if n := float64(runtime.GOMAXPROCS(0)); cores > maxDriverCPU*n {
		r.limit("the driver used %.1f of its %.0f processors", cores, n)
	}
	if total := h.TotalSeconds - s.host.TotalSeconds; total > 0 {
		busy := (h.BusySeconds - s.host.BusySeconds) / total
		r.put("host-cpu-ratio", "", busy)
		if busy > maxHostCPU {
			r.limit("the machine's processors were %.0f %% busy: on a shared machine delays are the machine's", busy*100)
		}
	}
}

func (r *Result) limit(format string, args ...any) {
	r.DriverLimits = append(r.DriverLimits, fmt.Sprintf(format, args...))
}
