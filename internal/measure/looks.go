package measure

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubeseams/seams/internal/scrape"
)

// The families that are read as numbers.
var (
	apiserverFamilies = []string{
		"apiserver_resource_objects", "apiserver_storage_objects", "apiserver_resource_size_estimate_bytes",
		"apiserver_storage_db_total_size_in_bytes", "apiserver_storage_size_bytes", "apiserver_longrunning_requests",
		"process_resident_memory_bytes", storageRequests, storageErrors, apiRequests,
	}
	etcdFamilies = []string{"etcd_server_quota_backend_bytes", "etcd_mvcc_db_total_size_in_bytes"}
)

// uncounted notes what a look says that no process counts: infinities, what is
// no number, and what is larger than anything can be.
func (o *Observation) uncounted(l Look, families []string) {
	var series []string
	for _, s := range []*scrape.Snapshot{l.Before, l.After} {
		if s != nil {
			series = append(series, s.Uncounted(families...)...)
		}
	}
	if len(series) > 0 {
		o.Uncounted = append(o.Uncounted, Uncounted{l.Name, series})
	}
}

// sound finds looks that are no window. Each apiserver keeps its counts for as
// long as it lives, so that looks in the wrong order, or at two of them, would
// give days of counts for those of minutes.
func sound(looks []Look) error {
	var errs []error
	for _, l := range looks {
		if err := mismatch(l); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", l, err))
		}
	}
	return errors.Join(errs...)
}

func mismatch(l Look) error {
	if l.Before == nil {
		return nil
	}
	d, err := scrape.Between(l.Before, l.After)
	if err != nil {
		return err
	}
	return d.Mismatch()
}

// apart finds processes that were looked at under two names: what they count
// would be added up twice.
func apart(looks []Look) error {
	var errs []error
	for i, l := range looks {
		for _, other := range looks[:i] {
			if scrape.SameProcess(other.After, l.After) {
				errs = append(errs, fmt.Errorf("%s and %s are of one process, whose counts would be added up twice: give each process once", other, l))
				break
			}
		}
	}
	return errors.Join(errs...)
}

// distinct are the sources without those that lead to a process which an earlier
// one leads to, too: addresses of load balancers, and addresses given twice.
func distinct(sources []*scrape.Source, seen map[string]*scrape.Snapshot, say func(string)) []*scrape.Source {
	var all []*scrape.Source
	for _, s := range sources {
		i := slices.IndexFunc(all, func(other *scrape.Source) bool {
			return other.Name == s.Name || scrape.SameProcess(seen[other.Name], seen[s.Name])
		})
		if i >= 0 {
			say(fmt.Sprintf("%s is %s: looked at once", s.Name, all[i].Name))
			continue
		}
		all = append(all, s)
	}
	return all
}

// windows takes the first looks away from processes whose looks are no window,
// as happens behind a load balancer: what is there is still told.
func (o *Observation) windows(looks []Look) []Look {
	for i, l := range looks {
		if err := mismatch(l); err != nil {
			o.Apart = append(o.Apart, Refusal{l.Name, err.Error()})
			looks[i].Before = nil
		}
	}
	return looks
}
