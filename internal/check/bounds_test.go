package check

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubeseams/seams/internal/file"
)

// TestBounds: input that grows as it is read, or is long, is judged in bounded time.
func TestBounds(t *testing.T) {
	t.Parallel()
	var laughs strings.Builder
	laughs.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&laughs, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	const v1beta3 = "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\n"
	const v1beta4 = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n"
	args := v1beta4 + "apiServer:\n  extraArgs:\n" + strings.Repeat("  - {name: etcd-servers-overrides, value: \"/events#https://a:2379\"}\n", 3000)
	unknown := v1beta4 + strings.Repeat("a", 1<<20) + ": 1\n"
	etcds := strings.Repeat("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {hostNetwork: true, containers: [{name: a, image: i, command: [etcd]}]}\n---\n", 300)
	for name, text := range map[string]string{
		"aliases":          laughs.String(),
		"aliases, old api": v1beta3 + laughs.String(),
		"aliases, new api": v1beta4 + laughs.String(),
		"to itself":        v1beta3 + "apiServer: &a\n  extraArgs: *a\n",
		"deep":             strings.Repeat("[", 20000),
		"deep mapping":     strings.Repeat("{a: ", 9000),
		"many arguments":   args,
		"a long name":      unknown,
		"many pods":        etcds,
		"too big":          strings.Repeat("# x\n", maxBytes/4+1),
	} {
		start := time.Now()
		Check(Input{Files: []file.File{{Path: "a.yaml", Data: []byte(text)}}, Target: minor(36)})
		Check(Input{Files: []file.File{{Path: "patches/kube-apiserver0+merge.yaml", Data: []byte(text)}}, Target: newest})
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s took %s", name, took)
		} else {
			t.Logf("%s: %s", name, took)
		}
	}
}
