package load

import (
	"net/http"
	"testing"
	"time"
)

// quick nodes renew every 250 ms.
func quick(f *fake) *Nodes {
	return &Nodes{Driver: f.driver(Options{}), Count: 20, LeaseDuration: time.Second, StatusEvery: time.Second, Images: 3, LateAfter: 200 * time.Millisecond}
}

func TestNodesRenew(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	n := quick(f)
	if err := n.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.end()
	f.took()
	r, err := n.Run(t.Context(), 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	// 20 nodes, 4 times a second, up to 4 % less often.
	within(t, r, "lease-renewals-due", 145, 160)
	within(t, r, "lease-gap-max-seconds", 0.2, 3)
	want(t, r, map[string]float64{"status-reports": 40, "nodes-ready-ratio": 1, "lease-conflicts": 0, "lease-renewals-failed": 0})
	calls := f.took()
	done, _ := r.Value("lease-renewals")
	if calls["PUT leases"] != int(done) || calls["GET leases"] != 0 {
		t.Errorf("a renewal is one PUT and no GET: %v for %v renewals", calls, done)
	}
	want(t, r, map[string]float64{"lease-renewals-per-second": done / 2})
	if err := n.Cleanup(t.Context()); err != nil || f.left("nodes")+f.left("leases") != 0 {
		t.Errorf("nodes or leases left: %v", err)
	}
}

// Nodes renew between Prepare and Run, too, and Run takes over without a conflict.
func TestNodesRenewBeforeTheyRun(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	n := quick(f)
	if err := n.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.took()
	time.Sleep(time.Second)
	if puts := f.took()["PUT leases"]; puts < 50 || puts > 85 {
		t.Errorf("%d renewals in a second, 20 nodes make 80", puts)
	}
	r, err := n.Run(t.Context(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	want(t, r, map[string]float64{"lease-conflicts": 0, "lease-renewals-failed": 0, "nodes-ready-ratio": 1})
	if err := n.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := n.Cleanup(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.took()
	time.Sleep(300 * time.Millisecond)
	if calls := f.took(); len(calls) > 0 {
		t.Errorf("after the clean-up: %v", calls)
	}
}

// A lease that someone else wrote is read and written again; one that is gone is
// made again.
func TestNodesRecoverTheirLeases(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	n := quick(f)
	if err := n.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.end()
	f.mu.Lock()
	k := 0
	for path, o := range f.objects {
		if p := (place{base: "apis/coordination.k8s.io/v1", namespace: leaseNamespace, plural: "leases"}).path(); len(path) > len(p) && path[:len(p)] == p {
			if k++; k%2 == 0 {
				delete(f.objects, path)
			} else {
				o["metadata"].(map[string]any)["resourceVersion"] = "999999"
			}
		}
	}
	f.mu.Unlock()
	if k != 20 {
		t.Fatalf("%d leases", k)
	}
	r, err := n.Run(t.Context(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	want(t, r, map[string]float64{"lease-conflicts": 10, "lease-renewals-failed": 0})
	if f.left("leases") != 20 {
		t.Errorf("%d leases, want 20", f.left("leases"))
	}
}

// A stall is seen as late renewals and as the longest gap; a node whose renewal
// hangs does not start another.
func TestNodesStall(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	n := quick(f)
	if err := n.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.end()
	began := time.Now()
	f.on(func(_ http.ResponseWriter, _ *http.Request, what string) bool {
		if at := time.Since(began); what == "PUT leases" && at > 300*time.Millisecond && at < 1300*time.Millisecond {
			time.Sleep(1300*time.Millisecond - at)
		}
		return false
	})
	r, err := n.Run(t.Context(), 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	within(t, r, "lease-gap-max-seconds", 1, 5)
	within(t, r, "lease-renewal-max-seconds", 0.7, 5)
	within(t, r, "lease-renewals-late", 15, 45)
	within(t, r, "lease-renewals-missed", 30, 90)
	v := func(name string) float64 { x, _ := r.Value(name); return x }
	if v("lease-renewals")+v("lease-renewals-missed")+v("lease-renewals-failed") != v("lease-renewals-due") || v("lease-renewals-failed") != 0 {
		t.Errorf("%v", r.Figures)
	}
}

func TestUnpreparedLoadsRefuse(t *testing.T) {
	d := newFake(t).driver(Options{})
	for _, l := range []Load{
		&Nodes{Driver: d}, &Churn{Driver: d}, &Pods{Driver: d}, &Objects{Driver: d}, &Probe{Driver: d}, &Events{Driver: d}, &Elections{Driver: d}, &Watchers{Driver: d},
	} {
		if _, err := l.Run(t.Context(), time.Second); err == nil {
			t.Errorf("%s ran", l.Name())
		}
	}
	if _, err := NewDriver(Options{}); err == nil {
		t.Error("a driver of no servers")
	}
}
