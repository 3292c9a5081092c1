package scrape

import (
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

func TestSource(t *testing.T) {
	var asked []string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RequestURI())
		switch {
		case r.Header.Get("Authorization") != "Bearer token":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/debug/pprof/heap":
			w.Write([]byte("profile"))
		default:
			w.Write([]byte("# TYPE go_memstats_heap_alloc_bytes gauge\ngo_memstats_heap_alloc_bytes 42\n"))
		}
	}))
	defer server.Close()
	config := &rest.Config{BearerToken: "token", TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	s, err := NewSource("apiserver", server.URL, config)
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := s.HeapAfterGC(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if f, ok := Find(Memory(snapshot), "heap-bytes"); !ok || f.Value != 42 {
		t.Errorf("heap %+v", f)
	}
	want := "/debug/pprof/heap?gc=1 /debug/pprof/heap?gc=1 /metrics"
	if got := strings.Join(asked, " "); got != want {
		t.Errorf("asked %q, want %q", got, want)
	}

	anonymous, err := NewSource("apiserver", server.URL, &rest.Config{TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := anonymous.Scrape(t.Context()); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("without a token: %v", err)
	}
	for _, base := range []string{"", "127.0.0.1:1", "ftp://h", "https://"} {
		if _, err := NewSource("x", base, nil); err == nil {
			t.Errorf("%q is an address", base)
		}
	}
}

func TestHeapAfterGCNeedsProfiling(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	s, err := NewSource("etcd", server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.HeapAfterGC(t.Context()); err == nil || !strings.Contains(err.Error(), "collect garbage: etcd: GET /debug/pprof/heap: 404") {
		t.Errorf("%v", err)
	}
}

func TestReadProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		if _, err := ReadProcess(os.Getpid()); err == nil {
			t.Error("no error without /proc")
		}
		return
	}
	before, err := ReadProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); time.Since(began) < 300*time.Millisecond; { // work
	}
	after, err := ReadProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if after.ResidentBytes < 1<<20 || after.PeakBytes < after.ResidentBytes/2 || after.CPUSeconds <= before.CPUSeconds {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if h, err := ReadHost(); err != nil || h.BusySeconds <= 0 || h.TotalSeconds <= h.BusySeconds {
		t.Errorf("host %+v, %v", h, err)
	}
	if _, err := ReadProcess(1 << 30); err == nil {
		t.Error("a process that cannot be")
	}
}
