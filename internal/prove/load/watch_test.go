package load

import (
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/sharding"
	"pgregory.net/rapid"
)

// Shards are read by upstream's parser, and each hash lies in exactly one.
func TestShardsPartition(t *testing.T) {
	t.Parallel()
	if got := ShardSelector("object.metadata.uid", 1, 2); got != "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')" {
		t.Errorf("the upper half is %s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 64).Draw(t, "n")
		hash := new(big.Int).SetUint64(rapid.Uint64().Draw(t, "hash"))
		in := 0
		for i := range n {
			s, err := sharding.Parse(ShardSelector("object.metadata.uid", i, n))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range s.Requirements() {
				start, ok1 := new(big.Int).SetString(r.Start, 0)
				end, ok2 := new(big.Int).SetString(r.End, 0)
				if !ok1 || !ok2 {
					t.Fatalf("bounds %q and %q", r.Start, r.End)
				}
				if start.Cmp(hash) <= 0 && hash.Cmp(end) < 0 {
					in++
				}
			}
		}
		if in != 1 {
			t.Fatalf("hash %v is in %d of %d shards", hash, in, n)
		}
	})
}

const added = `{"type":"ADDED","object":{"metadata":{"name":"a","uid":"u1","resourceVersion":"5"},"spec":{"x":"%s"}}}` + "\n"

func TestReadEvents(t *testing.T) {
	long := fmt.Sprintf(added, strings.Repeat("y", 100_000))
	bookmark := `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}` + "\n"
	for _, tt := range []struct {
		name, text string
		events     int
		err        string
	}{
		{"nothing", "", 0, ""},
		{"events", long + bookmark + long, 3, ""},
		{"cut", long + long[:90_000], 1, "unexpected EOF"},
		{"gone", long + `{"type":"ERROR","object":{"code":410,"reason":"Expired"}}` + "\n", 1, errExpired.Error()},
		{"failed", `{"type":"ERROR","object":{"code":500,"reason":"InternalError","message":"no"}}` + "\n", 0, "InternalError: no"},
		{"no events", "<html>\n", 0, "decode event"},
	} {
		for _, decode := range []bool{true, false} {
			n, size := 0, 0
			err := readEvents(strings.NewReader(tt.text), decode, func(e event) error {
				n, size = n+1, size+e.bytes
				if e.Type == "ADDED" && decode != (e.Object.Metadata.UID == "u1") || e.Type == "BOOKMARK" && e.Object.Metadata.ResourceVersion != "9" {
					t.Errorf("%s, decode %v: %+v", tt.name, decode, e)
				}
				return nil
			})
			if n != tt.events || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s, decode %v: %d events, %v", tt.name, decode, n, err)
			}
			if err == nil && size != len(tt.text) {
				t.Errorf("%s, decode %v: %d bytes, want %d", tt.name, decode, size, len(tt.text))
			}
		}
	}
}

// Whatever a server sends, decoding sees the events that not decoding sees.
func FuzzReadEvents(f *testing.F) {
	f.Add(fmt.Sprintf(added, "x")+`{"type":"ERROR","object":{"code":410}}`+"\n", true)
	f.Add(`{"type":"`+"\n", false)
	f.Add(`{"object":{},"type":"ADDED"}`+"\n\n", false)
	f.Fuzz(func(t *testing.T, text string, decode bool) {
		size := 0
		err := readEvents(io.LimitReader(strings.NewReader(text), 1<<16), decode, func(e event) error {
			if e.bytes <= 0 {
				t.Error("an event of no bytes")
			}
			size += e.bytes
			return nil
		})
		if size > len(text) || err == nil && size != min(len(text), 1<<16) {
			t.Errorf("%d of %d bytes, %v", size, len(text), err)
		}
	})
}

// watched serves a resource of objects that change while it is watched.
type watched struct {
	*fake
	lists, watches int
}

func newWatched(t *testing.T, lines ...string) *watched {
	w := &watched{fake: newFake(t)}
	w.on(func(out http.ResponseWriter, r *http.Request, what string) bool {
		if what != "GET dormants" {
			return false
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if r.URL.Query().Get("watch") == "" {
			w.lists++
			return false
		}
		w.watches++
		out.Header().Set("Content-Type", "application/json")
		if w.watches <= len(lines) {
			fmt.Fprintln(out, lines[w.watches-1])
			return true // and ends
		}
		out.(http.Flusher).Flush()
		w.mu.Unlock()
		<-r.Context().Done()
		w.mu.Lock()
		return true
	})
	return w
}

func (w *watched) put(uid, version string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := placeOf(Dormants("").path("n", uid))
	w.objects[p.path()] = map[string]any{"metadata": map[string]any{"name": uid, "uid": uid, "resourceVersion": version}}
	w.version = 7
}

func (w *watched) drop(uid string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.objects, placeOf(Dormants("").path("n", uid)).path())
}

func (w *watched) watchers() *Watchers {
	return &Watchers{Driver: w.driver(Options{}), Path: Dormants("").Path(), Count: 1, Settle: 300 * time.Millisecond}
}

func TestWatchersRelistWhenExpired(t *testing.T) {
	t.Parallel()
	w := newWatched(t, `{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}`)
	w.put("u1", "5")
	r := ran(t, w.watchers(), 400*time.Millisecond)
	want(t, r, map[string]float64{"watch-relists": 1, "watch-missing-objects": 0, "watch-stale-objects": 0, "watched-objects": 1})
	if w.lists != 3 || len(r.Failures) != 0 {
		t.Errorf("%d lists, want two of the watch and one to compare; failures %v", w.lists, r.Failures)
	}
}

func TestWatchersGoOnWhereTheyEnded(t *testing.T) {
	t.Parallel()
	w := newWatched(t,
		`{"type":"MODIFIED","object":{"metadata":{"name":"u1","uid":"u1","resourceVersion":"6"}}}`,
		`{"type":"ADDED","object":{"metadata":{"name":"u2","uid":"u2","resourceVersion":"7"}}}`)
	w.put("u1", "5")
	x := w.watchers()
	if err := x.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.put("u1", "6")
	w.put("u2", "7")
	r, err := x.Run(t.Context(), 300*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Cleanup(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, r, map[string]float64{"watch-relists": 0, "watch-missing-objects": 0, "watch-stale-objects": 0, "watch-extra-objects": 0, "watched-objects": 2})
	if w.lists != 2 {
		t.Errorf("%d lists, want one of the watch and one to compare", w.lists)
	}
}

// What a watch did not see is found: an object, a change, a deletion.
func TestWatchersFindWhatIsMissing(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	w.put("stale", "1")
	w.put("extra", "2")
	x := w.watchers()
	if err := x.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.put("stale", "3")
	w.put("missing", "4")
	w.drop("extra")
	r, err := x.Run(t.Context(), 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Cleanup(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, r, map[string]float64{"watch-missing-objects": 1, "watch-stale-objects": 1, "watch-extra-objects": 1})
}

// A server that ignores shardSelector gives every shard everything.
func TestShardsThatOverlapAreFound(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	w.put("u1", "5")
	w.put("u2", "6")
	x := w.watchers()
	x.Shards = 3
	r := ran(t, x, 100*time.Millisecond)
	want(t, r, map[string]float64{"watches": 3, "shard-duplicate-objects": 4, "shard-missing-objects": 0, "shard-egress-ratio": 1, "shard-egress-ratio-min": 1})
}
