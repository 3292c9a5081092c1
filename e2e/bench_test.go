package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/kubeseams/seams/internal/cli"
)

// BenchmarkCold starts the program for one render of an example, and `cue
// export` of the same profile right after it, so that both meet the same
// machine; the ratio of their times is reported. hack/bench.sh builds both.
func BenchmarkCold(b *testing.B) {
	bin := os.Getenv("SEAMS_BENCH_BIN")
	if bin == "" {
		b.Skip("hack/bench.sh builds the binaries that are compared, and sets SEAMS_BENCH_BIN")
	}
	profile, err := filepath.Abs("../recipes/examples/agents.cue")
	if err != nil {
		b.Fatal(err)
	}
	var ours, peers time.Duration
	for b.Loop() {
		ours += timed(b, filepath.Join(bin, "seams"), "render", "-q", "-f", profile)
		peers += timed(b, filepath.Join(bin, "cue"), "export", profile)
	}
	n := time.Duration(b.N)
	b.ReportMetric(float64(ours/n)/1e6, "ms/render")
	b.ReportMetric(float64(peers/n)/1e6, "ms/cue-export")
	b.ReportMetric(float64(ours)/float64(peers), "x-cue-export")
}

func timed(b *testing.B, name string, args ...string) time.Duration {
	b.Helper()
	var talk bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir = ".."
	cmd.Stderr = &talk
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatalf("%s %v: %v\n%s", name, args, err, &talk)
	}
	return time.Since(begin)
}

// BenchmarkThousand renders a thousand profiles in one call, and a hundred in
// another: the time of one, and the live heap afterwards, must not depend on
// how many there were.
func BenchmarkThousand(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			args := []string{"render", "-q", "--force", "-d", filepath.Join(dir, "out")}
			for i := range n {
				name := filepath.Join(dir, fmt.Sprintf("p%d.yaml", i))
				text := fmt.Sprintf("name: p%d\nnodes: {count: %d}\ncontrolPlane: {hosts: [{name: cp-1, address: 10.0.0.11}]}\n", i, 100+i%100*250)
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					b.Fatal(err)
				}
				args = append(args, "-f", name)
			}
			var peak uint64
			for b.Loop() {
				stop := watchHeap(&peak)
				var out, talk bytes.Buffer
				code := cli.Main(context.Background(), cli.Streams{In: &out, Out: &out, Err: &talk}, args)
				stop()
				if code != 0 {
					b.Fatalf("exit %d\n%s", code, &talk)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*n), "ms/profile")
			b.ReportMetric(float64(peak)/(1<<20), "MiB-live")
		})
	}
}

// watchHeap notes the largest live heap until it is stopped.
func watchHeap(peak *uint64) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				*peak = max(*peak, m.HeapAlloc)
			}
		}
	}()
	return func() { close(done); <-ended }
}
