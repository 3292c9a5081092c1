package read

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		named      bool
		want       Kind
	}{
		{"a.yaml", "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n", false, Kubeadm},
		{"a.yaml", "\"apiVersion\": 'kubeadm.k8s.io/v1beta4' # x\r\nkind: ClusterConfiguration\r\n", false, Kubeadm},
		{"a.yaml", "{apiVersion: kubeadm.k8s.io/v1beta4, kind: ClusterConfiguration}\n", false, Kubeadm},
		{"a.json", "{\n  \"apiVersion\": \"kubeadm.k8s.io/v1beta4\",\n  \"kind\": \"ClusterConfiguration\"\n}\n", false, Kubeadm},
		{"a.yaml", "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n---\napiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n", false, Kubeadm | Component},
		{"a.yaml", "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\n", false, Kops},
		{"a.yaml", "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\n", false, KindCluster},
		{"a.yaml", "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - command:\n    - kube-apiserver\n", false, Pod},
		{"a.yaml", "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - command: [etcd, --name=a]\n", false, Pod},
		{"a.yaml", "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - image: etcd-backup\n", false, None},
		{"a.yaml", "apiVersion: v1\nkind: ConfigMap\ndata:\n  ClusterConfiguration: |\n    apiVersion: kubeadm.k8s.io/v1beta4\n", false, ConfigMap},
		{"a.yaml", "apiVersion: v1\nkind: List\nitems:\n- kind: ConfigMap\n  data:\n    ClusterConfiguration: |\n      apiVersion: kubeadm.k8s.io/v1beta4\n", false, ConfigMap},
		{"a.yaml", "apiVersion: v1\nkind: ConfigMap\ndata: {a: kubeadm}\n", false, None},
		{"a.yaml", "apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: KubeadmControlPlane\n# kubeadm.k8s.io\n", false, None},
		{"a.yaml", "apiVersion: apps/v1\nkind: Deployment\n", false, None},
		{"README.txt", "--etcd-servers is a flag\n", false, None},
		{"README.txt", "--event-ttl=5m\n", true, Flags},
		{"a.flags", "# comment\n\n--event-ttl=5m\n", false, Flags},
		{"a.txt", "/usr/local/bin/kube-apiserver --event-ttl=5m\n", true, Flags},
		{"kubeadm-flags.env", "KUBELET_KUBEADM_ARGS=\"--v=2\"\n", false, Flags},
		{"a.yaml", "---\n", true, None},
		{"a", "", true, None},
	} {
		if got := Of(tc.name, []byte(tc.text), tc.named); got != tc.want {
			t.Errorf("%s %q: %b, want %b", tc.name, tc.text, got, tc.want)
		}
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text      string
		component string
		want      []string
		lines     []int
	}{
		{"--event-ttl=5m\n\n# c\n--v 2\n", target.KubeAPIServer, []string{"--event-ttl=5m", "--v", "2"}, []int{1, 4, 4}},
		{"--etcd-servers-overrides=/events#https://a:1, x/y#https://b:1\n", target.KubeAPIServer, []string{"--etcd-servers-overrides=/events#https://a:1, x/y#https://b:1"}, []int{1}},
		{"--etcd-servers-overrides='/events#https://a:1'\n", target.KubeAPIServer, []string{"--etcd-servers-overrides='/events#https://a:1'"}, []int{1}},
		{"kube-apiserver --etcd-servers-overrides='/events#https://a:1' --v=2\n", target.KubeAPIServer, []string{"--etcd-servers-overrides=/events#https://a:1", "--v=2"}, []int{1, 1}},
		{"/usr/bin/etcd \\\n  --name=a \\\n  --data-dir=\"/var/lib/e t\"\n", target.Etcd, []string{"--name=a", "--data-dir=/var/lib/e t"}, []int{2, 3}},
		{"--name=a --data-dir=/b\n", target.Etcd, []string{"--name=a", "--data-dir=/b"}, []int{1, 1}},
		{"--node-monitor-grace-period=50s\n", target.KubeControllerManager, []string{"--node-monitor-grace-period=50s"}, []int{1}},
		{"KUBELET_KUBEADM_ARGS=\"--v=2 --node-ip=10.0.0.1\"\n", target.Kubelet, []string{"--v=2", "--node-ip=10.0.0.1"}, []int{1, 1}},
		{"", target.KubeAPIServer, nil, nil},
	} {
		c := Command("a", []byte(tc.text), "", target.Version{})
		var words []string
		var lines []int
		for _, w := range c.Words {
			words, lines = append(words, w.Text), append(lines, w.Line)
		}
		if c.Component != tc.component || !slices.Equal(words, tc.want) || !slices.Equal(lines, tc.lines) {
			t.Errorf("%q: %s %q at %v", tc.text, c.Component, words, lines)
		}
	}
}

