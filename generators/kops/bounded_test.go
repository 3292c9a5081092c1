package kops_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubeseams/seams/generators/kops"
	check "github.com/kubeseams/seams/internal/check/kops"
	"github.com/kubeseams/seams/internal/file"
)

// TestHostileDocumentsAreBounded: aliases that multiply, depth and length take
// no more than a moment, and no panic.
func TestHostileDocumentsAreBounded(t *testing.T) {
	const head = "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nmetadata: {name: a.example.com}\nspec:\n  cloudProvider: aws\n"
	bomb := "  a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 12; i++ {
		bomb += fmt.Sprintf("  a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), i-1)
	}
	for name, text := range map[string]string{
		"aliases": head + bomb,
		"depth":   head + "  kubelet: " + strings.Repeat("{a: ", 9000) + strings.Repeat("}", 9000) + "\n",
		"lists":   head + "  kubelet: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "\n",
		"members": head + "  etcdClusters:\n  - name: main\n    etcdMembers:\n" + strings.Repeat("    - {name: a, instanceGroup: b, c: d}\n", 20000),
		"keys":    head + strings.Repeat("  x: 1\n", 20000),
		"cycle":   head + "  kubelet: &k {a: [*k]}\n",
		"empty":   strings.Repeat("---\n\n", 20000) + head,
	} {
		start := time.Now()
		check.Check(check.Input{Files: []file.File{{Path: "a.yaml", Data: []byte(text)}}})
		if _, _, _, err := kops.Merge([]byte(text), sharded(t)); err == nil && name != "empty" && name != "depth" && name != "lists" && name != "members" {
			t.Errorf("%s: merged", name)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: took %s", name, took)
		} else {
			t.Logf("%s: %s", name, took)
		}
	}
}
