package lint

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/internal/yamltext"
)

// generated is a tree of files of all kinds, a tenth of which nothing here is
// about; each is made when it is opened.
type generated struct{ n int }

// host is how many files stand in one directory.
const perHost = 10

func (g generated) name(i int) string {
	dir := fmt.Sprintf("site-%d/cp-%d/", i/perHost/3, i/perHost%3)
	return dir + [perHost]string{
		"kubeadm-config.yaml", "manifests/kube-apiserver.yaml", "manifests/etcd.yaml", "manifests/etcd-events.yaml",
		"patches/kube-apiserver0+json.yaml", "kubelet.yaml", "kind/kind.yaml", "kops/cluster.yaml", "flags/apiserver.flags", "app/deployment.yaml",
	}[i%perHost]
}

func (g generated) text(name string) string {
	switch name[strings.LastIndexByte(name, '/')+1:] {
	case "kubeadm-config.yaml":
		return configMap("{extraArgs: [{name: event-ttl, value: 30m}]}")
	case "kube-apiserver.yaml":
		return stacked(events)
	case "etcd.yaml":
		return etcdPod("etcd", mainCA, "/var/lib/etcd", 2379)
	case "etcd-events.yaml":
		return etcdPod("etcd-events", mainCA, "/mnt/events/etcd", 2383)
	case "kube-apiserver0+json.yaml":
		return "- op: add\n  path: /spec/containers/0/command/-\n  value: \"--goaway-chance=0.001\"\n"
	case "kubelet.yaml":
		return "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nkubeAPIQPS: 100\n"
	case "kind.yaml":
		return kindOf("v1.36.1", "kind: ClusterConfiguration\napiServer:\n  extraArgs:\n  - {name: event-ttl, value: 30m}")
	case "cluster.yaml":
		return kopsOf("aws", "Private", "")
	case "apiserver.flags":
		return "--event-ttl=30m\n--etcd-servers-overrides=/events#https://10.0.0.21:2379;https://10.0.0.22:2379\n--v=2\n"
	}
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec:\n      containers:\n      - {name: a, image: example.com/a:1}\n"
}

func (g generated) input() Input {
	return Input{
		Entries: func(yield func(Entry, error) bool) {
			for i := range g.n {
				if !yield(Entry{Path: g.name(i)}, nil) {
					return
				}
			}
		},
		Open: func(name string) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader([]byte(g.text(name)))), nil
		},
	}
}

// decode decodes every file to objects with the library that upstream reads
// YAML with, on as many workers, and judges nothing.
func (g generated) decode(b *testing.B) time.Duration {
	start := time.Now()
	names := make(chan string, 100)
	var done sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		done.Go(func() {
			for name := range names {
				for _, doc := range yamltext.Split([]byte(g.text(name))) {
					var v any
					if err := yaml.Unmarshal(doc.Text, &v); err != nil {
						b.Errorf("%s: %v", name, err)
					}
				}
			}
		})
	}
	for i := range g.n {
		if name := g.name(i); !strings.HasSuffix(name, ".flags") {
			names <- name
		}
	}
	close(names)
	done.Wait()
	return time.Since(start)
}

// BenchmarkLint lints a tree of 10,000 files, and says how many that is in a
// minute and how much longer it takes than decoding the same files.
func BenchmarkLint(b *testing.B) {
	g := generated{10_000}
	for b.Loop() {
		start := time.Now()
		r, err := Run(context.Background(), g.input())
		if err != nil || r.Files != 9_000 || r.Skipped != 1_000 {
			b.Fatalf("%d files, %d skipped: %v", r.Files, r.Skipped, err)
		}
		took := time.Since(start)
		b.ReportMetric(float64(g.n)/took.Minutes(), "files/min")
		b.ReportMetric(took.Seconds()/g.decode(b).Seconds(), "x-decoding")
	}
}

// TestSpeed keeps the least that is promised, 10,000 files a minute on two
// cores, by the processors' time that it takes: what else runs on the machine
// is no property of the code.
func TestSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("measures")
	}
	const cores = 2
	g := generated{1_000}
	before := processorTime(t)
	if _, err := Run(context.Background(), g.input()); err != nil {
		t.Fatal(err)
	}
	spent := processorTime(t) - before
	perMinute := float64(g.n) / (spent.Minutes() / cores)
	t.Logf("%.0f files a minute on %d cores", perMinute, cores)
	if perMinute < 10_000 {
		t.Errorf("%.0f files a minute on %d cores", perMinute, cores)
	}
}

// processorTime is what this process has taken so far, on all cores.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
