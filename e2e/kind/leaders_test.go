//go:build kind

package kind

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubeseams/seams/e2e/kind/cluster"
)

// sample is whether a process says that it leads.
type sample struct {
	at    time.Time
	leads bool
}

// elected are the programs that elect a leader, and where they serve metrics.
var elected = map[string]int{"kube-controller-manager": 10257, "kube-scheduler": 10259}

// administrator is a certificate of system:masters with its key: processes that
// serve metrics take it without asking an apiserver, which may be away.
func administrator(t *testing.T, c *cluster.Cluster, host string) string {
	t.Helper()
	var pem strings.Builder
	for line := range strings.Lines(node(t, c, host, "cat", "/etc/kubernetes/super-admin.conf")) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if name != "client-certificate-data" && name != "client-key-data" {
			continue
		}
		data, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			t.Fatal("the administrator's certificate cannot be read")
		}
		pem.Write(data)
	}
	return pem.String()
}

// leadersLoop asks both programs of a node whether they lead, for ever. One that
// does not answer does not lead, or nobody can know it.
const leadersLoop = `cd /run
while sleep 0.5; do
	for at in "$@"; do
		status=$(curl -sk --max-time 2 --cert seams-administrator.pem --key seams-administrator.pem "https://127.0.0.1:${at#*:}/metrics" |
			awk -v name="${at%:*}" '$1 == "leader_election_master_status{name=\"" name "\"}" { print $2 }')
		echo "$(date +%s%N) ${at%:*} ${status:-0}"
	done
done`

// leaders reads what the loop in a node says.
func (w *witness) leaders(ctx context.Context, host string) {
	args := []string{"exec", host, "bash", "-c", leadersLoop, "leaders"}
	for program, port := range elected {
		args = append(args, fmt.Sprintf("%s:%d", program, port))
	}
	cmd := exec.CommandContext(ctx, "docker", args...)
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
