package target

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestControllersAreUpstreams reads the names from the source of the newest
// supported minor, which the module requires.
func TestControllersAreUpstreams(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "k8s.io/kubernetes/cmd/kube-controller-manager/names").Output()
	if err != nil {
		t.Fatal(err)
	}
	pkgs, err := parser.ParseDir(token.NewFileSet(), strings.TrimSpace(string(out)), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, file := range pkgs["names"].Files {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for _, v := range spec.Values {
				if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					name, err := strconv.Unquote(lit.Value)
					if err != nil {
						t.Fatal(err)
					}
					want = append(want, name)
				}
			}
			return true
		})
	}
	slices.Sort(want)
	newest := Version{1, MaxKubernetes, 0}
	if got := Controllers(newest); !slices.Equal(got, want) {
		t.Errorf("Kubernetes %s:\n got %v\nwant %v", newest.Line(), got, want)
	}
	if len(want) < 40 || !slices.Contains(want, ServiceAccountTokens) {
		t.Errorf("upstream's list looks wrong: %v", want)
	}
	if older := Controllers(Version{1, MinKubernetes, 0}); len(older) >= len(want) || !slices.IsSorted(older) {
		t.Errorf("%d controllers in the oldest minor, %d in the newest", len(older), len(want))
	}
}
