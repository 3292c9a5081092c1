package scrape

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The window is of the resource that changed most, and there is none while its
// ring still grows.
func TestWatchWindow(t *testing.T) {
	look := func(at time.Duration, hot, quiet, capacity int) *Snapshot {
		text := fmt.Sprintf(`# TYPE apiserver_watch_cache_events_received_total counter
apiserver_watch_cache_events_received_total{group="a.example",resource="sessions"} %d
apiserver_watch_cache_events_received_total{group="",resource="pods"} %d
# TYPE apiserver_watch_cache_capacity gauge
apiserver_watch_cache_capacity{group="a.example",resource="sessions"} %d
apiserver_watch_cache_capacity{group="",resource="pods"} 100
`, hot, quiet, capacity)
		s, err := Read(strings.NewReader(text), noon.Add(at))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range []struct {
		name                string
		perSecond, capacity int
		want                float64 // 0 is none
	}{
		{"settled", 100, 12800, 128},
		{"at its largest", 5000, 102400, 20.48},
		{"growing", 1000, 25600, 0},
		{"quiet", 0, 100, 0},
	} {
		d, err := Between(look(0, 7, 9, c.capacity), look(10*time.Second, 7+10*c.perSecond, 9, c.capacity))
		if err != nil {
			t.Fatal(err)
		}
		got, ok := Find(APIServer(d), WatchWindow)
		if ok != (c.want > 0) || got.Value != c.want {
			t.Errorf("%s: %g, %t; want %g", c.name, got.Value, ok, c.want)
		}
	}
}
