package tier

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// sleeper serves one definition as upstream does whose finalizer has missed its
// own change: deleted, it stays until something but its status is changed.
type sleeper struct {
	mu      sync.Mutex
	crd     *CRD
	changes []string
}

func (s *sleeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if s.crd == nil || !strings.HasSuffix(r.URL.Path, "/"+s.crd.Name) {
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound})
		return
	}
	out := *s.crd
	switch r.Method {
	case http.MethodDelete:
		now := metav1.Now()
		s.crd.DeletionTimestamp = &now
	case http.MethodPatch:
		body, _ := io.ReadAll(r.Body)
		s.changes = append(s.changes, string(body))
		if s.crd.DeletionTimestamp != nil {
			s.crd = nil
		}
	}
	_ = json.NewEncoder(w).Encode(out)
}

// A definition whose finalizer sleeps is woken, by a change that means nothing;
// one that is gone at once is not touched again.
func TestRemoveWakesTheFinalizer(t *testing.T) {
	t.Parallel()
	f := &sleeper{crd: &CRD{ObjectMeta: metav1.ObjectMeta{Name: "widgets.hot.example.dev", UID: "1"}}}
	server := httptest.NewServer(f)
	defer server.Close()
	s, err := NewServer(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if err := removeCRD(t.Context(), s, "widgets.hot.example.dev"); err != nil {
		t.Fatal(err)
	}
	if len(f.changes) != 1 || !strings.Contains(f.changes[0], `{"metadata":{"annotations":{"seams.dev/deletion-awaited":"`) {
		t.Errorf("changes %v", f.changes)
	}
	if err := removeCRD(t.Context(), s, "widgets.hot.example.dev"); err != nil || len(f.changes) != 1 {
		t.Errorf("one that is gone: %v, changes %v", err, f.changes)
	}
}

// Definitions that are being deleted are nobody's to mark.
func TestStaying(t *testing.T) {
	now := metav1.Now()
	all := []*CRD{{ObjectMeta: metav1.ObjectMeta{Name: "a", DeletionTimestamp: &now}}, {ObjectMeta: metav1.ObjectMeta{Name: "b"}}}
	if got := staying(all); len(got) != 1 || got[0].Name != "b" || all[0].Name != "a" {
		t.Errorf("staying %v of %v", got, all)
	}
}
