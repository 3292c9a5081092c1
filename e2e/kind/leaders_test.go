//go:build kind

package kind

import (
	"bufio"
	"context"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sample is whether a process says that it leads.
type sample struct {
	at    time.Time
	leads bool
}

// elected are the programs that elect a leader.
var elected = []string{"kube-controller-manager", "kube-scheduler"}

// leadersLoop says once a second of each program of a node whether it leads, by
// what its process last logged of its election; one that is gone leads nothing.
// Their metrics say the same, but take a third of a core to ask for on three hosts.
const leadersLoop = `cd /var/log/pods
while sleep 1; do
	for program in "$@"; do
		leads=0
		# The kernel keeps fifteen letters of a name.
		if pgrep -x "${program:0:15}" >/dev/null; then
			log=$(ls -t kube-system_"$program"-*/"$program"/*.log 2>/dev/null | head -n 1)
			last=$(grep -hE '"(Successfully acquired lease|Failed to renew lease|leaderelection lost)' "$log" /dev/null | tail -n 1)
			[[ $last != *"Successfully acquired"* ]] || leads=1
		fi
		echo "$(date +%s%N) $program $leads"
	done
done`

// leaders reads what the loop in a node says.
func (w *witness) leaders(ctx context.Context, host string) {
	cmd := exec.CommandContext(ctx, "docker", append([]string{"exec", host, "bash", "-c", leadersLoop, "leaders"}, elected...)...)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		// No samples at all fail the test at its end.
		return
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) != 3 {
			continue
		}
		nanos, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			continue
		}
		w.mu.Lock()
		of := w.leads[fields[1]]
		of[host] = append(of[host], sample{time.Unix(0, nanos), fields[2] == "1"})
		w.mu.Unlock()
	}
	_ = cmd.Wait()
}

// overlap is a time in which two processes of a program both said they lead.
type overlap struct {
	program, one, other string
	from                time.Duration
	length              time.Duration
}

// held are the times between two samples that both say a process leads: it may
// lead for longer, never for less. A gap in the samples ends one.
func held(samples []sample) [][2]time.Time {
	var all [][2]time.Time
	for i, s := range samples {
		if i == 0 || !s.leads || !samples[i-1].leads || s.at.Sub(samples[i-1].at) > 5*time.Second {
			continue
		}
		if n := len(all); n > 0 && all[n-1][1].Equal(samples[i-1].at) {
			all[n-1][1] = s.at
			continue
		}
		all = append(all, [2]time.Time{samples[i-1].at, s.at})
	}
	return all
}

// overlaps are all times with two leaders.
func (w *witness) overlaps() []overlap {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []overlap
	for _, program := range slices.Sorted(maps.Keys(w.leads)) {
		for i, one := range w.hosts {
			for _, other := range w.hosts[i+1:] {
				for _, a := range held(w.leads[program][one]) {
					for _, b := range held(w.leads[program][other]) {
						from, to := a[0], a[1]
						if b[0].After(from) {
							from = b[0]
						}
						if b[1].Before(to) {
							to = b[1]
						}
						if to.After(from) {
							all = append(all, overlap{program, one, other, from.Sub(w.began).Round(time.Second), to.Sub(from).Round(100 * time.Millisecond)})
						}
					}
				}
			}
		}
	}
	return all
}
