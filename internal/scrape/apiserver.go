package scrape

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	requestDuration = "apiserver_request_duration_seconds"
	requestTotal    = "apiserver_request_total"
	// watchEventsSizes observes the bytes of what watches were sent.
	watchEventsSizes = "apiserver_watch_events_sizes"
)

// Mutating are the verbs of kube-apiserver's metrics that write.
func Mutating() []string {
	return []string{"POST", "PUT", "PATCH", "DELETE", "APPLY", "DELETECOLLECTION"}
}

// longRunning are the verbs whose duration is the client's choice.
func longRunning() []string { return []string{"WATCH", "CONNECT", "PROXY", "WATCHLIST"} }

// APIServer is what a kube-apiserver, or a server made of the same library,
// says of the time between two looks. Durations are the server's own: what a
// client waited for its connection is not in them.
func APIServer(d *Delta) []Figure {
	var fs figures
	rate, ok := d.Rate(requestTotal)
	fs.put("requests-per-second", PerSecond, rate, ok)
	rate, ok = d.Rate(requestTotal, Where("verb", Mutating()...))
	fs.put("writes-per-second", PerSecond, rate, ok)
	for _, x := range []struct {
		name string
		ms   []Matcher
	}{
		{"api-mutating", []Matcher{Where("verb", Mutating()...)}},
		{"api-read-resource", []Matcher{Where("verb", "GET"), Where("scope", "resource")}},
		{"api-read-namespace", []Matcher{Where("verb", "LIST"), Where("scope", "namespace")}},
		{"api-read-cluster", []Matcher{Where("verb", "LIST"), Where("scope", "cluster")}},
	} {
		for _, q := range []float64{0.5, 0.99} {
			v, ok := d.Quantile(q, requestDuration, x.ms...)
			fs.put(fmt.Sprintf("%s-p%.0f-seconds", x.name, q*100), Seconds, v, ok)
		}
	}
	rejected, ok := d.Increase("apiserver_flowcontrol_rejected_requests_total")
	fs.put("rejected-requests", "", rejected, ok)
	v, ok := d.Increase("apiserver_request_terminations_total")
	fs.put("terminated-requests", "", v, ok)
	fs = append(fs, watches(d)...)
	fs = append(fs, load(d)...)
	fs = append(fs, Memory(d.After)...)
	v, ok = d.Rate("process_cpu_seconds_total")
	fs.put("cpu-cores", Cores, v, ok)
	SortFigures(fs)
	return fs
}

// watches is fan-out and the state of the watch caches.
func watches(d *Delta) figures {
	var fs figures
	rate, ok := d.Rate("apiserver_watch_events_total")
	fs.put("watch-events-per-second", PerSecond, rate, ok)
	if h := d.HistogramsBy(watchEventsSizes, nil)[""]; h != nil {
		fs.put("watch-bytes-per-second", BytesPerSecond, h.sum/d.Seconds(), true)
	}
	for _, x := range []struct{ name, family string }{
		{"watch-cache-received-per-second", "apiserver_watch_cache_events_received_total"},
		{"watch-cache-dispatched-per-second", "apiserver_watch_cache_events_dispatched_total"},
	} {
		rate, ok = d.Rate(x.family)
		fs.put(x.name, PerSecond, rate, ok)
	}
	v, ok := d.Increase("apiserver_terminated_watchers_total")
	fs.put("terminated-watchers", "", v, ok)
	v, ok = d.After.Sum("apiserver_watch_cache_capacity")
	fs.put("watch-cache-capacity", "", v, ok)
	v, ok = watchWindow(d)
	fs.put(WatchWindow, Seconds, v, ok)
	v, ok = d.After.Sum("apiserver_longrunning_requests", Where("verb", longRunning()...))
	fs.put("watches", "", v, ok)
	return fs
}

// WatchWindow is the figure of how many seconds of changes of the resource that
// changed most the watch cache holds: a watch that was away for longer lists
// everything again.
const WatchWindow = "watch-window-seconds"

// What upstream's watch cache does with its ring of changes: below
// freshSeconds of history it doubles it, up to largestRing changes (cacher
// DefaultEventFreshDuration, defaultUpperBoundCapacity).
const (
	freshSeconds = 75
	largestRing  = 100 * 1024
)

// watchWindow is the ring's capacity over the rate of changes. While the ring
// can grow and holds less than it grows for, the looks were too close together
// to see where it ends, and there is no figure.
func watchWindow(d *Delta) (float64, bool) {
	const received = "apiserver_watch_cache_events_received_total"
	labels := []string{"group", "resource"} // the group since 1.34
	by := d.IncreaseBy(received, labels)
	hottest := ""
	for _, key := range Keys(by) {
		if hottest == "" || by[key] > by[hottest] {
			hottest = key
		}
	}
	if by[hottest] <= 0 {
		return 0, false
	}
	group, resource, _ := strings.Cut(hottest, "/")
	capacity, ok := d.After.Max("apiserver_watch_cache_capacity", Where("group", group), Where("resource", resource))
	window := capacity / (by[hottest] / d.Seconds())
	return window, ok && (window >= freshSeconds || capacity >= largestRing)
}

