package rig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// readyEvery is how often a process that is not ready yet is asked again.
const readyEvery = 200 * time.Millisecond

// Ready waits until the process is ready by its manifest's readiness probe, or
// its startup probe when it has none. It is an error when the process ends, or
// takes longer than the startup probe allows; the error has its last lines.
func (p *Process) Ready(ctx context.Context) error {
	ask := p.readyProbe()
	limit := defaultPatience
	if p.probes.startup != nil {
		limit = p.probes.startup.patience()
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not ready within %s", limit))
	defer cancel()
	client := probeClient()
	var last error
	for {
		r := p.current()
		if r == nil {
			return fmt.Errorf("%s was never started", p.Name)
		}
		if r.ended() {
			return p.failure(errors.Join(errors.New("it has ended"), r.exit))
		}
		if ask == nil {
			return nil
		}
		if last = ask.ask(ctx, client); last == nil {
			return nil
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return p.failure(errors.Join(context.Cause(ctx), last))
		case <-time.After(readyEvery):
		}
	}
}

// defaultPatience is for a process without a startup probe.
const defaultPatience = 2 * time.Minute

func (p *Process) readyProbe() *probe {
	if p.ReadyURL != "" {
		if request, err := http.NewRequest(http.MethodGet, p.ReadyURL, nil); err == nil {
			return &probe{url: request.URL, timeout: 5 * time.Second}
		}
	}
	for _, candidate := range []*probe{p.probes.ready, p.probes.startup, p.probes.live} {
		if candidate != nil {
			return candidate
		}
	}
	return nil
}

const (
	tailLines = 15
	tailBytes = 16 << 10
	// lineBytes is what is shown of a line: etcd writes all of its settings in one.
	lineBytes = 400
)

// failure is an error about the process with the last lines of its log.
func (p *Process) failure(err error) error {
	return fmt.Errorf("%s: %w\nlast lines of %s:\n%s", p.Name, err, p.LogPath, tail(p.LogPath))
}

// tail is the last lines of a file.
func tail(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > tailBytes {
		_, _ = f.Seek(-tailBytes, io.SeekEnd)
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	for i, line := range lines {
		if len(line) > lineBytes {
			lines[i] = strings.ToValidUTF8(line[:lineBytes], "") + " ..."
		}
	}
	return "  " + strings.Join(lines, "\n  ")
}
