package profile

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/load"
	"cuelang.org/go/encoding/yaml"
)

// The tests below use the CUE module the way the cue command does, from files
// on disk and without this package.

const repository = "../.."

// plainCUE loads one package from disk as plain cue does, with no registry.
func plainCUE(t *testing.T, dir, pkg string) cue.Value {
	t.Helper()
	insts := load.Instances([]string{pkg}, &load.Config{Dir: dir, Env: append(os.Environ(), "CUE_REGISTRY=none")})
	if err := insts[0].Err; err != nil {
		t.Fatalf("load %s: %s", pkg, errors.Details(err, nil))
	}
	return cuecontext.New().BuildInstance(insts[0])
}

// TestVet is cue vet ./schemas ./recipes/examples.
func TestVet(t *testing.T) {
	for _, pkg := range []string{"./schemas", "./recipes/examples"} {
		if err := plainCUE(t, repository, pkg).Validate(cue.Concrete(pkg != "./schemas")); err != nil {
			t.Errorf("vet %s: %s", pkg, errors.Details(err, nil))
		}
	}
}

// TestVetData is cue vet -d '#Profile' ./schemas FILE.yaml over the cases: plain
// cue must say of each what the loader says.
func TestVetData(t *testing.T) {
	v := plainCUE(t, repository, "./schemas").LookupPath(cue.ParsePath("#Profile"))
	files, err := filepath.Glob(repository + "/e2e/cases/profiles/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		f, err := yaml.Extract(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = v.Unify(v.Context().BuildFile(f)).Validate(cue.Concrete(true))
		if refused := strings.Contains(name, "44d-event-ttl-zero"); refused != (err != nil) {
			t.Errorf("vet %s: %v", name, err)
		}
	}
}

// TestFormatted is cue fmt --check over the profile's CUE files.
func TestFormatted(t *testing.T) {
	var files []string
	for _, pattern := range []string{"/schemas/profile*.cue", "/recipes/examples/*.cue"} {
		found, err := filepath.Glob(repository + pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 9 {
		t.Fatalf("only %d files", len(files))
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := format.Source(text)
		if err != nil || string(want) != string(text) {
			t.Errorf("%s is not formatted: %v", name, err)
		}
	}
}

// TestUserModule is a module of a user's that imports the schemas from a copy
// under cue.mod/pkg, the way that works without a registry. Plain cue and the
// loader must both read it.
func TestUserModule(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("cue.mod/module.cue", "module: \"example.com/fleet@v0\"\nlanguage: version: \"v0.14.0\"\n")
	if err := os.CopyFS(filepath.Join(dir, "cue.mod/pkg/github.com/kubeseams/seams/schemas"), os.DirFS(repository+"/schemas")); err != nil {
		t.Fatal(err)
	}
	write("cue.mod/pkg/example.com/sizes/sizes.cue", "package sizes\n\nsmall: memoryGiB: 16\n")
	write("base/base.cue", "package base\n\nimport (\n\t\"github.com/kubeseams/seams/schemas\"\n\t\"example.com/sizes\"\n)\n\n#Fleet: schemas.#Profile & {controlPlane: sizes.small}\n")
	write("fleet.cue", "package fleet\n\n_podBytes: 7000\n")
	write("east/east.cue", "package fleet\n\nimport \"example.com/fleet/base\"\n\nbase.#Fleet\nname: \"east\"\n")
	write("east/nodes.cue", "package fleet\n\nnodes: {count: 12, podBytes: _podBytes}\n")
	write("east/tagged.cue", "@if(big)\n\npackage fleet\n\nnodes: count: 99\n")

	if err := plainCUE(t, dir, "./east").Validate(cue.Concrete(true)); err != nil {
		t.Errorf("cue vet: %s", errors.Details(err, nil))
	}
	l := &Loader{FS: os.DirFS("/"), Dir: dir}
	got, found, err := l.Load(context.Background(), Options{Path: "east"})
	if err != nil || len(got) != 1 || len(found) > 0 {
		t.Fatalf("%d profiles, %v\n%s", len(got), err, lines(found))
	}
	if p := got[0].Profile; p.Name != "east" || p.Nodes.Count != 12 || p.Nodes.PodBytes != 7000 || p.ControlPlane.MemoryGiB != 16 {
		t.Errorf("the profile is %+v", p)
	}

	// Without the copy, and with a dependency no registry has been asked for,
	// plain cue cannot; the loader brings its own.
	if err := os.RemoveAll(filepath.Join(dir, "cue.mod/pkg/github.com")); err != nil {
		t.Fatal(err)
	}
	write("cue.mod/module.cue", "module: \"example.com/fleet@v0\"\nlanguage: version: \"v0.14.0\"\ndeps: \"github.com/kubeseams/seams@v0\": v: \"v0.1.0\"\n")
	again, found, err := l.Load(context.Background(), Options{Path: "east"})
	if err != nil || len(again) != 1 || len(found) > 0 {
		t.Fatalf("%d profiles, %v\n%s", len(again), err, lines(found))
	}
	if again[0].Digest != got[0].Digest {
		t.Error("the digest depends on where the schema comes from")
	}
}