const dump = `# a dump
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: kubeadm-config}
  data:
    ClusterConfiguration: |
      apiVersion: kubeadm.k8s.io/v1beta4
      kind: ClusterConfiguration
    ClusterStatus: "x"
- apiVersion: v1
  kind: ConfigMap
  data:
    kubelet: "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
- apiVersion: v1
  kind: Pod
  metadata: {name: a}
  spec:
    containers:
    - name: a
      command:
      - etcd
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
`

// TestPieces: each piece's lines and paths are those of the file.
func TestPieces(t *testing.T) {
	t.Parallel()
	pieces := Pieces("d/dump.yaml", []byte(dump))
	var got []string
	for _, p := range pieces {
		if !strings.HasPrefix(p.Name, "d/dump.yaml") {
			t.Errorf("%s leaves the file's directory", p.Name)
		}
		got = append(got, p.Within())
	}
	want := []string{"", "items[0].data.ClusterConfiguration", "items[1].data.kubelet", "items[2]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	for i, tc := range []struct {
		in   finding.Finding
		line int
		path string
	}{
		{finding.Finding{Line: 28, Path: "kind"}, 28, "kind"},
		{finding.Finding{Line: 2, Path: "kind"}, 11, "items[0].data.ClusterConfiguration: kind"},
		{finding.Finding{Line: 2}, 16, "items[1].data.kubelet"},
		{finding.Finding{Line: 5, Path: "spec.containers[0].command[0]"}, 24, "items[2]: spec.containers[0].command[0]"},
	} {
		f := pieces[i].Place(tc.in)
		if f.File != "d/dump.yaml" || f.Line != tc.line || f.Path != tc.path {
			t.Errorf("%s: %s:%d %s", got[i], f.File, f.Line, f.Path)
		}
	}
	if !strings.Contains(string(pieces[0].Data), "InitConfiguration") || strings.Contains(string(pieces[0].Data), "ConfigMap") {
		t.Errorf("the rest is %q", pieces[0].Data)
	}
	if strings.Count(string(pieces[0].Data), "\n") != strings.Count(dump, "\n") {
		t.Error("the rest has other lines")
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		dump:                               true,
		strings.Repeat("[", 999):           true,
		strings.Repeat("[", 1001):          false,
		strings.Repeat("- ", 501) + "a":    false,
		strings.Repeat(" ", 1001) + "a":    false,
		strings.Repeat(" ", 5000) + "\n":   true,
		strings.Repeat("a,", maxMarks+1):   false,
		strings.Repeat("a:\n", maxMarks/4): true,
	} {
		if err := Bounds([]byte(text)); (err == nil) != ok {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// FuzzPieces: whatever a file holds, its pieces place findings in it.
func FuzzPieces(f *testing.F) {
	f.Add([]byte(dump))
	f.Add([]byte("apiVersion: v1\nkind: ConfigMap\ndata: &a\n  x: >\n    kubeadm.k8s.io\n  y: *a\n"))
	f.Add([]byte("{\"kind\": \"List\", \"apiVersion\": \"v1\", \"items\": [{\"kind\": \"Pod\", \"command\": [\"etcd\"]}]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if Bounds(data) != nil {
			return
		}
		lines := strings.Count(string(data), "\n") + 2
		for _, p := range Pieces("a.yaml", data) {
			got := p.Place(finding.Finding{Line: 1, Path: "spec.containers[0]"})
			if got.File != "a.yaml" || got.Line < 0 || got.Line > lines {
				t.Fatalf("%s:%d of %d lines", got.File, got.Line, lines)
			}
		}
	})
}

// FuzzCommand: words stand on lines that there are.
func FuzzCommand(f *testing.F) {
	f.Add([]byte("--a=b\n--c d\n"))
	f.Add([]byte("kube-apiserver \\\n --a='b c' \"--d=\\\"\"\n"))
	f.Add([]byte("KUBELET_EXTRA_ARGS=\"--v=2\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := strings.Count(string(data), "\n") + 1
		last := 1
		for _, w := range Command("a", data, "", target.Version{}).Words {
			if w.Line < last || w.Line > lines {
				t.Fatalf("word %q on line %d of %d", w.Text, w.Line, lines)
			}
			last = w.Line
		}
	})
}

// FuzzOf: telling a kind neither fails nor depends on what stands behind.
func FuzzOf(f *testing.F) {
	f.Add("a.yaml", []byte(dump), true)
	f.Fuzz(func(t *testing.T, name string, data []byte, named bool) {
		if a, b := Of(name, data, named), Of(name, data, named); a != b {
			t.Fatalf("%b and %b", a, b)
		}
	})
}
