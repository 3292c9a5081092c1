package profile

import (
	"context"
	"runtime"
	"strings"
	"testing"
)

// TestMemoryIsFlat loads profile after profile with one loader: what it holds
// must not grow with their number.
func TestMemoryIsFlat(t *testing.T) {
	l := memoryLoader(nil)
	l.Limits.Renew = 50
	load := func(n int) {
		for range n {
			if _, found, err := l.Load(context.Background(), Options{Path: "-", Stdin: strings.NewReader("name: x\nnodes: {count: 5}\n"), Format: YAML}); err != nil || len(found) > 0 {
				t.Fatal(err, lines(found))
			}
		}
	}
	load(101) // One renewal is behind, and another due after 50 more.
	before := live()
	load(500)
	after := live()
	runtime.KeepAlive(l)
	if after > before+2<<20 {
		t.Errorf("500 profiles left %d KiB", (after-before)>>10)
	}
}
