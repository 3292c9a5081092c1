package prove

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// thisMachine describes where a run takes place. What cannot be found out, on
// another system than Linux, stays empty.
func thisMachine() Machine {
	m := Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}
	if kib, ok := strings.CutSuffix(fieldOf("/proc/meminfo", "MemTotal"), " kB"); ok {
		if n, err := strconv.ParseFloat(strings.TrimSpace(kib), 64); err == nil {
			m.MemoryGiB = float64(int(n/(1<<20)*10+0.5)) / 10
		}
	}
	m.Description = fieldOf("/proc/cpuinfo", "model name")
	return m
}

// fieldOf is the value of the first line "NAME: value" of a file.
func fieldOf(file, name string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
