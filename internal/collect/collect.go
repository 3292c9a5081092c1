// Package collect puts a program's first garbage collection off. It is no arrow
// of the flow: a program imports it for what it does at the start.
//
// It does so before main, since a third of what a short run allocates upstream's
// packages allocate while they are initialised. Packages whose imports are
// initialised go in the order of their import paths, and this one waits for next
// to nothing: it comes before all of Kubernetes'.
package collect

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
)

// smallHeap is how much the program may take from the system, in bytes, before
// anything is collected: more than a command on one profile ever allocates.
const smallHeap = 128 << 20

// From the first collection on the runtime collects as it always does, so that
// long runs stay flat. A render allocates some 20 MB and ends: collecting it
// from 4 MB on is a third of its processors' time. What the user says with GOGC
// or GOMEMLIMIT stands.
func init() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	percent := debug.SetGCPercent(-1)
	debug.SetMemoryLimit(smallHeap)
	// Nothing refers to the first collection's sign, which is how it is one.
	// It is larger than what the runtime packs together with other values.
	sign := new([64]byte)
	runtime.AddCleanup(sign, func(percent int) {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(math.MaxInt64)
	}, percent)
}
