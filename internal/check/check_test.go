package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"pgregory.net/rapid"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/target"
)

// TestLightImports keeps upstream's server library out of the program, where
// it would add some 10 MB and its start-up.
func TestLightImports(t *testing.T) {
	if testing.Short() {
		t.Skip("asks the go command")
	}
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Skipf("no go command: %v", err)
	}
	for path := range strings.Lines(string(out)) {
		path = strings.TrimSpace(path)
		for _, heavy := range []string{
			"k8s.io/apiserver/pkg/server", "k8s.io/kubernetes/pkg/kubelet/", "k8s.io/kubernetes/pkg/controlplane",
			"k8s.io/kubernetes/pkg/kubeapiserver", "k8s.io/kubernetes/pkg/cluster/ports", "github.com/kubeseams/seams/generators",
			"github.com/kubeseams/seams/internal/plan", "github.com/kubeseams/seams/internal/recipe",
		} {
			if path == heavy || strings.HasPrefix(path, strings.TrimSuffix(heavy, "/")+"/") {
				t.Errorf("imports %s", path)
			}
		}
	}
}

// TestOrder: the findings do not depend on the order of the files.
func TestOrder(t *testing.T) {
	t.Parallel()
	files := load(t, filepath.Join(good, ha))
	for i := range files {
		files[i].Data = []byte(strings.ReplaceAll(string(files[i].Data), "2386", "2383"))
	}
	want := lineUp(Check(Input{Files: files, Target: newest}))
	if len(want) == 0 {
		t.Fatal("nothing found")
	}
	slices.Reverse(files)
	if got := lineUp(Check(Input{Files: files, Target: newest})); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for range 5 {
		if got := lineUp(Check(Input{Files: files, Target: newest})); !slices.Equal(got, want) {
			t.Fatalf("another run gives\n%s", strings.Join(got, "\n"))
		}
	}
}

// TestNothing: no files, no findings; and no target is the newest.
func TestNothing(t *testing.T) {
	t.Parallel()
	if got := Check(Input{}); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if got := one(target.Target{}, "c.yaml", "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\n"); len(got) != 1 || got[0].Severity.String() != "error" {
		t.Errorf("%v", got)
	}
}

// TestQuiet: what kubeadm's code logs on its way does not reach stderr.
func TestQuiet(t *testing.T) {
	if os.Getenv("SEAMS_CHECK_QUIET") != "" {
		one(newest, "c.yaml", "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\nnetworking: {podSubnet: \"fec0::/64\", serviceSubnet: \"fec0:1::/112\"}\napiServer:\n  extraArgs:\n  - {name: authorization-mode, value: \"Node,Foo\"}\n")
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestQuiet$")
	cmd.Env = append(os.Environ(), "SEAMS_CHECK_QUIET=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil || stderr.Len() > 0 {
		t.Errorf("%v, stderr %q", err, stderr.String())
	}
}

// untested are codes that no input of a supported version brings about.
var untested = []string{"watch-cache-custom-resource"}

// TestEveryCode: each code that this package can say is one that a test looks for.
func TestEveryCode(t *testing.T) {
	t.Parallel()
	code := regexp.MustCompile(`(?:Code: +|Code, f\.Severity = |f\.Severity, f\.Code = [a-zA-Z.]+, |f\.Code = |wrong\()"([a-z0-9-]+)"`)
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	codes := map[string]bool{}
	for _, name := range names {
		text := readFile(t, name)
		if strings.HasSuffix(name, "_test.go") {
			tests.WriteString(text)
			continue
		}
		for _, m := range code.FindAllStringSubmatch(text, -1) {
			codes[m[1]] = true
		}
	}
	if len(codes) < 80 {
		t.Fatalf("only %d codes", len(codes))
	}
	for _, c := range sortedKeys(codes) {
		if !slices.Contains(untested, c) && !regexp.MustCompile(`["\s]`+c+`"`).MatchString(tests.String()) {
			t.Errorf("no test for %s", c)
		}
	}
}

// TestFlagsNotKnown: a version without tables is not passed over in silence.
func TestFlagsNotKnown(t *testing.T) {
	t.Parallel()
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  hostNetwork: true\n  containers:\n  - name: a\n    image: registry.k8s.io/etcd:3.5.21-0\n    command: [etcd, --nonsense]\n"
	if got := brief(one(newest, "a.yaml", pod)); !slices.Equal(got, []string{"9 warning flags-not-checked"}) {
		t.Errorf("%v", got)
	}
}

// TestEveryCut: a file that ends anywhere, or lacks any line, is judged without a panic.
func TestEveryCut(t *testing.T) {
	t.Parallel()
	for _, f := range load(t, filepath.Join(good, ha)) {
		if strings.HasPrefix(f.Path, "manifests/cp-2") || strings.HasPrefix(f.Path, "manifests/cp-3") {
			continue
		}
		lines := strings.SplitAfter(string(f.Data), "\n")
		for i := range lines {
			without := strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "")
			Check(Input{Files: []file.File{{Path: f.Path, Data: []byte(without)}}, Target: newest})
			Check(Input{Files: []file.File{{Path: f.Path, Data: []byte(strings.Join(lines[:i], ""))}}, Target: newest})
		}
	}
}

