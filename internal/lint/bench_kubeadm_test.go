package lint

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"k8s.io/klog/v2"
	kubeadmconfig "k8s.io/kubernetes/cmd/kubeadm/app/util/config"
)

// BenchmarkLintAndKubeadm judges 2,000 kubeadm configurations, each other than
// the rest, and has kubeadm's own "config validate" do the same in this process:
// without its start, which is most of what the command takes.
func BenchmarkLintAndKubeadm(b *testing.B) {
	klog.SetOutput(io.Discard) // kubeadm tells of files to stderr
	klog.LogToStderr(false)
	files, texts := tree{}, []string{}
	for i := range 2_000 {
		text := fmt.Sprintf("apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\nclusterName: c%d\ncontrolPlaneEndpoint: api.example.internal:6443\napiServer:\n  extraArgs:\n  - {name: event-ttl, value: 30m}\n  - {name: etcd-servers-overrides, value: \"/events#https://10.0.0.21:2379;https://10.0.0.22:2379;https://10.0.0.23:2379\"}\n---\napiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nkubeAPIQPS: 100\n", i)
		files[fmt.Sprintf("d%d/kubeadm.yaml", i)] = text
		texts = append(texts, text)
	}
	for b.Loop() {
		start := time.Now()
		r := run(b, files, Input{})
		ours := time.Since(start)
		if len(r.Findings) > 0 || r.Files != len(files) {
			b.Fatalf("%d files: %.300s", r.Files, full(r.Findings))
		}
		start = time.Now()
		for _, text := range texts {
			if err := kubeadmconfig.ValidateConfig([]byte(text), false, false); err != nil {
				b.Fatal(err)
			}
		}
		theirs := time.Since(start)
		b.ReportMetric(float64(len(files))/ours.Minutes(), "files/min")
		b.ReportMetric(float64(len(files))/theirs.Minutes(), "kubeadm-files/min")
		b.ReportMetric(ours.Seconds()/theirs.Seconds(), "x-kubeadm")
	}
}

// TestKubeadmAgrees: the benchmark's files are judged alike.
func TestKubeadmAgrees(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{v4: true, v4 + "noSuchField: 1\n": false, strings.Replace(v4, "v1beta4", "v1beta9", 1): false} {
		r, err := Run(context.Background(), Input{Entries: named(tree{"k.yaml": text}), Open: func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }})
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := len(r.Findings) == 0, kubeadmconfig.ValidateConfig([]byte(text), false, false) == nil
		if ours != want || theirs != want {
			t.Errorf("lint passes it %v, kubeadm %v, want %v:\n%s", ours, theirs, want, text)
		}
	}
}
