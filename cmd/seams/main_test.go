package main

import (
	"os"
	"runtime"
	"testing"
)

// Nothing is collected while packages are initialised. It began before main
// when a package of upstream's came before internal/collect.
func TestStartCollectsNothing(t *testing.T) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		t.Skip("GOGC or GOMEMLIMIT is set, and stands")
	}
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	if now.NumGC > 0 || now.TotalAlloc < 4<<20 {
		t.Errorf("%d collections before the tests, of %d KiB allocated: want none, and more than what the runtime begins to collect at", now.NumGC, now.TotalAlloc>>10)
	}
}