// TestBrokenPieces: a good set with pieces of it swapped for odd ones never panics.
func TestBrokenPieces(t *testing.T) {
	t.Parallel()
	sets := [][]file.File{}
	for _, root := range []string{ha, tiers, static, kindHA} {
		sets = append(sets, load(t, filepath.Join(good, root)))
	}
	odd := rapid.SampledFrom([]string{
		"", "null", "[]", "{}", "-1", "\"\"", "x", "'", "*a", "&a", "!!binary x", "<<: *a", "---", "...", "\t", "#", ",", ";", "=", "https://", "[::1]:", "\x00", "é", "9999999999999999999", "~",
	})
	rapid.Check(t, func(t *rapid.T) {
		files := slices.Clone(rapid.SampledFrom(sets).Draw(t, "set"))
		i := rapid.IntRange(0, len(files)-1).Draw(t, "file")
		words := strings.SplitAfter(string(files[i].Data), " ")
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			words[rapid.IntRange(0, len(words)-1).Draw(t, "word")] = odd.Draw(t, "odd")
		}
		files[i].Data = []byte(strings.Join(words, ""))
		Check(Input{Files: files, Target: newest})
	})
}

// TestValuesArePflags: a value is taken where pflag takes it.
func TestValuesArePflags(t *testing.T) {
	t.Parallel()
	declare := map[string]func(*pflag.FlagSet){
		"bool":           func(fs *pflag.FlagSet) { fs.Bool("v", false, "") },
		"int":            func(fs *pflag.FlagSet) { fs.Int("v", 0, "") },
		"int32":          func(fs *pflag.FlagSet) { fs.Int32("v", 0, "") },
		"int64":          func(fs *pflag.FlagSet) { fs.Int64("v", 0, "") },
		"uint":           func(fs *pflag.FlagSet) { fs.Uint("v", 0, "") },
		"uint64":         func(fs *pflag.FlagSet) { fs.Uint64("v", 0, "") },
		"float32":        func(fs *pflag.FlagSet) { fs.Float32("v", 0, "") },
		"float64":        func(fs *pflag.FlagSet) { fs.Float64("v", 0, "") },
		"duration":       func(fs *pflag.FlagSet) { fs.Duration("v", 0, "") },
		"ip":             func(fs *pflag.FlagSet) { fs.IP("v", nil, "") },
		"stringSlice":    func(fs *pflag.FlagSet) { fs.StringSlice("v", nil, "") },
		"stringToString": func(fs *pflag.FlagSet) { fs.StringToString("v", nil, "") },
		"int32Slice":     func(fs *pflag.FlagSet) { fs.Int32Slice("v", nil, "") },
	}
	kinds := rapid.SampledFrom(sortedKeys(declare))
	piece := rapid.SampledFrom([]string{"1", "0", "-", "+", "x", "_", ".", "e", "s", "h", "ms", ":", "::1", "10.0.0.1", " ", ",", "=", "\"", "\n", "true", "F", "inf", "2147483648", "18446744073709551616"})
	rapid.Check(t, func(t *rapid.T) {
		kind := kinds.Draw(t, "kind")
		value := strings.Join(rapid.SliceOfN(piece, 0, 4).Draw(t, "pieces"), "")
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		declare[kind](fs)
		want := fs.Set("v", value)
		if got := parseValue(kind, value); (got == nil) != (want == nil) {
			t.Fatalf("%s %q: pflag says %v, we say %v", kind, value, want, got)
		}
	})
}

func FuzzCheck(f *testing.F) {
	for _, root := range []string{ha, tiers, static, kindHA} {
		for _, x := range load(f, filepath.Join(good, root)) {
			f.Add(x.Path, x.Data)
		}
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		Check(Input{Files: []file.File{{Path: name, Data: data}}, Target: newest})
	})
}

func BenchmarkCheck(b *testing.B) {
	for _, root := range []string{ha, tiers, static, kindHA} {
		files := load(b, filepath.Join(good, root))
		b.Run(root, func(b *testing.B) {
			for b.Loop() {
				Check(Input{Files: files, Target: newest})
			}
		})
	}
}
