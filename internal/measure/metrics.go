package measure

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/scrape"
)

// Look is one process, looked at once or twice; Before is nil when once.
type Look struct {
	Name          string
	Before, After *scrape.Snapshot
	// Files are the saved pages, for messages; empty of a process that was asked.
	Files string
}

func (l Look) String() string { return cmp.Or(l.Files, l.Name) }

// The families that writes are read from: what reached etcd, by operation, and
// otherwise what clients asked for, by verb, some of which changed nothing.
const (
	storageRequests = "etcd_requests_total"
	storageErrors   = "etcd_request_errors_total"
	apiRequests     = "apiserver_request_total"
)

// FromMetrics makes an observation of apiservers' metrics and of the main
// etcd's members'. Errors: looks that are no window.
func FromMetrics(apiservers, etcds []Look) (*Observation, error) {
	if err := errors.Join(sound(apiservers), sound(etcds), apart(slices.Concat(apiservers, etcds))); err != nil {
		return nil, err
	}
	o := newObservation()
	if err := o.addServers(apiservers); err != nil {
		return nil, err
	}
	return o, o.addEtcds(etcds)
}

// addServers adds up what each apiserver saw of its own clients. What all see
// alike, the objects in etcd, is taken once.
func (o *Observation) addServers(apiservers []Look) error {
	for _, l := range apiservers {
		o.addServer(l)
		if l.Before == nil {
			continue
		}
		d, err := scrape.Between(l.Before, l.After)
		if err != nil {
			return err
		}
		if d.Restarted != "" {
			o.Restarted = append(o.Restarted, Restart{l.Name, d.After.Has("process_start_time_seconds")})
		}
		o.Seconds = max(o.Seconds, d.Seconds())
		o.addWrites(d)
	}
	return nil
}

// addServer takes what the last look tells by itself.
func (o *Observation) addServer(l Look) {
	o.uncounted(l, apiserverFamilies)
	s := Server{Name: l.Name, StorageBytes: map[string]float64{}}
	s.ResidentBytes, _ = l.After.Sum("process_resident_memory_bytes")
	for _, family := range []string{"apiserver_storage_db_total_size_in_bytes", "apiserver_storage_size_bytes"} {
		maps.Copy(s.StorageBytes, l.After.SumBy(family, "storage_cluster_id"))
		for endpoint, v := range l.After.SumBy(family, "endpoint") {
			if endpoint != "" {
				s.StorageBytes[endpoint] = v
			}
		}
	}
	delete(s.StorageBytes, "")
	o.Servers = append(o.Servers, s)
	for version := range l.After.SumBy("kubernetes_build_info", "git_version") {
		o.Kubernetes = version
	}
	for _, r := range scrape.Resources(l.After) {
		resource, group, _ := strings.Cut(r.Name, ".")
		k := o.kind(group, resource)
		if r.Objects >= k.Objects {
			k.Objects = r.Objects
		}
		if r.EstimatedBytes > 0 && r.Objects > 0 {
			k.Bytes, k.BytesFrom = r.EstimatedBytes/r.Objects, "the server's own estimate"
		}
	}
	for _, scope := range []string{"cluster", "namespace", "resource"} {
		watches := scrape.Since(l.After).IncreaseBy("apiserver_longrunning_requests", []string{"group", "resource"},
			scrape.Where("verb", "WATCH", "WATCHLIST"), scrape.Where("scope", scope), scrape.Where("subresource", ""))
		for key, n := range watches {
			group, resource, _ := strings.Cut(key, "/")
			if resource != "" && n > 0 {
				o.kind(group, resource).Watchers[scope] += n
			}
		}
	}
}

// tally is how often a kind was written.
type tally struct{ creates, updates, deletes, collections float64 }

func (t tally) writes() float64 { return t.creates + t.updates + t.deletes }

