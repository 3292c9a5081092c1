package cli

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
)

// smallHeap is how much the program may take from the system, in bytes, before
// anything is collected: more than a command on one profile ever allocates.
const smallHeap = 128 << 20

// CollectLate puts the first collection off until smallHeap is taken; from then
// on the runtime collects as it always does, so that long runs stay flat. A
// render allocates some 45 MB and ends: collecting it from 4 MB on is a third of
// its processors' time. What the user says with GOGC or GOMEMLIMIT stands.
func CollectLate() {
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
