//go:build rig

package rig_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/measure"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/prove/rig"
	"github.com/kubeseams/seams/internal/scrape"
)

// measuredFamilies are those that measure reads; the rest of a page of some
// megabytes is not kept.
var measuredFamilies = []string{
	"process_start_time_seconds", "process_resident_memory_bytes", "kubernetes_build_info", "apiserver_resource_objects",
	"apiserver_resource_size_estimate_bytes", "apiserver_longrunning_requests", "apiserver_storage_size_bytes",
	"etcd_requests_total", "etcd_request_errors_total", "apiserver_request_total",
}

// page reads an apiserver's metrics.
func page(t *testing.T, config *rest.Config) []byte {
	t.Helper()
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	data, err := c.RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var kept bytes.Buffer
	for line := range bytes.Lines(data) {
		family := strings.TrimPrefix(strings.TrimPrefix(string(line), "# TYPE "), "# HELP ")
		name := family[:strings.IndexAny(family, "{ ")]
		if slices.Contains(measuredFamilies, name) && !bytes.HasPrefix(line, []byte("# HELP")) {
			kept.Write(line)
		}
	}
	return kept.Bytes()
}

// TestMeasureTwoServers drives a known load through two apiservers and measures
// it by what each of them says: calls add up, for each counts its own clients,
// and objects do not, for both count those of one etcd. SEAMS_SAVE names a
// directory for the pages, from which internal/measure has its testdata.
func TestMeasureTwoServers(t *testing.T) {
	r := start(t, rig.Options{Files: render(t, "two.cue", "--fail-on", "never")})
	var configs []*rest.Config
	for _, p := range r.Processes() {
		if strings.HasPrefix(p.Name, "kube-apiserver@") {
			configs = append(configs, r.Config(p.Name))
		}
	}
	if len(configs) != 2 {
		t.Fatalf("%d apiservers", len(configs))
	}
	driver, err := load.NewDriver(load.Options{Servers: configs, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	sessions := &load.Churn{Driver: driver, Bytes: 3000, Cycles: 1, StatusWrites: 1, Pause: 500 * time.Millisecond}
	sessions.AtWrites(30)
	objects := &load.Objects{Driver: driver, ConfigMaps: load.Set{Count: 300, Bytes: 2000}}
	nodes := &load.Nodes{Driver: driver, Count: 50, LeaseDuration: 16 * time.Second, StatusEvery: 20 * time.Second, Images: 2}
	loads := []load.Load{nodes, sessions, objects}
	if err := load.Prepare(t.Context(), loads...); err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() {
		_, err := load.Together(t.Context(), 125*time.Second, loads...)
		ran <- err
	}()
	// The objects are counted once a minute.
	time.Sleep(25 * time.Second)
	var looks [2]measure.Look
	var pages [2][2][]byte
	for round := range 2 {
		if round == 1 {
			time.Sleep(80 * time.Second)
		}
		for i, config := range configs {
			pages[i][round] = page(t, config)
			s, err := scrape.Read(bytes.NewReader(pages[i][round]), time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if round == 0 {
				looks[i] = measure.Look{Name: "cp-" + string(rune('1'+i)), Before: s}
			} else {
				looks[i].After = s
			}
		}
	}
	if err := <-ran; err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("SEAMS_SAVE"); dir != "" {
		for i := range pages {
			for round := range pages[i] {
				name := filepath.Join(dir, looks[i].Name+"-"+string(rune('1'+round))+".txt")
				if err := os.WriteFile(name, pages[i][round], 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	both, err := measure.FromMetrics(looks[:], nil)
	if err != nil {
		t.Fatal(err)
	}
	churned, maps := profile.GroupResource{Group: load.Group, Resource: "sessions"}, profile.GroupResource{Resource: "configmaps"}
	driven := sessions.PerSecond * float64(sessions.WritesPerSession()) * both.Seconds
	within(t, "writes of sessions", both.Kinds[churned].Writes(), driven)
	within(t, "config maps", both.Kinds[maps].Objects, 300)
	for i := range looks {
		one, err := measure.FromMetrics(looks[i:i+1], nil)
		if err != nil {
			t.Fatal(err)
		}
		share := one.Kinds[churned].Writes() / both.Kinds[churned].Writes()
		t.Logf("%s saw %.0f %% of the writes", looks[i].Name, 100*share)
		if share < 0.2 || share > 0.8 {
			t.Errorf("%s saw %.2f of the writes: the load is not on both", looks[i].Name, share)
		}
		within(t, "config maps by one alone", one.Kinds[maps].Objects, both.Kinds[maps].Objects)
	}
}
