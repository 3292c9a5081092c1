package diff

import (
	"strings"
	"testing"

	"github.com/kubeseams/seams/internal/file"
)

const cluster = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n"

func TestRead(t *testing.T) {
	t.Parallel()
	e, err := Read([]file.File{
		{Path: "a.yaml", Data: []byte("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  data:\n    ClusterConfiguration: |\n      " + strings.ReplaceAll(strings.TrimSpace(cluster), "\n", "\n      ") + "\n")},
		{Path: "b.yaml", Data: []byte("# kops is not what this is\napiVersion: v1\nkind: Pod\nmetadata: {name: etcd}\nspec:\n  containers:\n  - command: [etcd]\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	stream, err := e.Stream(false)
	if err != nil || string(stream) != cluster {
		t.Errorf("%v, the stream is %q", err, stream)
	}
	if e.HasKops() || !e.HasHosts() || len(e.pods()) != 1 || e.docs[0].place() != "a.yaml, items[0].data.ClusterConfiguration" {
		t.Errorf("documents are %+v", e.docs)
	}
}

func TestReadKops(t *testing.T) {
	t.Parallel()
	const spec = "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nmetadata: {name: x}\n---\napiVersion: v1\nkind: ConfigMap\ndata: {a: kubeadm.k8s.io}\n"
	const group = "---\napiVersion: kops.k8s.io/v1alpha2\nkind: InstanceGroup"
	e, err := Read([]file.File{{Path: "c.yaml", Data: []byte(spec)}, {Path: "g.yaml", Data: []byte(group)}})
	if err != nil {
		t.Fatal(err)
	}
	stream, err := e.Stream(true)
	if err != nil || string(stream) != spec+group {
		t.Errorf("%v, the stream is %q", err, stream)
	}
	if len(e.docs) != 3 || e.docs[1].kind != "ConfigMap" || e.Find("Cluster", "x") == nil {
		t.Errorf("documents are %+v", e.docs)
	}
}

func TestReadFails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files []file.File
		want  string
	}{
		"two configurations": {[]file.File{{Path: "a", Data: []byte(cluster)}, {Path: "b", Data: []byte(cluster)}}, "a and b both hold a ClusterConfiguration"},
		"no YAML":            {[]file.File{{Path: "a", Data: []byte(cluster + "---\na: [\n")}}, "a: the document that begins on line 4"},
		"brackets":           {[]file.File{{Path: "a", Data: []byte(strings.Repeat("[", 2000))}}, "a: brackets stand"},
	} {
		e, err := Read(tc.files)
		if err == nil {
			_, err = e.Stream(false)
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error is %v, want %q", name, err, tc.want)
		}
	}
}

// FuzzRead: whatever a file holds, it is read or refused, and the streams made
// of it have its documents.
func FuzzRead(f *testing.F) {
	f.Add([]byte(cluster))
	f.Add([]byte("apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\n---\n--- # x\nkind: a\n...\n"))
	f.Add([]byte("apiVersion: v1\nkind: ConfigMap\ndata: {kubelet: \"apiVersion: kubelet.config.k8s.io/v1beta1\\nkind: KubeletConfiguration\"}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := Read([]file.File{{Path: "a.yaml", Data: data}})
		if err != nil {
			return
		}
		if stream, err := e.Stream(true); err == nil && len(e.kopsFiles()) == 1 && string(stream) != string(data) {
			t.Fatalf("%q became %q", data, stream)
		}
		e.ignored()
	})
}
