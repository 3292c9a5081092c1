//go:build rig

package rig_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/prove/rig"
	"github.com/kubeseams/seams/internal/scrape"
)

// sharding turns the alpha gate on that shard selectors need.
func sharding(t *testing.T, files []file.File) []file.File {
	t.Helper()
	program, edited := []byte("- kube-apiserver\n"), 0
	for i, f := range files {
		_, after, ok := bytes.Cut(f.Data, program)
		if !ok {
			continue
		}
		indent := after[:len(after)-len(bytes.TrimLeft(after, " "))]
		gate := append(append([]byte{}, indent...), "- --feature-gates=ShardedListAndWatch=true\n"...)
		files[i].Data = bytes.Replace(f.Data, program, append(append([]byte{}, program...), gate...), 1)
		edited++
	}
	if edited != 1 {
		t.Fatalf("%d apiservers edited, want 1", edited)
	}
	return files
}

// TestLoads drives every load against a real control plane, one after another,
// and compares what they say with what the processes say.
func TestLoads(t *testing.T) {
	r := start(t, rig.Options{Files: sharding(t, render(t, "one.cue"))})
	driver, err := load.NewDriver(load.Options{Servers: []*rest.Config{r.Config("")}, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	p := plane{Rig: r, driver: driver, api: source(t, r, "kube-apiserver@cp-1"), etcd: source(t, r, "etcd@cp-1")}
	t.Run("nodes", p.nodes)
	t.Run("churn", p.churn)
	t.Run("pods", p.pods)
	t.Run("objects", p.objects)
	t.Run("shards", p.shards)
	t.Run("elections", p.elections)
	t.Run("heap", p.heap)
}

type plane struct {
	*rig.Rig
	driver    *load.Driver
	api, etcd *scrape.Source
}

func source(t *testing.T, r *rig.Rig, name string) *scrape.Source {
	t.Helper()
	url := strings.TrimSuffix(r.Process(name).MetricsURL, "/metrics")
	var config *rest.Config
	if strings.HasPrefix(url, "https") {
		config = r.Config("")
	}
	s, err := scrape.NewSource(name, url, config)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// drive runs loads between two looks at a process, and cleans up.
func drive(t *testing.T, s *scrape.Source, d time.Duration, loads ...load.Load) ([]*load.Result, *scrape.Delta) {
	t.Helper()
	defer func() {
		if err := load.Cleanup(t.Context(), loads...); err != nil {
			t.Error(err)
		}
	}()
	if err := load.Prepare(t.Context(), loads...); err != nil {
		t.Fatal(err)
	}
	before, err := s.Scrape(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	results, err := load.Together(t.Context(), d, loads...)
	if err != nil {
		t.Fatal(err)
	}
	after, err := s.Scrape(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	delta, err := scrape.Between(before, after)
	if err != nil {
		t.Fatal(err)
	}
	if delta.Restarted != "" {
		t.Errorf("%s restarted: %s", s.Name, delta.Restarted)
	}
	for _, r := range results {
		if len(r.Failures) > 0 {
			t.Errorf("%s: failures %v", r.Load, r.Failures)
		}
		t.Logf("%s: %d figures, driver limits %q", r.Load, len(r.Figures), r.DriverLimits)
	}
	return results, delta
}

// figure of a result, which must be there.
func figure(t *testing.T, r *load.Result, name string) float64 {
	t.Helper()
	v, ok := r.Value(name)
	if !ok {
		t.Errorf("%s has no figure %s", r.Load, name)
	}
	return v
}

// The controller manager, watching too, keeps every node Ready, and the server
// counts as many renewals as the load.
func (p plane) nodes(t *testing.T) {
	nodes := &load.Nodes{Driver: p.driver, Count: 200, LeaseDuration: 8 * time.Second, StatusEvery: 10 * time.Second, Images: 5}
	results, d := drive(t, p.api, 10*time.Second, nodes)
	r := results[0]
	if got := figure(t, r, "nodes-ready-ratio"); got != 1 {
		t.Errorf("%v of the nodes are Ready", got)
	}
	done := figure(t, r, "lease-renewals")
	if done < 950 || done > 1010 {
		t.Errorf("%v renewals of 200 nodes in 10 s, want one every 2 to 2.08 s of each", done)
	}
	// Besides there are the elections of the components and the apiserver's own.
	counted, _ := d.Increase("apiserver_request_total", scrape.Where("resource", "leases"), scrape.Where("verb", "PUT"))
	if counted < done || counted > done+40 {
		t.Errorf("the server counts %v renewals, the load %v", counted, done)
	}
}

// The server counts as many writes of sessions as the load, and etcd no fewer.
func (p plane) churn(t *testing.T) {
	churn := &load.Churn{Driver: p.driver, Bytes: 3000, Cycles: 1, StatusWrites: 1, Pause: 500 * time.Millisecond}
	churn.AtWrites(70)
	before, err := p.etcd.Scrape(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	results, d := drive(t, p.api, 10*time.Second, churn, &load.Probe{Driver: p.driver})
	after, err := p.etcd.Scrape(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := results[0]
	writes := figure(t, r, "writes")
	if writes != figure(t, r, "writes-due") || writes < 690 {
		t.Errorf("%v of %v writes", writes, figure(t, r, "writes-due"))
	}
	counted, _ := d.Increase("apiserver_request_total", scrape.Where("group", load.Group), scrape.Where("verb", scrape.Mutating()...))
	if counted != writes {
		t.Errorf("the server counts %v writes of sessions, the load %v", counted, writes)
	}
	stored, err := scrape.Between(before, after)
	if err != nil {
		t.Fatal(err)
	}
	puts, _ := stored.Increase("etcd_mvcc_put_total")
	deletes, _ := stored.Increase("etcd_mvcc_delete_total")
	if destroyed := figure(t, r, "ended"); deletes < destroyed || puts < writes-destroyed {
		t.Errorf("etcd put %v keys and deleted %v, the load %v and %v", puts, deletes, writes-destroyed, destroyed)
	}
	if got := figure(t, results[1], "core-calls"); got != 100 {
		t.Errorf("%v core calls, want 100", got)
	}
}

func (p plane) pods(t *testing.T) {
	pods := &load.Pods{Driver: p.driver, PerSecond: 10, Bytes: 2500, StatusWrites: 2, Pause: 200 * time.Millisecond, Nodes: []string{"absent"}}
	results, _ := drive(t, p.api, 5*time.Second, pods)
	if r := results[0]; figure(t, r, "begun") != 50 || figure(t, r, "writes") != figure(t, r, "writes-due") {
		t.Errorf("%v", r.Figures)
	}
}

// Objects take the bytes in etcd that they were asked to take.
func (p plane) objects(t *testing.T) {
	objects := &load.Objects{
		Driver: p.driver, Custom: load.Set{Count: 20, Bytes: 3001}, ConfigMaps: load.Set{Count: 3, Bytes: 1000},
		Secrets: load.Set{Count: 3, Bytes: 1001}, Roles: load.Set{Count: 3, Bytes: 600}, RoleBindings: load.Set{Count: 3, Bytes: 700},
		ListEvery: time.Second,
	}
	if err := objects.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := p.EtcdClient("main")
	if err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string]int{
		load.Group + "/dormants": 3001, "configmaps": 1000, "secrets": 1001, "roles": 600, "rolebindings": 700,
	} {
		key := fmt.Sprintf("/registry/%s/prove-objects-0000/object-0000001", prefix)
		// etcdctl adds a newline.
		if got := len(etcdctl(t, c, "get", key, "--print-value-only")) - 1; got != want {
			t.Errorf("%s takes %d bytes, want %d", key, got, want)
		}
	}
	results, _ := drive(t, p.api, 3*time.Second, objects)
	if got := figure(t, results[0], "lists"); got != 3 {
		t.Errorf("%v lists, want 3", got)
	}
	if n := keys(t, p.Rig, "main", "/registry/"+load.Group+"/"); n != 0 {
		t.Errorf("%d custom resources left", n)
	}
}

// Shards together see everything, and nothing twice; a watch in one piece sees
// everything as well, by lists and as a stream.
func (p plane) shards(t *testing.T) {
	path := load.Dormants("").Path()
	results, _ := drive(t, p.api, 5*time.Second,
		&load.Objects{Driver: p.driver, Custom: load.Set{Count: 1000, Bytes: 1000}, UpdatesPerSecond: 40},
		&load.Watchers{Driver: p.driver, Path: path, Count: 1, Shards: 2},
		&load.Watchers{Driver: p.driver, Path: path, Count: 20},
		&load.Watchers{Driver: p.driver, Path: path, Count: 2, WatchList: true, Informers: true},
	)
	for i, prefix := range []string{"shard", "watch", "watch"} {
		for _, what := range []string{"missing", "stale", "extra"} {
			if got := figure(t, results[i+1], prefix+"-"+what+"-objects"); got != 0 {
				t.Errorf("%d: %v %s objects", i, got, what)
			}
		}
		if got := figure(t, results[i+1], "watched-objects"); got != 1000 {
			t.Errorf("%d: %v objects watched", i, got)
		}
	}
	shards := results[1]
	if got := figure(t, shards, "shard-duplicate-objects"); got != 0 {
		t.Errorf("%v objects in two shards", got)
	}
	// 1,000 random objects: five standard deviations are 16 %.
	if most, least := figure(t, shards, "shard-egress-ratio"), figure(t, shards, "shard-egress-ratio-min"); most > 1.16 || least < 0.84 {
		t.Errorf("shards carry %v and %v of an even part", most, least)
	}
}

func (p plane) elections(t *testing.T) {
	results, _ := drive(t, p.api, 5*time.Second, &load.Elections{Driver: p.driver, Count: 20}, &load.Events{Driver: p.driver, PerSecond: 50})
	if r := results[0]; figure(t, r, "leader-changes") != 0 || figure(t, r, "two-leaders") != 0 || figure(t, r, "leaderless-ratio") != 0 {
		t.Errorf("%v", r.Figures)
	}
	if got := figure(t, results[1], "events"); got != 250 {
		t.Errorf("%v events, want 250", got)
	}
}

// What is read after a garbage collection is the live heap, and the figures that
// proofs rest on are there.
func (p plane) heap(t *testing.T) {
	before, err := p.api.Scrape(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	collected, err := p.api.HeapAfterGC(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	heap, ok := scrape.Find(scrape.Memory(collected), "heap-bytes")
	if !ok || heap.Value < 20<<20 || heap.Value > 1<<30 {
		t.Errorf("live heap %+v", heap)
	}
	d, err := scrape.Between(before, collected)
	if err != nil {
		t.Fatal(err)
	}
	fs := scrape.APIServer(d)
	for _, name := range []string{"requests-per-second", "heap-inuse-bytes", "resident-bytes", "seats-nominal", "watches", "inflight-mutating", "cpu-cores"} {
		if _, ok := scrape.Find(fs, name); !ok {
			t.Errorf("the apiserver has no figure %s", name)
		}
	}
	resources := scrape.Resources(collected)
	if len(resources) < 30 {
		t.Errorf("only %d resources counted", len(resources))
	}
	process, err := scrape.ReadProcess(p.Process("kube-apiserver@cp-1").PID())
	if err != nil || process.ResidentBytes < heap.Value || process.CPUSeconds <= 0 {
		t.Errorf("process %+v, %v", process, err)
	}
}
