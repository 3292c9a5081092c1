package prove

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubeseams/seams/internal/etcdclient"
	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/prove/rig"
	"github.com/kubeseams/seams/internal/scrape"
)

// keyPrefix begins all keys of the API's objects, in every store.
const keyPrefix = "/registry/"

func newEtcd(control *rig.Rig, store string) (*etcdclient.Client, error) {
	c, err := control.EtcdClient(store)
	if err != nil {
		return nil, err
	}
	return etcdclient.Of(store, c.Endpoints[:1], c.TLS), nil
}

// keys lists the keys below a prefix.
func keys(ctx context.Context, e *etcdclient.Client, prefix string) ([]string, error) {
	page, err := e.Get(ctx, etcdclient.Range{Key: []byte(prefix), End: etcdclient.PrefixEnd(prefix), KeysOnly: true})
	if err != nil {
		return nil, err
	}
	keys := make([]string, len(page.KVs))
	for i, kv := range page.KVs {
		keys[i] = string(kv.Key)
	}
	return keys, nil
}

// history is how long the past of a run may take to be read.
const history = time.Minute

// ledger is what the stores say of a load's custom resources.
type ledger struct {
	main     *etcdclient.Client
	prefixes []string
	before   int64
	after    int64
}

// openLedger notes where main's store stands; nil when the load has no custom
// resources.
func openLedger(ctx context.Context, control *rig.Rig, d Demand) (*ledger, error) {
	l := &ledger{}
	for _, c := range d.Custom() {
		l.prefixes = append(l.prefixes, keyPrefix+c.Group+"/")
	}
	if len(l.prefixes) == 0 {
		return nil, nil
	}
	var err error
	if l.main, err = newEtcd(control, mainTier); err == nil {
		l.before, err = revision(ctx, l.main)
	}
	return l, err
}

// close notes where main's store stands now.
func (l *ledger) close(ctx context.Context) (err error) {
	if l != nil {
		l.after, err = revision(ctx, l.main)
	}
	return err
}

func revision(ctx context.Context, e *etcdclient.Client) (int64, error) {
	head, err := e.Head(ctx)
	return head.Revision, err
}

// CustomWrites is the figure of the writes to the load's groups that reached
// main's etcd while the load was prepared and ran, each counted by its key.
const CustomWrites = "store.main.custom-writes"

// figures are what was written to main of the load's groups, and which objects
// are not where they belong. What cannot be told is a remark and no figure.
func (l *ledger) figures(ctx context.Context, control *rig.Rig, steps []Step) (figures []scrape.Figure, remarks []string, err error) {
	if l == nil {
		return nil, nil, nil
	}
	reading, cancel := context.WithTimeout(ctx, history)
	defer cancel()
	if n, err := l.main.Writes(reading, l.before, l.after, l.prefixes); err != nil {
		remarks = append(remarks, "writes of the load's groups to main's etcd cannot be counted: "+err.Error())
	} else {
		figures = append(figures, scrape.Figure{Name: CustomWrites, Value: float64(n)})
	}
	lost, err := lostObjects(ctx, control, steps)
	if err != nil {
		return nil, nil, err
	}
	return append(figures, scrape.Figure{Name: "objects-lost", Value: float64(len(lost))}), append(remarks, someOf(lost)...), nil
}

// lostObjects are the acknowledged objects that are not in the store of their
// group, and what other stores have of a load's groups.
func lostObjects(ctx context.Context, control *rig.Rig, steps []Step) ([]string, error) {
	kept := map[string]bool{}
	groups := map[string]bool{}
	for _, s := range steps {
		if k, ok := s.Load.(load.Keeper); ok {
			for _, key := range k.Kept() {
				kept[key] = true
				groups[groupOf(key)] = true
			}
		}
	}
	var lost []string
	found := map[string]bool{}
	for _, store := range storesOf(control) {
		e, err := newEtcd(control, store)
		if err != nil {
			return nil, err
		}
		for group := range groups {
			present, err := keys(ctx, e, keyPrefix+group+"/")
			if err != nil {
				return nil, err
			}
			for _, key := range present {
				if key = strings.TrimPrefix(key, keyPrefix); storeOf(control, group) == store {
					found[key] = true
				} else {
					lost = append(lost, key+" is in "+store)
				}
			}
		}
	}
	for key := range kept {
		if !found[key] {
			lost = append(lost, key+" is not in "+storeOf(control, groupOf(key)))
		}
	}
	slices.Sort(lost)
	return lost, nil
}

func groupOf(key string) string {
	group, _, _ := strings.Cut(key, "/")
	return group
}

// storeOf is the store that a custom group belongs in: its tier's, or main's.
func storeOf(control *rig.Rig, group string) string {
	if tier, ok := control.TierOf(group); ok {
		return tier
	}
	return mainTier
}

// storesOf are all stores of a control plane.
func storesOf(control *rig.Rig) []string {
	names := map[string]bool{}
	for _, p := range control.Processes() {
		if p.Store != "" {
			names[p.Store] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// someOf are the first few of what was lost, as remarks.
func someOf(lost []string) []string {
	const few = 5
	if len(lost) > few {
		return append(slices.Clone(lost[:few]), fmt.Sprintf("%d more objects are not where they belong", len(lost)-few))
	}
	return lost
}
