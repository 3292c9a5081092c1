package check

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/target"
)

func TestDev(t *testing.T) {
	names, _ := filepath.Glob("../../e2e/cases/inputs/*.yaml")
	for _, n := range names {
		data, _ := os.ReadFile(n)
		t.Log("==", filepath.Base(n))
		for _, f := range Check(Input{Files: []file.File{{Path: filepath.Base(n), Data: data}}, Target: target.Target{Kubernetes: target.Version{Major: 1, Minor: 37, Patch: 2}, Platform: target.Kubeadm}}) {
			t.Log("  ", f.String())
		}
	}
	for _, dir := range []string{"kubeadm/testdata/*", "staticpod/testdata/*", "kind/testdata/v1beta4/*", "kind/testdata/v1beta3/*"} {
		cases, _ := filepath.Glob("../../generators/" + dir)
		for _, root := range cases {
			var files []file.File
			filepath.Walk(root, func(p string, i os.FileInfo, err error) error {
				if err == nil && !i.IsDir() {
					data, _ := os.ReadFile(p)
					rel, _ := filepath.Rel(root, p)
					files = append(files, file.File{Path: rel, Data: data})
				}
				return nil
			})
			t.Log("==", root)
			for _, f := range Check(Input{Files: files, Target: target.Target{Kubernetes: target.Version{Major: 1, Minor: 37, Patch: 2}, Platform: target.Kubeadm}}) {
				t.Log("  ", f.String())
			}
		}
	}
}
