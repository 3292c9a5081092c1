package tier

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubeseams/seams/internal/etcdclient"
	"github.com/kubeseams/seams/internal/pki"
)

// fakeEtcd answers as etcd's JSON gateway does, for what the tests ask of it.
type fakeEtcd struct {
	mu        sync.Mutex
	revision  int64
	compacted int64
	keys      map[string]etcdclient.KeyValue
}

func (f *fakeEtcd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var in struct {
		Key       []byte
		Value     []byte
		End       []byte `json:"range_end"`
		Limit     int64  `json:"limit,string"`
		Revision  int64  `json:"revision,string"`
		CountOnly bool   `json:"count_only"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out := map[string]any{}
	switch r.URL.Path {
	case "/v3/kv/range":
		var kvs []etcdclient.KeyValue
		for _, key := range slices.Sorted(maps.Keys(f.keys)) {
			if key == string(in.Key) || in.End != nil && key >= string(in.Key) && key < string(in.End) {
				kvs = append(kvs, f.keys[key])
			}
		}
		out["count"] = fmt.Sprint(len(kvs))
		if in.Limit > 0 && int64(len(kvs)) > in.Limit {
			kvs, out["more"] = kvs[:in.Limit], true
		}
		if !in.CountOnly {
			out["kvs"] = kvs
		}
	case "/v3/kv/put":
		f.revision++
		f.keys[string(in.Key)] = etcdclient.KeyValue{Key: in.Key, Value: in.Value, ModRevision: f.revision}
	case "/v3/kv/deleterange":
		f.revision++
		delete(f.keys, string(in.Key))
	case "/v3/kv/compaction":
		if in.Revision <= f.compacted {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"code":11,"message":"etcdserver: mvcc: required revision has been compacted"}`)
			return
		}
		f.compacted = in.Revision
	}
	out["header"] = map[string]string{"cluster_id": "18446744073709551615", "revision": fmt.Sprint(f.revision)}
	_ = json.NewEncoder(w).Encode(out)
}

func (f *fakeEtcd) set(key, value string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.revision++
	f.keys[key] = etcdclient.KeyValue{Key: []byte(key), Value: []byte(value), ModRevision: f.revision}
}

// etcdOf serves a fake over TLS, and gives a client of it.
func etcdOf(t testing.TB) (*fakeEtcd, *etcdclient.Client) {
	t.Helper()
	f := &fakeEtcd{keys: map[string]etcdclient.KeyValue{}, revision: 1}
	server := httptest.NewTLSServer(f)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return at
	}
	a, err := pki.NewAuthority("ca", pki.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := a.Issue(pki.Leaf{CN: "client", Client: true})
	if err != nil {
		t.Fatal(err)
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	e, err := etcdclient.New("test", etcdclient.Access{Endpoints: []string{server.URL}, CAFile: file("ca", ca), CertFile: file("crt", pair.Cert), KeyFile: file("key", pair.Key)})
	if err != nil {
		t.Fatal(err)
	}
	return f, e
}

// Whatever both sides hold, a copy makes them equal, a second one finds nothing
// to do, equal sides have equal digests, and other groups are left alone.
func TestCompareLaws(t *testing.T) {
	a, from := etcdOf(t)
	b, to := etcdOf(t)
	source, target := side{from, "/registry/hot.example.dev/"}, side{to, "/other/hot.example.dev/"}
	rapid.Check(t, func(t *rapid.T) {
		clearAll(a, b)
		names := rapid.SliceOfN(rapid.StringMatching(`(widgets|gadgets)/(a|b)/[a-z]{1,3}`), 0, 300)
		value := rapid.StringMatching(`\{"metadata":\{"uid":"[a-f]{4}"\}\}`)
		for _, name := range names.Draw(t, "source") {
			a.set(source.prefix+name, value.Draw(t, "value"))
		}
		for _, name := range names.Draw(t, "target") {
			b.set(target.prefix+name, value.Draw(t, "old"))
		}
		b.set("/other/hot.example.dev0/x", "{}")
		b.set("/other/hot.example.de/x", "{}")
		dry, err := compare(t.Context(), source, target, false)
		if err != nil {
			t.Fatal(err)
		}
		wet, err := compare(t.Context(), source, target, true)
		if err != nil {
			t.Fatal(err)
		}
		again, err := compare(t.Context(), source, target, false)
		if err != nil {
			t.Fatal(err)
		}
		back, err := compare(t.Context(), target, source, false)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case dry.Differ != wet.Differ:
			t.Errorf("%d differ, and %d were written", dry.Differ, wet.Differ)
		case again.Differ != 0 || back.Differ != 0:
			t.Errorf("%d and %d differ after a copy", again.Differ, back.Differ)
		case again.Digest != back.Digest || again.Digest != dry.Digest:
			t.Errorf("digests %v, %v and %v", dry.Digest, again.Digest, back.Digest)
		case len(b.keys) != len(a.keys)+2:
			t.Errorf("%d keys, want those of the source, %d, and two of others", len(b.keys), len(a.keys))
		}
		for resource, sum := range again.uids {
			if *sum != *back.uids[resource] {
				t.Errorf("uids of %s differ", resource)
			}
		}
		if n, err := clear(t.Context(), target); err != nil || n != len(a.keys) || len(b.keys) != 2 {
			t.Errorf("cleared %d of %d, %d left, %v", n, len(a.keys), len(b.keys), err)
		}
	})
}

