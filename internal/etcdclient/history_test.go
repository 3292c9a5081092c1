package etcdclient

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// watchedEtcd answers a watch of etcd's gateway with what etcd 3.7 writes, cut into
// answers of several revisions; then it is silent, as etcd is.
func watchedEtcd(t *testing.T, answers ...string) (*Client, *string) {
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
	return Of("test", []string{s.URL}, nil), asked
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
			n, err := e.Writes(t.Context(), 10, c.to, []string{"/registry/hot.example.dev/"})
			if n != c.want || (err != nil) != (c.problem != "") || err != nil && !strings.Contains(err.Error(), c.problem) {
				t.Errorf("%d writes, %v; want %d, %q", n, err, c.want, c.problem)
			}
			if c.to > 10 && !strings.Contains(*asked, `"start_revision":"11"`) {
				t.Errorf("asked %s", *asked)
			}
		})
	}
}
