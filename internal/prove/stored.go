package prove

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/prove/rig"
	"github.com/kubeseams/seams/internal/scrape"
)

// keyPrefix begins all keys of the API's objects, in every store.
const keyPrefix = "/registry/"

// etcd is a store's JSON gateway, of its first member. etcd's own client would
// be most of the program.
type etcd struct {
	url    string
	client *http.Client
}

func newEtcd(control *rig.Rig, store string) (*etcd, error) {
	c, err := control.EtcdClient(store)
	if err != nil {
		return nil, err
	}
	return &etcd{c.Endpoints[0], &http.Client{Transport: &http.Transport{TLSClientConfig: c.TLS}}}, nil
}

// The gateway writes whole numbers of 64 bits as text.
type etcdHeader struct {
	Revision int64 `json:"revision,string"`
}

type etcdKey struct {
	Key         []byte `json:"key"`
	ModRevision int64  `json:"mod_revision,string"`
}

func (e *etcd) post(ctx context.Context, at string, in any) (io.ReadCloser, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url+at, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := e.client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		said, _ := io.ReadAll(io.LimitReader(response.Body, 1024))
		return nil, fmt.Errorf("%s%s: %s: %s", e.url, at, response.Status, said)
	}
	return response.Body, nil
}

// keys lists the keys below a prefix, and the store's revision.
func (e *etcd) keys(ctx context.Context, prefix string) ([]string, int64, error) {
	end := []byte(prefix)
	end[len(end)-1]++
	body, err := e.post(ctx, "/v3/kv/range", map[string]any{"key": []byte(prefix), "range_end": end, "keys_only": true})
	if err != nil {
		return nil, 0, err
	}
	defer body.Close()
	var out struct {
		Header etcdHeader `json:"header"`
		KVs    []etcdKey  `json:"kvs"`
	}
	if err := json.NewDecoder(body).Decode(&out); err != nil {
		return nil, 0, err
	}
	keys := make([]string, len(out.KVs))
	for i, kv := range out.KVs {
		keys[i] = string(kv.Key)
	}
	return keys, out.Header.Revision, nil
}

// history is how long the past of a run may take to be read.
const history = time.Minute

// writes counts what was written below prefixes, deletions too, in the
// revisions after one and up to another. Every revision of the store is looked
// at, so that nothing is missed. Errors: some of them were compacted.
func (e *etcd) writes(ctx context.Context, after, to int64, prefixes []string) (n int, err error) {
	if to <= after {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, history)
	defer cancel()
	everything := []byte{0}
	body, err := e.post(ctx, "/v3/watch", map[string]any{"create_request": map[string]any{
		"key": everything, "range_end": everything, "start_revision": fmt.Sprint(after + 1),
	}})
	if err != nil {
		return 0, err
	}
	defer body.Close()
	for decoder := json.NewDecoder(body); ; {
		var out struct {
			Result struct {
				Canceled bool   `json:"canceled"`
				Reason   string `json:"cancel_reason"`
				Events   []struct {
					KV etcdKey `json:"kv"`
				} `json:"events"`
			} `json:"result"`
		}
		if err := decoder.Decode(&out); err != nil {
			return 0, fmt.Errorf("%s: read revisions %d to %d: %w", e.url, after+1, to, err)
		}
		if out.Result.Canceled {
			return 0, fmt.Errorf("%s: revisions %d to %d are not there any more: %s", e.url, after+1, to, out.Result.Reason)
		}
		for _, event := range out.Result.Events {
			if event.KV.ModRevision > to {
				return n, nil
			}
			if slices.ContainsFunc(prefixes, func(p string) bool { return bytes.HasPrefix(event.KV.Key, []byte(p)) }) {
				n++
			}
		}
		if k := len(out.Result.Events); k > 0 && out.Result.Events[k-1].KV.ModRevision == to {
			return n, nil
		}
	}
}

// ledger is what the stores say of a load's custom resources.
type ledger struct {
	main     *etcd
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
		l.before, err = l.main.revision(ctx)
	}
	return l, err
}

// close notes where main's store stands now.
func (l *ledger) close(ctx context.Context) (err error) {
	if l != nil {
		l.after, err = l.main.revision(ctx)
	}
	return err
}

func (e *etcd) revision(ctx context.Context) (int64, error) {
	_, revision, err := e.keys(ctx, keyPrefix+"ranges/")
	return revision, err
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
	if n, err := l.main.writes(ctx, l.before, l.after, l.prefixes); err != nil {
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
			keys, _, err := e.keys(ctx, keyPrefix+group+"/")
			if err != nil {
				return nil, err
			}
			for _, key := range keys {
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
