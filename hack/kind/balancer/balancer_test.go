package main

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"text/template"
	"time"
)

// kindsTemplates are the string constants of kind's own package, which cannot
// be imported: what is read here is what kind writes.
func kindsTemplates(t *testing.T) map[string]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kind").Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(strings.TrimSpace(string(out)), "pkg/cluster/internal/loadbalancer/config.go")
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, value := range spec.Values {
			if text, ok := value.(*ast.BasicLit); ok && text.Kind == token.STRING {
				s, err := strconv.Unquote(text.Value)
				if err != nil {
					t.Fatal(err)
				}
				found[spec.Names[i].Name] = s
			}
		}
		return true
	})
	return found
}

// fill executes one of kind's templates.
func fill(t *testing.T, text string, port int, backends map[string]string) []byte {
	t.Helper()
	tmpl, err := template.New("").Funcs(template.FuncMap{"hostPort": func(a string) (map[string]string, error) {
		host, port, err := net.SplitHostPort(a)
		return map[string]string{"host": host, "port": port}, err
	}}).Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	data := struct {
		ControlPlanePort int
		BackendServers   map[string]string
		IPv6             bool
	}{port, backends, false}
	if err := tmpl.Execute(&b, data); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadsWhatKindWrites(t *testing.T) {
	kinds := kindsTemplates(t)
	file := filepath.Join(t.TempDir(), "envoy.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, kinds["DynamicFilesystemConfigTemplate"], "shop", "shop-lb", "/home/cds.yaml", "/home/lds.yaml"), 0o644); err != nil {
		t.Fatal(err)
	}
	lds, cds, err := readBootstrap(file)
	if err != nil || lds != "/home/lds.yaml" || cds != "/home/cds.yaml" {
		t.Fatalf("%q, %q, %v", lds, cds, err)
	}
	c, err := parse(fill(t, kinds["ProxyLDSConfigTemplate"], 6443, nil),
		fill(t, kinds["ProxyCDSConfigTemplate"], 6443, map[string]string{"a": "shop-control-plane:6443", "b": "shop-control-plane2:6443"}))
	if err != nil {
		t.Fatal(err)
	}
	if c.port != 6443 || !slices.Equal(c.backends, []string{"shop-control-plane:6443", "shop-control-plane2:6443"}) {
		t.Errorf("%+v", c)
	}
	if want := (health{path: "/healthz", interval: 2 * time.Second, timeout: 3 * time.Second, bad: 2, good: 1}); c.health != want {
		t.Errorf("health %+v, want %+v", c.health, want)
	}
	// What kind writes first.
	if c, err := parse([]byte("resources: []"), []byte("resources: []")); err != nil || c.port != 0 {
		t.Errorf("empty files: %+v, %v", c, err)
	}
	if _, err := parse(fill(t, kinds["ProxyLDSConfigTemplate"], 6443, nil), []byte("resources: []")); err == nil {
		t.Error("a listener without clusters to check was accepted")
	}
}

// apiserver answers /healthz as it is told and everything else with its name.
func apiserver(t *testing.T, name string, status *atomic.Int32) string {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			w.WriteHeader(int(status.Load()))
			return
		}
		_, _ = io.WriteString(w, name)
	}))
	s.Config.ErrorLog = nil
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// served collects who answers through the balancer.
func served(t *testing.T, port int) map[string]int {
	t.Helper()
	got := map[string]int{}
	for range 12 {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.TLSClientConfig = insecure()
		transport.DisableKeepAlives = true
		r, err := (&http.Client{Transport: transport, Timeout: 5 * time.Second}).Get(fmt.Sprintf("https://127.0.0.1:%d/", port))
		if err != nil {
			got["error"]++
			continue
		}
		body, _ := io.ReadAll(r.Body)
		r.Body.Close()
		got[string(body)]++
	}
	return got
}

func TestBalances(t *testing.T) {
	kinds := kindsTemplates(t)
	var a, b atomic.Int32
	a.Store(200)
	b.Store(200)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	dir := t.TempDir()
	write := func(name string, data []byte) {
		t.Helper()
		// As kind does: a file beside it, moved over it.
		if err := os.WriteFile(filepath.Join(dir, name+".tmp"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, name+".tmp"), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write("boot", fmt.Appendf(nil, kinds["DynamicFilesystemConfigTemplate"], "c", "n", filepath.Join(dir, "cds"), filepath.Join(dir, "lds")))
	write("cds", []byte("resources: []"))
	write("lds", []byte("resources: []"))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, filepath.Join(dir, "boot")) }()
	defer func() { stop(); <-ended }()
	write("cds", fill(t, kinds["ProxyCDSConfigTemplate"], port, map[string]string{"a": apiserver(t, "a", &a), "b": apiserver(t, "b", &b)}))
	write("lds", fill(t, kinds["ProxyLDSConfigTemplate"], port, nil))
	within := func(what string, ok func(map[string]int) bool) {
		t.Helper()
		var got map[string]int
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
			if got = served(t, port); ok(got) {
				return
			}
		}
		t.Fatalf("%s: %v", what, got)
	}
	within("both in turn", func(m map[string]int) bool { return m["a"] == 6 && m["b"] == 6 })
	b.Store(500)
	within("the healthy one alone", func(m map[string]int) bool { return m["a"] == 12 })
	a.Store(500)
	within("all, when none is healthy", func(m map[string]int) bool { return m["a"] == 6 && m["b"] == 6 })
	b.Store(200)
	within("the one that came back", func(m map[string]int) bool { return m["b"] == 12 })
}
