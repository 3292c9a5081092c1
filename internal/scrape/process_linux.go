package scrape

import (
	"fmt"

	"github.com/prometheus/procfs"
)

// ReadProcess asks the kernel for a process by its id.
func ReadProcess(pid int) (Process, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return Process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	stat, err := p.Stat()
	if err != nil {
		return Process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	status, err := p.NewStatus()
	if err != nil {
		return Process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	return Process{
		ResidentBytes: float64(stat.ResidentMemory()),
		PeakBytes:     float64(status.VmHWM),
		CPUSeconds:    stat.CPUTime(),
	}, nil
}

// ReadHost asks the kernel how busy the machine's processors were.
func ReadHost() (Host, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return Host{}, fmt.Errorf("host: %w", err)
	}
	stat, err := fs.Stat()
	if err != nil {
		return Host{}, fmt.Errorf("host: %w", err)
	}
	// Guest time is part of user time.
	c := stat.CPUTotal
	busy := c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal
	return Host{BusySeconds: busy, TotalSeconds: busy + c.Idle + c.Iowait}, nil
}
