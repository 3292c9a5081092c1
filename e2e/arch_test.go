// Package e2e tests the program as its users meet it: transcripts of the
// command line, golden directories of the examples, the CUE module as plain
// CUE sees it, and the shape of the source itself.
package e2e

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/kubeseams/seams"

// order is the flow from left to right; a package imports only what stands
// before it. Packages of equal rank do not import each other, unless listed
// in within.
var order = map[string]int{
	"":                             0,  // the embedded CUE module
	"internal/pattern":             -1, // what reads text uses it
	"internal/finding":             0,
	"internal/file":                0,
	"internal/target":              0,
	"internal/yamltext":            0,
	"internal/spelling":            0,
	"internal/quantity":            0,
	"internal/collect":             0, // imported by the programs alone
	"internal/golden":              1, // for tests
	"internal/override":            1,
	"internal/profile":             2,
	"internal/estimate":            3,
	"internal/recipe":              4,
	"internal/plan":                5,
	"generators":                   6,
	"generators/internal/plantest": 6,
	"generators/internal/judge":    6,
	"generators/controlplane":      7,
	"generators/aggregated":        8,
	"generators/kubeadm":           9,
	"generators/staticpod":         9,
	"generators/kops":              9,
	"generators/kind":              10, // kind runs kubeadm inside
	"generators/rollout":           11,
	"internal/overlay":             12,
	"internal/check/kops":          2,
	"internal/check":               3,
	"internal/lint/read":           4,
	"internal/lint":                5,
	"internal/diff":                12,
	"internal/binaries":            1,
	"internal/pki":                 6,
	"internal/scrape":              1,
	"internal/apiclient":           1,
	"internal/etcdclient":          1,
	"internal/prove/rig":           12,
	"internal/prove/load":          12,
	"internal/prove":               13,
	"internal/prove/cluster":       13,
	"internal/tier":                12,
	"internal/measure":             3,
	"internal/report":              6,
	"internal/cli":                 14,
	"cmd/seams":                    15,
	"plugins/kubectl-seams":        15,
	"plugins/kops-seams":           15,
}

// never lists imports that the order alone would allow.
var never = map[string][]string{
	"internal/check":        {"internal/profile", "internal/estimate", "internal/recipe", "internal/plan"},
	"internal/lint":         {"internal/profile", "internal/estimate", "internal/recipe"},
	"internal/lint/read":    {"internal/profile", "internal/estimate", "internal/recipe"},
	"internal/check/kops":   {"internal/profile", "internal/estimate", "internal/recipe", "internal/plan"},
	"generators/aggregated": {"internal/estimate", "internal/recipe"},
	"generators/kubeadm":    {"internal/estimate", "internal/recipe"},
	"generators/kops":       {"internal/estimate", "internal/recipe"},
	"generators/kind":       {"internal/estimate", "internal/recipe"},
	"generators/staticpod":  {"internal/estimate", "internal/recipe"},
	"internal/yamltext":     {"internal/finding", "internal/file", "internal/target"},
	"internal/target":       {"internal/finding", "internal/file"},
	"internal/finding":      {"internal/target", "internal/file"},
}

// TestImportsFollowTheFlow keeps arrows pointing right, so that a judge never
// depends on what it judges and a generator never on how numbers were found.
func TestImportsFollowTheFlow(t *testing.T) {
	seen := 0
	walkGo(t, func(file string, imports []string) {
		pkg := filepath.ToSlash(filepath.Dir(file))
		if pkg == "." {
			pkg = ""
		}
		if strings.HasPrefix(pkg, "e2e") || strings.HasPrefix(pkg, "hack") || strings.HasSuffix(file, "_test.go") {
			return
		}
		rank, ok := order[pkg]
		if !ok {
			t.Errorf("%s: package %q has no place in the flow; give it one in order", file, pkg)
			return
		}
		seen++
		for _, imp := range imports {
			dep, ours := strings.CutPrefix(imp, module)
			if !ours {
				continue
			}
			dep = strings.TrimPrefix(dep, "/")
			if order[dep] >= rank && !(order[dep] == rank && strings.HasPrefix(pkg, dep+"/")) {
				t.Errorf("%s imports %s, which stands to its right in the flow", file, imp)
			}
			for _, n := range never[pkg] {
				if dep == n {
					t.Errorf("%s imports %s, which it must not know", file, imp)
				}
			}
		}
	})
	if seen < 20 {
		t.Fatalf("only %d files seen: the walk is broken", seen)
	}
}

// TestNoCatchAllPackages refuses names that say nothing.
func TestNoCatchAllPackages(t *testing.T) {
	walkGo(t, func(file string, _ []string) {
		switch path.Base(filepath.ToSlash(filepath.Dir(file))) {
		case "util", "utils", "common", "helpers":
			t.Errorf("%s: a package is named after what it does", file)
		}
	})
}

func walkGo(t *testing.T, visit func(file string, imports []string)) {
	t.Helper()
	root := ".."
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && p != root || d.Name() == "bin" || d.Name() == "out" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		var imports []string
		for _, i := range f.Imports {
			s, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			imports = append(imports, s)
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		visit(rel, imports)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