// addWrites counts what was written between two looks at one apiserver. Etcd's
// count has the attempts that lost a race among them, and that of clients those
// that changed nothing: the fewer of the two is nearer the truth. Of a kind
// whose collections were deleted only etcd's tells how many objects that were.
func (o *Observation) addWrites(d *scrape.Delta) {
	granted := requests(d)
	o.WritesFrom = apiRequests
	stored := map[profile.GroupResource]tally{}
	if d.After.HasLabel(storageRequests, "resource") {
		o.WritesFrom, stored = storageRequests, operations(d)
	}
	for gr, g := range granted {
		o.DeletedCollections += g.collections
		s, ok := stored[gr]
		if !ok || g.collections == 0 && g.writes() > 0 && g.writes() < s.writes() {
			stored[gr] = g
		}
	}
	for gr, t := range stored {
		if t.writes() == 0 {
			continue
		}
		k := o.kind(gr.Group, gr.Resource)
		k.Creates += t.creates
		k.Updates += t.updates
		k.Deletes += t.deletes
	}
}

// requests are the writes that clients were granted. Dry runs, failures and
// what is not kept are none.
func requests(d *scrape.Delta) map[profile.GroupResource]tally {
	all := map[profile.GroupResource]tally{}
	by := d.IncreaseBy(apiRequests, []string{"verb", "group", "resource", "subresource"},
		scrape.Where("verb", scrape.Mutating()...), scrape.Where("dry_run", ""), scrape.Where("code", "200", "201", "202"))
	for _, key := range scrape.Keys(by) {
		part := strings.SplitN(key, "/", 4)
		gr, n := kindOf(part[1], part[2]), by[key]
		if n <= 0 || gr.Resource == "" || unstored(part[1], part[2]) || part[3] != "" && !slices.Contains(keptSubresources, part[3]) {
			continue
		}
		t := all[gr]
		switch verb := part[0]; {
		case part[3] != "" || verb == "PUT" || verb == "PATCH" || verb == "APPLY":
			t.updates += n
		case verb == "POST":
			t.creates += n
		case verb == "DELETE":
			t.deletes += n
		case verb == "DELETECOLLECTION":
			t.collections += n
		}
		all[gr] = t
	}
	return all
}

// keptSubresources are written into the object they are of.
var keptSubresources = []string{"status", "binding", "scale", "finalize", "resize", "ephemeralcontainers", "approval"}

// operations are what etcd was asked to write. One that it answered with an
// error wrote nothing.
func operations(d *scrape.Delta) map[profile.GroupResource]tally {
	all := map[profile.GroupResource]tally{}
	labels, writes := []string{"operation", "group", "resource"}, scrape.Where("operation", "create", "update", "delete")
	asked, failed := d.IncreaseBy(storageRequests, labels, writes), d.IncreaseBy(storageErrors, labels, writes)
	for _, key := range scrape.Keys(asked) {
		part := strings.SplitN(key, "/", 3)
		gr, n := kindOf(part[1], part[2]), asked[key]-failed[key]
		if n <= 0 || gr.Resource == "" {
			continue
		}
		t := all[gr]
		switch part[0] {
		case "create":
			t.creates += n
		case "update":
			t.updates += n
		case "delete":
			t.deletes += n
		}
		all[gr] = t
	}
	return all
}

// unstored are the resources that are asked with a POST and not kept.
func unstored(group, resource string) bool {
	return group == "authorization.k8s.io" || group == "authentication.k8s.io" || strings.HasSuffix(resource, "reviews")
}

// addEtcds reads the members of the main etcd: the slowest disk is the one that counts.
func (o *Observation) addEtcds(etcds []Look) error {
	for _, l := range etcds {
		o.uncounted(l, etcdFamilies)
		o.Etcd.QuotaBytes = largest(o.Etcd.QuotaBytes, l.After, "etcd_server_quota_backend_bytes")
		o.Etcd.DatabaseBytes = largest(o.Etcd.DatabaseBytes, l.After, "etcd_mvcc_db_total_size_in_bytes")
		d := scrape.Since(l.After)
		if l.Before != nil {
			var err error
			if d, err = scrape.Between(l.Before, l.After); err != nil {
				return err
			}
		}
		if v, ok := d.Quantile(0.99, "etcd_disk_wal_fsync_duration_seconds"); ok && !math.IsInf(v, 0) && !math.IsNaN(v) {
			o.Etcd.FsyncP99Seconds = max(o.Etcd.FsyncP99Seconds, v)
		}
	}
	return nil
}

func largest(so float64, s *scrape.Snapshot, family string) float64 {
	v, _ := s.Max(family)
	return max(so, v)
}
