package load

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// fake speaks as much of the API as the loads do: it keeps objects, counts
// calls, and can be slow or refuse.
type fake struct {
	*httptest.Server
	t *testing.T

	mu      sync.Mutex
	version int
	objects map[string]map[string]any // by path
	calls   map[string]int            // by verb, resource and subresource
	bodies  map[string]string         // of creations, by path
	// before a call is served, without the lock; true when it has answered.
	before func(w http.ResponseWriter, r *http.Request, what string) bool
}

func newFake(t *testing.T) *fake {
	f := &fake{t: t, objects: map[string]map[string]any{}, calls: map[string]int{}, bodies: map[string]string{}}
	f.Server = httptest.NewUnstartedServer(f)
	f.EnableHTTP2 = true
	f.StartTLS()
	t.Cleanup(f.Close)
	return f
}

func (f *fake) driver(o Options) *Driver {
	f.t.Helper()
	o.Servers = []*rest.Config{{Host: f.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}}
	d, err := NewDriver(o)
	if err != nil {
		f.t.Fatal(err)
	}
	return d
}

// place is what a path names.
type place struct{ base, namespace, plural, name, sub string }

func placeOf(path string) place {
	s := strings.Split(strings.Trim(path, "/"), "/")
	n := 2
	if s[0] == "apis" {
		n = 3
	}
	p := place{base: strings.Join(s[:n], "/")}
	if s = s[n:]; len(s) > 2 && s[0] == "namespaces" {
		p.namespace, s = s[1], s[2:]
	}
	for i, to := range []*string{&p.plural, &p.name, &p.sub} {
		if i < len(s) {
			*to = s[i]
		}
	}
	return p
}

func (p place) path() string {
	return strings.Join([]string{p.base, p.namespace, p.plural, p.name}, "|")
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := placeOf(r.URL.Path)
	what := strings.TrimSuffix(r.Method+" "+p.plural+"/"+p.sub, "/")
	if r.URL.Query().Has("dryRun") {
		what = "dry " + what
	}
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	f.calls[what]++
	before := f.before
	f.mu.Unlock()
	if before != nil && before(w, r, what) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.serve(w, r, p, body)
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request, p place, body []byte) {
	switch r.Method {
	case http.MethodPost:
		f.create(w, r, p, body)
	case http.MethodGet:
		if p.name == "" {
			f.list(w, r, p)
			return
		}
		f.answer(w, f.objects[p.path()])
	case http.MethodPut, http.MethodPatch:
		old := f.objects[p.path()]
		if old == nil {
			refuse(w, http.StatusNotFound, "NotFound")
			return
		}
		object := f.decode(r, body)
		if r.Method == http.MethodPut && versionOf(object) != "" && versionOf(object) != versionOf(old) {
			refuse(w, http.StatusConflict, "Conflict")
			return
		}
		merged := maps.Clone(old)
		for k, v := range object {
			// A strategic patch of conditions is no replacement: what it changes
			// is of no interest here.
			if k != "metadata" && r.Header.Get("Content-Type") != "application/strategic-merge-patch+json" {
				merged[k] = v
			}
		}
		f.store(p, merged)
		f.answer(w, merged)
	case http.MethodDelete:
		if p.name == "" {
			maps.DeleteFunc(f.objects, func(path string, _ map[string]any) bool { return strings.HasPrefix(path, p.path()) })
			f.answer(w, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"})
			return
		}
		old := f.objects[p.path()]
		delete(f.objects, p.path())
		f.answer(w, old)
	}
}

func (f *fake) create(w http.ResponseWriter, r *http.Request, p place, body []byte) {
	object := f.decode(r, body)
	if p.sub != "" { // a binding
		f.answer(w, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"})
		return
	}
	meta := object["metadata"].(map[string]any)
	p.name = meta["name"].(string)
	if f.objects[p.path()] != nil {
		refuse(w, http.StatusConflict, "AlreadyExists")
		return
	}
	// What a server adds: it always takes the same room.
	meta["uid"] = fmt.Sprintf("%036d", len(f.bodies))
	meta["creationTimestamp"] = "2026-01-02T03:04:05Z"
	if r.URL.Query().Has("dryRun") {
		f.answer(w, object)
		return
	}
	f.bodies[p.path()] = string(body)
	f.store(p, object)
	f.answer(w, object)
}

func (f *fake) store(p place, object map[string]any) {
	f.version++
	meta := maps.Clone(object["metadata"].(map[string]any))
	meta["resourceVersion"] = fmt.Sprint(f.version)
	object["metadata"] = meta
	f.objects[p.path()] = object
}

func versionOf(object map[string]any) string {
	v, _ := object["metadata"].(map[string]any)["resourceVersion"].(string)
	return v
}

// decode reads what components send as protobuf, and JSON otherwise.
func (f *fake) decode(r *http.Request, body []byte) map[string]any {
	if r.Header.Get("Content-Type") == runtime.ContentTypeProtobuf {
		object, kind, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
		if err != nil {
			f.t.Error(err)
			return map[string]any{"metadata": map[string]any{}}
		}
		object.GetObjectKind().SetGroupVersionKind(*kind)
		if body, err = json.Marshal(object); err != nil {
			f.t.Error(err)
		}
	}
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		f.t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	return m
}

func (f *fake) list(w http.ResponseWriter, r *http.Request, p place) {
	items := []any{}
	_, selected, _ := strings.Cut(r.URL.Query().Get("labelSelector"), "=")
	for _, path := range slices.Sorted(maps.Keys(f.objects)) {
		parts := strings.Split(path, "|")
		if parts[0] != p.base || parts[2] != p.plural || p.namespace != "" && parts[1] != p.namespace {
			continue
		}
		labels, _ := f.objects[path]["metadata"].(map[string]any)["labels"].(map[string]any)
		if selected == "" || labels[loadLabel] == selected {
			items = append(items, f.objects[path])
		}
	}
	f.answer(w, map[string]any{"metadata": map[string]any{"resourceVersion": fmt.Sprint(f.version)}, "items": items})
}

func (f *fake) answer(w http.ResponseWriter, object map[string]any) {
	if object == nil {
		refuse(w, http.StatusNotFound, "NotFound")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(object); err != nil {
		f.t.Log(err) // the client went away
	}
}

func refuse(w http.ResponseWriter, code int, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d}`, reason, code)
}

func (f *fake) on(before func(w http.ResponseWriter, r *http.Request, what string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before = before
}

// took resets the counts and gives those there were.
func (f *fake) took() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls := f.calls
	f.calls = map[string]int{}
	return calls
}

func (f *fake) left(plural string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for path := range f.objects {
		if strings.Split(path, "|")[2] == plural {
			n++
		}
	}
	return n
}

// ran prepares and runs a load and cleans up after it.
func ran(t *testing.T, l Load, d time.Duration) *Result {
	t.Helper()
	if err := l.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := l.Run(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Cleanup(t.Context()); err != nil {
		t.Error(err)
	}
	if !slices.IsSortedFunc(r.Figures, func(a, b figure) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("figures are not sorted")
	}
	return r
}

// want compares counts and other exact figures.
func want(t *testing.T, r *Result, wanted map[string]float64) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if got, ok := r.Value(name); !ok || got != wanted[name] {
			t.Errorf("%s is %v (there: %v), want %v", name, got, ok, wanted[name])
		}
	}
}

// within is for figures of time.
func within(t *testing.T, r *Result, name string, low, high float64) {
	t.Helper()
	if got, ok := r.Value(name); !ok || got < low || got > high {
		t.Errorf("%s is %v (there: %v), want %v to %v", name, got, ok, low, high)
	}
}
