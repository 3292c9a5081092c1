package load

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubeseams/seams/internal/scrape"
)

func scratch(t *testing.T) (*Driver, *scrape.Source, *scrape.Source) {
	p := os.Getenv("SCRATCH")
	if p == "" {
		t.Skip("no scratch")
	}
	c, err := clientcmd.BuildConfigFromFlags("", p)
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDriver(Options{Servers: nil, Seed: 1})
	if err == nil {
		t.Fatal("no servers")
	}
	var o Options
	o.Servers = append(o.Servers, c)
	o.Seed = 1
	d, err = NewDriver(o)
	if err != nil {
		t.Fatal(err)
	}
	a, err := scrape.NewSource("apiserver", c.Host, c)
	if err != nil {
		t.Fatal(err)
	}
	e, err := scrape.NewSource("etcd", "http://127.0.0.1:23990", nil)
	if err != nil {
		t.Fatal(err)
	}
	return d, a, e
}

func drive(t *testing.T, secs int, loads ...Load) {
	_, a, e := scratch(t)
	ctx := context.Background()
	t0 := time.Now()
	if err := Prepare(ctx, loads...); err != nil {
		t.Error(err)
	} else {
		fmt.Println("prepared in", time.Since(t0))
		a0, _ := a.Scrape(ctx)
		e0, _ := e.Scrape(ctx)
		rs, err := Together(ctx, time.Duration(secs)*time.Second, loads...)
		if err != nil {
			t.Error(err)
		}
		a1, err := a.Scrape(ctx)
		if err != nil {
			t.Fatal(err)
		}
		e1, _ := e.Scrape(ctx)
		for _, r := range rs {
			fmt.Println("==", r.Load, r.Seconds, r.DriverLimits, r.Failures)
			for _, f := range r.Figures {
				fmt.Printf("   %-40s %12.5f %s\n", f.Name, f.Value, f.Unit)
			}
		}
		if os.Getenv("SCRAPES") != "" {
			da, err := Between(a0, a1)
			if err != nil {
				t.Fatal(err)
			}
			de, _ := Between(e0, e1)
			for _, f := range append(scrape.APIServer(da), scrape.Etcd(de)...) {
				fmt.Printf("   %-40s %12.5f %s\n", f.Name, f.Value, f.Unit)
			}
			for _, c := range scrape.Calls(da) {
				if c.Count > 10 {
					fmt.Printf("   %+v\n", c)
				}
			}
			g, err := a.HeapAfterGC(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range scrape.Memory(g) {
				fmt.Printf("   gc %-40s %12.5f %s\n", f.Name, f.Value, f.Unit)
			}
		}
	}
	t0 = time.Now()
	if err := Cleanup(ctx, loads...); err != nil {
		t.Error(err)
	}
	fmt.Println("cleaned in", time.Since(t0))
}

var Between = scrape.Between

func TestScratchNodes(t *testing.T) {
	d, _, _ := scratch(t)
	drive(t, 20, &Nodes{Driver: d, Count: 2000, Images: 10, StatusEvery: 300 * time.Second})
}
func TestScratchChurn(t *testing.T) {
	d, _, _ := scratch(t)
	c := &Churn{Driver: d, Bytes: 3000, Cycles: 1, StatusWrites: 1, Pause: time.Second}
	c.AtWrites(200)
	drive(t, 15, c, &Probe{Driver: d})
}
func TestScratchPods(t *testing.T) {
	d, _, _ := scratch(t)
	drive(t, 10, &Pods{Driver: d, PerSecond: 20, Bytes: 2500, StatusWrites: 2, Nodes: []string{"x-1"}})
}
func TestScratchShards(t *testing.T) {
	d, _, _ := scratch(t)
	drive(t, 10, &Objects{Driver: d, Custom: Set{2000, 3000}, UpdatesPerSecond: 50, ListEvery: time.Second, ConfigMaps: Set{50, 1000}, Secrets: Set{50, 1000}, Roles: Set{50, 600}, RoleBindings: Set{50, 600}, Namespaces: 3},
		&Watchers{Driver: d, Path: Dormants("").Path(), Count: 1, Shards: 2}, &Watchers{Driver: d, Path: Dormants("").Path(), Count: 300}, &Watchers{Driver: d, Path: Dormants("").Path(), Count: 3, WatchList: true})
}
func TestScratchSizes(t *testing.T) {
	d, _, _ := scratch(t)
	ctx := context.Background()
	o := &Objects{Driver: d, Custom: Set{3, 3001}, ConfigMaps: Set{3, 1000}, Secrets: Set{3, 1001}, Roles: Set{3, 600}, RoleBindings: Set{3, 700}}
	if err := o.Prepare(ctx); err != nil {
		t.Fatal(err)
	}
	p := &Pods{Driver: d, PerSecond: 2, Bytes: 2500, StatusWrites: 2}
	if err := p.Prepare(ctx); err != nil {
		t.Fatal(err)
	}
	fmt.Println(o.prepared, p.lifecycle.figures)
}
func TestScratchEvents(t *testing.T) {
	d, _, _ := scratch(t)
	drive(t, 10, &Events{Driver: d, PerSecond: 100}, &Elections{Driver: d, Count: 50})
}
