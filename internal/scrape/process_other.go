//go:build !linux

package scrape

import (
	"errors"
	"fmt"
)

// ReadProcess needs /proc: elsewhere it is an error.
func ReadProcess(pid int) (Process, error) {
	return Process{}, fmt.Errorf("process %d: %w", pid, errors.ErrUnsupported)
}

// ReadHost needs /proc: elsewhere it is an error.
func ReadHost() (Host, error) { return Host{}, fmt.Errorf("host: %w", errors.ErrUnsupported) }
