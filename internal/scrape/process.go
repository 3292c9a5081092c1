package scrape

// Process is what the kernel says of a process.
type Process struct {
	// ResidentBytes is the memory it holds now, PeakBytes the most it held.
	ResidentBytes, PeakBytes float64
	// CPUSeconds is user and system time since its start, in seconds.
	CPUSeconds float64
}

// Host is what the kernel says of the machine.
type Host struct {
	// BusySeconds is the time all processors together worked since boot, and
	// TotalSeconds the time there was, both in seconds of one processor.
	BusySeconds, TotalSeconds float64
}
