//go:build rig

package rig_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// operatorProcess is e2e/informer, and what it has told.
type operatorProcess struct {
	mu    sync.Mutex
	lines []map[string]string
}

// startOperator builds and starts it. It is a module of its own, so that
// controller-runtime is no requirement of the program.
func (s *semantics) startOperator(t *testing.T, on side, namespace string) *operatorProcess {
	t.Helper()
	program := filepath.Join(s.home, "informer")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = filepath.Join("..", "informer")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build of e2e/informer: %v\n%s", err, out)
	}
	cmd := exec.Command(program, "--kubeconfig", s.Kubeconfig(), "--kind", on.group+"/v1/Session", "--namespace", namespace)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p, done := &operatorProcess{}, make(chan struct{})
	go func() {
		defer close(done)
		for scan := bufio.NewScanner(out); scan.Scan(); {
			line := map[string]string{}
			if json.Unmarshal(scan.Bytes(), &line) == nil {
				p.mu.Lock()
				p.lines = append(p.lines, line)
				p.mu.Unlock()
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-done
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Logf("the operator ended with %v\n%s", err, said.String())
		}
	})
	return p
}

// told are the names of an event's objects so far.
func (p *operatorProcess) told(what string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var names []string
	for _, l := range p.lines {
		if l["event"] == what {
			names = append(names, l["name"])
		}
	}
	return names
}

// operator: one made with controller-runtime sees what is there and what
// changes, reads from its cache, writes status, and owns objects in the main
// server, which bring it back when they change.
func (s *semantics) operator(t *testing.T, on side) {
	ctx, ns := t.Context(), s.namespace(t, on, "operator")
	sessions := s.sessions(on, ns)
	create(t, sessions, on.session("before", nil))
	p := s.startOperator(t, on, ns)
	ready := func(name string) {
		t.Helper()
		eventually(t, name+" is ready", 30*time.Second, func() error {
			u, err := sessions.Get(ctx, name, metav1.GetOptions{})
			if err != nil || field(u, "status", "phase") != "Ready" {
				return errString(err, "no status")
			}
			return s.getConfigMap(t, ns, name)()
		})
	}
	ready("before")
	create(t, sessions, on.session("after", nil))
	ready("after")
	if err := s.kube.CoreV1().ConfigMaps(ns).Delete(ctx, "after", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the owned ConfigMap is made anew", 20*time.Second, s.getConfigMap(t, ns, "after"))
	if err := sessions.Delete(ctx, "before", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the informer's events", 20*time.Second, func() error {
		added, deleted := p.told("add"), p.told("delete")
		slices.Sort(added)
		if !slices.Equal(added, []string{"after", "before"}) || !slices.Equal(deleted, []string{"before"}) {
			return fmt.Errorf("added %v, deleted %v", added, deleted)
		}
		return nil
	})
	gone(t, "the owned ConfigMap", collected, s.getConfigMap(t, ns, "before"))
}
