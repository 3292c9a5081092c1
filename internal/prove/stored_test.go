package prove

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/scrape"
)

// watchedEtcd answers a watch of etcd's gateway with what etcd 3.7 writes, cut into
// answers of several revisions; then it is silent, as etcd is.
func watchedEtcd(t *testing.T, answers ...string) (*etcd, *string) {
	t.Helper()
	asked := new(string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*asked = string(body)
		for _, a := range answers {
			fmt.Fprintln(w, a)
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}))
	t.Cleanup(s.CloseClientConnections)
	return &etcd{s.URL, s.Client()}, asked
}

// put and gone are events of a key at a revision.
func put(key string, revision int64) string {
	return fmt.Sprintf(`{"kv":{"key":%q,"create_revision":"1","mod_revision":"%d","version":"1","value":"eA=="}}`, encoded(key), revision)
}

func gone(key string, revision int64) string {
	return fmt.Sprintf(`{"type":"DELETE","kv":{"key":%q,"mod_revision":"%d"}}`, encoded(key), revision)
}

func encoded(key string) string {
	data, _ := json.Marshal([]byte(key))
	return strings.Trim(string(data), `"`)
}

func answer(events ...string) string {
	return `{"result":{"header":{"revision":"40"},"events":[` + strings.Join(events, ",") + `]}}`
}

const created = `{"result":{"header":{"revision":"40"},"created":true}}`

func TestWritesAreCounted(t *testing.T) {
	hot, other := "/registry/hot.example.dev/sessions/default/a", "/registry/leases/kube-system/b"
	for _, c := range []struct {
		name    string
		answers []string
		to      int64
		want    int
		problem string
	}{
		{"puts and deletions", []string{created, answer(put(hot, 11), put(other, 12)), answer(gone(hot, 13))}, 13, 2, ""},
		{"none", []string{created, answer(put(other, 11), put(other, 12))}, 12, 0, ""},
		{"two keys of one revision", []string{created, answer(put(other, 11), put(hot, 12), put(hot+"b", 12))}, 12, 2, ""},
		{"what came after", []string{created, answer(put(hot, 11), put(hot, 14))}, 12, 1, ""},
		{"a longer name", []string{created, answer(put("/registry/hot.example.developers/x/y", 11))}, 11, 0, ""},
		{"nothing was written", nil, 10, 0, ""},
		{"compacted", []string{`{"result":{"header":{"revision":"40"},"canceled":true,"compact_revision":"20","cancel_reason":"required revision has been compacted"}}`}, 13, 0, "has been compacted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, asked := watchedEtcd(t, c.answers...)
			n, err := e.writes(t.Context(), 10, c.to, []string{"/registry/hot.example.dev/"})
			if n != c.want || (err != nil) != (c.problem != "") || err != nil && !strings.Contains(err.Error(), c.problem) {
				t.Errorf("%d writes, %v; want %d, %q", n, err, c.want, c.problem)
			}
			if c.to > 10 && !strings.Contains(*asked, `"start_revision":"11"`) {
				t.Errorf("asked %s", *asked)
			}
		})
	}
}

// The busiest tier over an even part, by what the stores of tiers say and by no
// other store.
func TestSpread(t *testing.T) {
	o := Observe(Seen{Prefix: "tier.a"}, Seen{Prefix: "tier.b"}, Seen{Prefix: "tier.b"}, Seen{Prefix: "store.main"})
	of := func(a, b float64) map[string]scrape.Figure {
		return map[string]scrape.Figure{
			"store.a.puts-per-second": {Value: a}, "store.b.puts-per-second": {Value: b}, "store.main.puts-per-second": {Value: 1000},
		}
	}
	if got, ok := o.spread(of(30, 10)); !ok || got != 1.5 {
		t.Errorf("30 and 10 a second: %v, %t", got, ok)
	}
	if got, ok := o.spread(of(20, 20)); !ok || got != 1 {
		t.Errorf("twice 20: %v, %t", got, ok)
	}
	if _, ok := o.spread(of(0, 0)); ok {
		t.Error("no writes have no spread")
	}
	if _, ok := Observe(Seen{Prefix: "store.main"}).spread(of(1, 1)); ok {
		t.Error("no tier has no spread")
	}
}

// What a kind weighs most is told of the process that holds most of it.
func TestLargest(t *testing.T) {
	o := Observe(Seen{Prefix: "apiserver.main"}, Seen{Prefix: "tier.a"}, Seen{Prefix: "tier.b"})
	for i, bytes := range []float64{100, 35000, 34000} {
		o.watched[i].weights = []scrape.Figure{{Name: "custom-heap-bytes-per-object", Value: bytes, Unit: scrape.Bytes}}
	}
	f, ok := scrape.Find(o.largest(), "largest.custom-heap-bytes-per-object")
	if !ok || f.Value != 35000 || f.Unit != scrape.Bytes {
		t.Errorf("%+v, %t", f, ok)
	}
}

// A layout may be rendered for more than is driven, and then is estimated for
// what is driven.
func TestRenderedForMore(t *testing.T) {
	ladder := mustLadder(t)
	d := Demand{Kind: KindObjects, Objects: 1000, ObjectBytes: 10000, Groups: 2, Listers: 2, Apiservers: 1}
	tiers := func(d Demand) (int, float64) {
		p, err := profilesOf(t.Context(), d, false, "1.37")
		if err != nil {
			t.Fatal(err)
		}
		l, err := layoutOf(ladder, p, []string{"node/stock", "churn/stock", "state/partitioned"})
		if err != nil {
			t.Fatal(err)
		}
		f, ok := l.Estimate.Figure("tier." + l.Plan.Aggregated[0].Name + ".heap")
		if !ok {
			t.Fatal("no estimate of the tier")
		}
		return len(l.Plan.Aggregated), f.Value
	}
	one, all := tiers(d)
	d.LayoutTimes = 60 // 600 MB, of which a tier is meant to hold 500
	two, half := tiers(d)
	if one != 1 || two != 2 || half >= all {
		t.Errorf("%d tiers, the first of %.0f bytes; for 60 times as much %d, of %.0f", one, all, two, half)
	}
}

// A keeper is a load of custom resources.
var (
	_ load.Keeper = (*load.Churn)(nil)
	_ load.Keeper = (*load.Objects)(nil)
)