func clearAll(all ...*fakeEtcd) {
	for _, f := range all {
		f.mu.Lock()
		f.keys = map[string]etcdclient.KeyValue{}
		f.mu.Unlock()
	}
}

// A digest tells a key's end from its value's beginning, and one value from
// another of its length.
func TestDigestTells(t *testing.T) {
	f, e := etcdOf(t)
	s := side{e, "/r/"}
	seen := map[string]string{}
	for _, c := range []map[string]string{
		{}, {"/r/a": "{}"}, {"/r/a": "{1}"}, {"/r/a": "{2}"}, {"/r/b": "{}"}, {"/r/a": "{}", "/r/b": "{}"}, {"/r/ab": "{}"},
	} {
		clearAll(f)
		for k, v := range c {
			f.set(k, v)
		}
		got, err := compare(t.Context(), s, s, false)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[got.SHA256]; ok {
			t.Errorf("%v has the digest of %s", c, other)
		}
		seen[got.SHA256] = fmt.Sprint(c)
	}
}

func TestMovable(t *testing.T) {
	for _, c := range []struct {
		kv   etcdclient.KeyValue
		want string
	}{
		{etcdclient.KeyValue{Value: []byte(`{"kind":"Widget"}`)}, ""},
		{etcdclient.KeyValue{Value: append(bytes.Clone(cbor), 0xa0)}, ""},
		{etcdclient.KeyValue{Value: []byte("k8s:enc:aescbc:v1:key1:xyz")}, "encrypted"},
		{etcdclient.KeyValue{Value: []byte("k8s\x00\n\x0c")}, "neither JSON nor CBOR"},
		{etcdclient.KeyValue{Value: nil}, "neither JSON nor CBOR"},
		{etcdclient.KeyValue{Value: []byte("{}"), Lease: 7}, "lease"},
	} {
		err := movable(c.kv)
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.kv.Value, err, c.want)
		}
	}
}

// A fence raises a revision, forgets the past, leaves no key, and refuses more
// writes than it may make, with the other way.
func TestFence(t *testing.T) {
	f, e := etcdOf(t)
	f.set("/registry/x", "{}")
	at, err := fence(t.Context(), e, 500, 1000)
	if err != nil || at < 500 || f.compacted < 500 || f.revision < 500 {
		t.Errorf("at %d, revision %d, compacted %d: %v", at, f.revision, f.compacted, err)
	}
	if len(f.keys) != 1 {
		t.Errorf("keys are left: %v", slices.Collect(maps.Keys(f.keys)))
	}
	before := f.revision
	if again, err := fence(t.Context(), e, 400, 0); err != nil || again < 500 {
		t.Errorf("a second time: %d, %v", again, err)
	}
	if _, err := fence(t.Context(), e, before+5000, 100); err == nil || !strings.Contains(err.Error(), "--bump-revision") {
		t.Errorf("too many writes: %v", err)
	}
	if f.revision > before+10 {
		t.Errorf("%d writes were made though they were too many", f.revision-before)
	}
}

func TestPages(t *testing.T) {
	for _, c := range []struct {
		objects int
		size    int64
		want    int64
	}{{100, 100 << 10, 1000}, {100, 100 * 1_500_000, 5}, {1, 20 << 20, 1}, {0, 0, 1}} {
		if got := nextPage(c.objects, c.size); got != c.want {
			t.Errorf("%d objects of %d bytes: %d, want %d", c.objects, c.size, got, c.want)
		}
	}
}

// parallel does everything once, and stops when something fails.
func TestParallel(t *testing.T) {
	var mu sync.Mutex
	done := map[int]int{}
	if err := parallel(t.Context(), 1000, func(_ context.Context, i int) error {
		mu.Lock()
		defer mu.Unlock()
		done[i]++
		return nil
	}); err != nil || len(done) != 1000 {
		t.Errorf("%d done, %v", len(done), err)
	}
	n := 0
	err := parallel(t.Context(), 100000, func(context.Context, int) error {
		mu.Lock()
		defer mu.Unlock()
		n++
		return fmt.Errorf("no")
	})
	if err == nil || n > 2*writers {
		t.Errorf("%d calls after the first failure, %v", n, err)
	}
}
