package lint

import (
	"strings"
	"testing"

	"github.com/kubeseams/seams/internal/lint/read"
)

// FuzzRun: whatever a file is called and holds, it is judged or said not to
// be, and a good file beside it has what it has.
func FuzzRun(f *testing.F) {
	f.Add("manifests/a.yaml", []byte(stacked(events)))
	f.Add("a.yaml", []byte(list(configMap("{}"), stacked(ttl))))
	f.Add("patches/kube-apiserver0+json.yaml", []byte("- op: add\n  path: /spec/containers/0/command/-\n  value: x\n"))
	f.Add("kind.yaml", []byte(kindOf("v1.36.1", "kind: ClusterConfiguration")))
	f.Add("kops.yaml", []byte(kopsOf("aws", "None", apiserverGroup)))
	f.Add("a.flags", []byte("--etcd-servers-overrides=/events#https://a:1;https://b:1\n"))
	f.Add("a.yaml", []byte(v4+"# seams:ignore flag-unknown because\n"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if len(data) > read.MaxBytes || name == "zz/good.yaml" || name == "" {
			return
		}
		files := tree{name: string(data), "zz/good.yaml": v4 + "noSuchField: 1\n"}
		r := run(t, files, Input{Entries: named(files)})
		found := strings.Join(brief(r.Findings), "\n")
		if !strings.Contains(found, "zz/good.yaml:4 error unknown-field") {
			t.Fatalf("hides another file's finding:\n%s", full(r.Findings))
		}
		if strings.Contains(found, "lint-failed") {
			t.Fatalf("fails:\n%s", full(r.Findings))
		}
		lines := strings.Count(string(data), "\n") + 2
		for _, x := range r.Findings {
			if x.File == name && (x.Line < 0 || x.Line > lines) {
				t.Fatalf("line %d of %d: %s", x.Line, lines, x)
			}
		}
	})
}
