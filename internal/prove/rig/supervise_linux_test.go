package rig

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// shell is a rig with one process that is a shell script, and a log of what
// the rig says.
func shell(t *testing.T, script string) (*Rig, *Process, *lines) {
	t.Helper()
	t.Parallel() // they wait more than they work
	dir, err := newDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	log := &lines{}
	r := &Rig{dir: dir, spawner: newSpawner(), options: Options{Log: log}}
	r.life, r.end = context.WithCancel(context.Background())
	p := &Process{
		Name: "script", Component: "sh", Argv: []string{"/bin/sh", "-c", script}, LogPath: filepath.Join(r.LogDir(), "script.log"),
		rig: r, grace: 2 * time.Second, env: r.environment(),
	}
	r.processes = []*Process{p}
	t.Cleanup(r.Stop)
	return r, p, log
}

// lines is a writer that may be read meanwhile.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// eventually waits for something that a process or a watcher has to do.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if done() {
			return
		}
	}
	t.Fatalf("%s: not in time", what)
}

// probed answers a probe as healthy says.
func probed(t *testing.T, period time.Duration, failures int) (*probe, *atomic.Bool) {
	t.Helper()
	healthy := &atomic.Bool{}
	healthy.Store(true)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !healthy.Load() {
			http.Error(w, "store is down", http.StatusInternalServerError)
		}
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL + "/livez")
	if err != nil {
		t.Fatal(err)
	}
	return &probe{url: u, period: period, timeout: time.Second, failures: failures}, healthy
}

// A probe that fails as often as it may, and no less often, restarts.
func TestSupervisionCountsFailures(t *testing.T) {
	r, p, log := shell(t, "exec sleep 1000")
	ask, healthy := probed(t, 50*time.Millisecond, 40)
	p.probes.live = ask
	begin(t, p)
	r.supervise(p)
	// Fewer failures in a row than it takes, with a success between.
	healthy.Store(false)
	time.Sleep(500 * time.Millisecond)
	healthy.Store(true)
	time.Sleep(200 * time.Millisecond)
	healthy.Store(false)
	time.Sleep(500 * time.Millisecond)
	if p.Restarts() != 0 {
		t.Fatalf("restarted after a few failures:\n%s", log)
	}
	before := p.PID()
	eventually(t, "restart", func() bool { return p.Restarts() == 1 })
	healthy.Store(true)
	if p.PID() == before || !strings.Contains(log.String(), "restarting script in 0s: its probe has failed too often") || !strings.Contains(log.String(), "store is down") {
		t.Errorf("process %d then %d:\n%s", before, p.PID(), log)
	}
	if strings.Contains(log.String(), "by itself") {
		t.Errorf("what the rig stopped is told as an accident:\n%s", log)
	}
}

func begin(t *testing.T, p *Process) {
	t.Helper()
	p.op.Lock()
	defer p.op.Unlock()
	if err := p.spawn(); err != nil {
		t.Fatal(err)
	}
}

// One that ends at once is started at once the first time and later after
// that; one that was killed on purpose stays down.
func TestSupervisionBacksOff(t *testing.T) {
	r, p, log := shell(t, "exit 3")
	begin(t, p)
	r.supervise(p)
	eventually(t, "the second delay", func() bool { return strings.Contains(log.String(), "restarting script in 10s") })
	if p.Restarts() != 1 || !strings.Contains(log.String(), "restarting script in 0s: it has ended: exit status 3") {
		t.Errorf("%d restarts:\n%s", p.Restarts(), log)
	}
	began := time.Now()
	r.Stop()
	if time.Since(began) > 5*time.Second {
		t.Errorf("Stop waits for a delay: %s", time.Since(began))
	}
}

func TestKilledStaysDown(t *testing.T) {
	r, p, log := shell(t, "exec sleep 1000")
	begin(t, p)
	r.supervise(p)
	p.Kill()
	time.Sleep(1500 * time.Millisecond)
	if p.Running() || p.Restarts() != 0 {
		t.Errorf("running %v, %d restarts:\n%s", p.Running(), p.Restarts(), log)
	}
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := p.PID()
	// The restarted one is watched again.
	if process, err := os.FindProcess(first); err != nil || process.Kill() != nil {
		t.Fatalf("kill: %v", err)
	}
	eventually(t, "restart by supervision", func() bool { return p.Restarts() == 1 && p.Running() })
	if p.PID() == first {
		t.Error("the same process")
	}
}

// Stop ends what does not want to end, and is final.
func TestStopIsFinal(t *testing.T) {
	r, p, _ := shell(t, "trap '' TERM; echo ready; while :; do sleep 1; done")
	begin(t, p)
	eventually(t, "the script", func() bool { return strings.Contains(tail(p.LogPath), "ready") })
	r.Stop()
	if p.Running() {
		t.Error("still running")
	}
	if err := p.Restart(t.Context()); err == nil || !strings.Contains(err.Error(), "the rig is stopped") {
		t.Errorf("started after Stop: %v", err)
	}
	if _, err := r.Extra(t.Context(), "more", []string{"/bin/true"}); err == nil {
		t.Error("one more after Stop")
	}
	if _, err := os.Stat(r.Dir()); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", r.Dir(), err)
	}
}

// Wipe removes data and nothing outside the rig.
func TestWipe(t *testing.T) {
	r, p, _ := shell(t, "exec sleep 1000")
	if err := p.Wipe(); err == nil {
		t.Error("a process without data is wiped")
	}
	for _, outside := range []string{filepath.Dir(r.dir), r.dir, "/tmp"} {
		p.dataDir = outside
		if err := p.Wipe(); err == nil {
			t.Fatalf("%s is removed", outside)
		}
	}
	p.dataDir = filepath.Join(r.dir, "cp-1", "data")
	if err := os.MkdirAll(filepath.Join(p.dataDir, "member"), 0o700); err != nil {
		t.Fatal(err)
	}
	begin(t, p)
	if err := p.Wipe(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(p.dataDir); err != nil || len(entries) > 0 || p.Running() {
		t.Errorf("left %v, %v, running %v", entries, err, p.Running())
	}
}

// Ready tells why it gave up, with the end of the log.
func TestReadyTells(t *testing.T) {
	_, p, _ := shell(t, "echo the reason; exec sleep 1000")
	ask, healthy := probed(t, time.Second, 1)
	healthy.Store(false)
	p.probes = probes{startup: &probe{url: ask.url, period: 500 * time.Millisecond, failures: 1, timeout: 500 * time.Millisecond}}
	if err := p.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "never started") {
		t.Errorf("error %v", err)
	}
	begin(t, p)
	err := p.Ready(t.Context())
	for _, want := range []string{"script", "not ready within 1s", "answers 500: store is down", "the reason"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
	healthy.Store(true)
	if err := p.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	if got := fmt.Sprint(p.probes.startup.patience()); got != "1s" {
		t.Errorf("patience %s", got)
	}
}