// load is what was in flight at the second look, and how long requests waited
// for seats of priority and fairness between the looks.
func load(d *Delta) figures {
	var fs figures
	for _, kind := range []struct{ name, label string }{{"inflight-mutating", "mutating"}, {"inflight-readonly", "readOnly"}} {
		v, ok := d.After.Sum("apiserver_current_inflight_requests", Where("request_kind", kind.label))
		fs.put(kind.name, "", v, ok)
	}
	for _, x := range []struct{ name, family string }{
		{"seats-executing", "apiserver_flowcontrol_current_executing_seats"},
		{"seats-waiting", "apiserver_flowcontrol_current_inqueue_seats"},
		{"seats-nominal", "apiserver_flowcontrol_nominal_limit_seats"},
		{"seats-demand-high", "apiserver_flowcontrol_demand_seats_high_watermark"},
	} {
		v, ok := d.After.Sum(x.family)
		fs.put(x.name, "", v, ok)
	}
	v, ok := d.Quantile(0.99, "apiserver_flowcontrol_request_wait_duration_seconds")
	fs.put("seat-wait-p99-seconds", Seconds, v, ok)
	return fs
}

// Memory is what a Go process holds at one look. Right after HeapAfterGC it is
// the live heap.
func Memory(s *Snapshot) []Figure {
	var fs figures
	for _, x := range []struct{ name, family string }{
		{"heap-bytes", "go_memstats_heap_alloc_bytes"},
		{"heap-inuse-bytes", "go_memstats_heap_inuse_bytes"},
		{"go-sys-bytes", "go_memstats_sys_bytes"},
		{"resident-bytes", "process_resident_memory_bytes"},
	} {
		v, ok := s.Sum(x.family)
		fs.put(x.name, Bytes, v, ok)
	}
	v, ok := s.Sum("go_goroutines")
	fs.put("goroutines", "", v, ok)
	SortFigures(fs)
	return fs
}

// Resource is one kind of object as a server counts it.
type Resource struct {
	// Name is the resource with its group, "leases.coordination.k8s.io".
	Name string
	// Objects is the number stored; the server counts once a minute.
	Objects float64
	// EstimatedBytes is the server's estimate of what they take in etcd, in
	// bytes; 0 when it gives none.
	EstimatedBytes float64
}

// Resources are the stored objects by resource, sorted. Servers from 1.34 have
// apiserver_resource_objects, older ones apiserver_storage_objects; a count of
// -1 means that the server could not ask, and is left out.
func Resources(s *Snapshot) []Resource {
	byName := map[string]Resource{}
	take := func(family string, set func(*Resource, float64)) {
		for _, m := range s.families[family].GetMetric() {
			v, ok := value(m)
			if !ok || !(v >= 0) {
				continue
			}
			name := strings.TrimSuffix(label(m, "resource")+"."+label(m, "group"), ".")
			r := byName[name]
			r.Name = name
			set(&r, v)
			byName[name] = r
		}
	}
	take("apiserver_storage_objects", func(r *Resource, v float64) { r.Objects = v })
	take("apiserver_resource_objects", func(r *Resource, v float64) { r.Objects = v })
	take("apiserver_resource_size_estimate_bytes", func(r *Resource, v float64) { r.EstimatedBytes = v })
	out := make([]Resource, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		out = append(out, byName[name])
	}
	return out
}

// Call is the calls of one verb to one resource between two looks.
type Call struct {
	Verb, Group, Resource string
	// Count is the calls answered; PerSecond the same over the time.
	Count, PerSecond float64
	// P50 and P99 are of the server's time, in seconds.
	P50, P99 float64
}

// Calls are the finite calls by verb and resource, in the order of their names.
func Calls(d *Delta) []Call {
	by := d.HistogramsBy(requestDuration, []string{"verb", "group", "resource"}, WhereNot("verb", longRunning()...))
	var out []Call
	for _, key := range Keys(by) {
		h := by[key]
		parts := strings.SplitN(key, "/", 3)
		c := Call{Verb: parts[0], Group: parts[1], Resource: parts[2], Count: h.Count(), PerSecond: h.Count() / d.Seconds()}
		c.P50, _ = h.Quantile(0.5)
		c.P99, _ = h.Quantile(0.99)
		out = append(out, c)
	}
	return out
}
