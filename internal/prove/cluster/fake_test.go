package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// fake is as much of an API as a run and its parts ask for: objects of any kind
// by their paths, in JSON. A Job's Pods are goroutines that call Drive.
type fake struct {
	*httptest.Server
	t *testing.T

	mu      sync.Mutex
	objects map[string]map[string]any // by path
	uid     int
	writes  int // to custom resources
	// fail, when it says so, refuses a call.
	fail func(r *http.Request) bool
	pods sync.WaitGroup
	ctx  context.Context
	stop context.CancelFunc
}

func newFake(t *testing.T) *fake {
	f := &fake{t: t, objects: map[string]map[string]any{}, fail: func(*http.Request) bool { return false }}
	f.ctx, f.stop = context.WithCancel(context.Background())
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(func() { f.stop(); f.pods.Wait(); f.Close() })
	f.put("/api/v1/nodes/worker-1", map[string]any{"metadata": map[string]any{"name": "worker-1"}, "status": map[string]any{
		"capacity": map[string]any{"cpu": "4", "memory": "16Gi"}, "nodeInfo": map[string]any{"operatingSystem": "linux", "architecture": "amd64"}}})
	return f
}

func (f *fake) config() *rest.Config { return &rest.Config{Host: f.URL} }

func (f *fake) put(at string, o map[string]any) {
	f.uid++
	m, _ := o["metadata"].(map[string]any)
	m["uid"], m["resourceVersion"] = fmt.Sprintf("uid-%d", f.uid), fmt.Sprint(f.uid)
	f.objects[at] = o
}

// left are the paths of what carries the label of a run.
func (f *fake) left() (all []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for at, o := range f.objects {
		if labels(o)[RunLabel] != nil || strings.Contains(at, "prove.seams.dev/v1") {
			all = append(all, at)
		}
	}
	return all
}

func labels(o map[string]any) map[string]any {
	m, _ := o["metadata"].(map[string]any)
	l, _ := m["labels"].(map[string]any)
	return l
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	body := map[string]any{}
	raw, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(raw, &body)
	at, object := strings.TrimSuffix(r.URL.Path, "/status"), f.objects[strings.TrimSuffix(r.URL.Path, "/status")]
	if strings.HasPrefix(at, "/apis/g") && r.Method != http.MethodGet {
		f.writes++
	}
	switch {
	case f.fail(r):
		f.refuse(w, http.StatusInternalServerError, "InternalError")
	case at == "/metrics":
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprintf(w, "# TYPE apiserver_request_total counter\napiserver_request_total{verb=\"POST\"} %d\n", f.writes)
		fmt.Fprint(w, "# TYPE go_memstats_heap_alloc_bytes gauge\ngo_memstats_heap_alloc_bytes 1e6\n")
	case strings.HasPrefix(at, "/debug/pprof/"):
		fmt.Fprint(w, "profile")
	case at == "/version":
		fmt.Fprint(w, `{"gitVersion":"v1.37.2+vendor.1"}`)
	case r.Method == http.MethodPost:
		f.post(w, r, body)
	case object == nil && r.Method == http.MethodGet && collection(at):
		f.list(w, r)
	case object == nil:
		f.refuse(w, http.StatusNotFound, "NotFound")
	case r.Method == http.MethodPatch:
		merge(object, body)
		f.answer(w, object)
	case r.Method == http.MethodDelete:
		f.remove(at)
		f.answer(w, object)
	default:
		f.answer(w, object)
	}
}

// collection reports whether a path is of a collection: what is last is a
// resource, and not a name.
func collection(at string) bool {
	parts := strings.Split(strings.Trim(at, "/"), "/")
	n := 3 // apis, group, version
	if parts[0] == "api" {
		n = 2
	}
	return (len(parts)-n)%2 == 1
}

func (f *fake) post(w http.ResponseWriter, r *http.Request, body map[string]any) {
	m, _ := body["metadata"].(map[string]any)
	name, _ := m["name"].(string)
	at := path.Join(r.URL.Path, name)
	if f.objects[at] != nil {
		f.refuse(w, http.StatusConflict, "AlreadyExists")
		return
	}
	if r.URL.Query().Get("dryRun") == "" {
		f.put(at, body)
	}
	w.WriteHeader(http.StatusCreated)
	f.answer(w, body)
	switch {
	case r.URL.Path == namespaces:
		f.put(path.Join(namespaces, name, "serviceaccounts/default"), map[string]any{"metadata": map[string]any{"name": "default"}})
	case path.Base(r.URL.Path) == "jobs":
		f.runJob()
	}
}

// runJob is the Job controller, the scheduler and the kubelets.
func (f *fake) runJob() {
	data, _ := f.objects[path.Join(configMaps(Namespace), specMap)]["data"].(map[string]any)
	text, _ := data[specFile].(string)
	s, err := ReadSpec([]byte(text))
	if err != nil {
		f.t.Error(err)
		return
	}
	for i := range s.Parts {
		f.pods.Go(func() { _ = Drive(f.ctx, f.config(), s, i) })
	}
}

func (f *fake) list(w http.ResponseWriter, r *http.Request) {
	key, value, equals := strings.Cut(r.URL.Query().Get("labelSelector"), "=")
	items := []any{}
	for at, o := range f.objects {
		mine := path.Dir(at) == r.URL.Path
		if key != "" && (labels(o)[key] == nil || equals && labels(o)[key] != value) {
			mine = false
		}
		if mine {
			items = append(items, o)
		}
	}
	f.answer(w, map[string]any{"metadata": map[string]any{"resourceVersion": "1"}, "items": items})
}

// remove takes what is in a namespace, or of a definition, with it.
func (f *fake) remove(at string) {
	delete(f.objects, at)
	name := path.Base(at)
	for other := range f.objects {
		plural, group, _ := strings.Cut(name, ".")
		if strings.HasPrefix(other, at+"/") || path.Dir(at) == namespaces && strings.Contains(other, "/namespaces/"+name+"/") ||
			strings.HasSuffix(path.Dir(at), "customresourcedefinitions") && strings.HasPrefix(other, "/apis/"+group+"/") && strings.Contains(other, "/"+plural+"/") {
			delete(f.objects, other)
		}
	}
}

func (f *fake) answer(w io.Writer, o any) { _ = json.NewEncoder(w).Encode(o) }

func (f *fake) refuse(w http.ResponseWriter, code int, reason string) {
	w.WriteHeader(code)
	f.answer(w, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Code: int32(code), Reason: metav1.StatusReason(reason)})
}

func merge(into, from map[string]any) {
	for k, v := range from {
		inner, both := v.(map[string]any)
		if old, ok := into[k].(map[string]any); ok && both {
			merge(old, inner)
			continue
		}
		into[k] = v
	}
}
