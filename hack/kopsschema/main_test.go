package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/load"
	"cuelang.org/go/encoding/yaml"
)

const root = "../.."

func releases(t *testing.T) []release {
	t.Helper()
	rs, err := readReleases("crds")
	if err != nil {
		t.Fatal(err)
	}
	if len(rs) < 3 {
		t.Fatalf("%d releases are kept, want at least 3", len(rs))
	}
	return rs
}

// TestGeneratedFilesAreCurrent fails when a definition, this program or a
// generated file changed without the others.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	files, err := generate(releases(t))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		got, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Errorf("%v; run hack/update-kops-schemas.sh", err)
			continue
		}
		if strings.HasSuffix(path, ".gz") { // the compressor may differ between Go releases
			if got, err = unpack(got); err != nil {
				t.Fatal(err)
			}
			if want, err = unpack(want); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is stale; run hack/update-kops-schemas.sh", path)
		}
	}
	for _, dir := range []string{"schemas/kops", "internal/check/kops/data"} {
		entries, err := os.ReadDir(filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) != len(files)/2 {
			t.Errorf("%s holds %d entries, want %d", dir, len(entries), len(files)/2)
		}
	}
}

// TestKeptDefinitions compares the kept copies with kOps' own files, where
// SEAMS_KOPS_CRDS or the checkout's neighbourhood has them.
func TestKeptDefinitions(t *testing.T) {
	dir := os.Getenv("SEAMS_KOPS_CRDS")
	if dir == "" {
		dir = filepath.Join(root, "..", "shared", "kops-crds")
		if _, err := os.Stat(dir); err != nil {
			t.Skip("SEAMS_KOPS_CRDS is not set: only the kept copies are there to compare with")
		}
	}
	for _, r := range releases(t) {
		for _, k := range kinds {
			want, err := os.ReadFile(filepath.Join(dir, "v"+r.version, k.file))
			if err != nil {
				t.Fatal(err)
			}
			packed, err := os.ReadFile(filepath.Join("crds", "v"+r.version, k.file+".gz"))
			if err != nil {
				t.Fatal(err)
			}
			got, err := unpack(packed)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the kept %s of kOps %s differs from %s", k.file, r.version, dir)
			}
		}
	}
}

func packages(t *testing.T) map[string]cue.Value {
	t.Helper()
	ctx := cuecontext.New()
	values := map[string]cue.Value{}
	for _, r := range releases(t) {
		instances := load.Instances([]string{"./schemas/kops/" + r.packageName()}, &load.Config{Dir: root})
		v := ctx.BuildInstance(instances[0])
		if err := v.Err(); err != nil {
			t.Fatal(err)
		}
		values[r.version] = v
	}
	return values
}

// TestDefinitionsMatchStructuralSchemas walks the CUE that was generated and
// the definitions it came from side by side: same fields, same types.
func TestDefinitionsMatchStructuralSchemas(t *testing.T) {
	values := packages(t)
	for _, r := range releases(t) {
		for _, k := range kinds {
			def := values[r.version].LookupPath(cue.MakePath(cue.Def(k.kind)))
			spec := def.LookupPath(cue.MakePath(cue.Str("spec").Optional()))
			n := 0
			for _, problem := range compare(k.kind+".spec", spec, r.schemas[k.kind].Properties["spec"], &n) {
				t.Errorf("kOps %s: %s", r.version, problem)
			}
			if n < 100 {
				t.Errorf("kOps %s: only %d fields of %s were compared", r.version, n, k.kind)
			}
		}
	}
}

// compare lists the differences between a definition and a schema.
func compare(path string, v cue.Value, s *schema, n *int) []string {
	*n++
	switch {
	case s.Type == "array":
		return compare(path+"[]", v.LookupPath(cue.MakePath(cue.AnyIndex)), s.Items, n)
	case s.Type == "object" && s.AdditionalProperties != nil:
		return compare(path+".*", v.LookupPath(cue.MakePath(cue.AnyString)), s.AdditionalProperties, n)
	case s.Type != "object":
		want := map[string]cue.Kind{
			"string": cue.StringKind, "boolean": cue.BoolKind, "integer": cue.IntKind, "number": cue.NumberKind,
		}[s.Type]
		if s.IntOrString {
			want = cue.IntKind | cue.StringKind
		}
		if got := v.IncompleteKind(); got != want {
			return []string{fmt.Sprintf("%s: kind is %v, want %v", path, got, want)}
		}
		return nil
	}
	fields := map[string]cue.Value{}
	for it, err := v.Fields(cue.Optional(true)); err == nil && it.Next(); {
		fields[it.Selector().Unquoted()] = it.Value()
	}
	got, want := slices.Sorted(maps.Keys(fields)), slices.Sorted(maps.Keys(s.Properties))
	if !slices.Equal(got, want) {
		return []string{fmt.Sprintf("%s: fields are %v, want %v", path, got, want)}
	}
	if v.Allows(cue.Str("noSuchField")) {
		return []string{path + ": is open"}
	}
	var problems []string
	for _, f := range want {
		problems = append(problems, compare(path+"."+f, fields[f], s.Properties[f], n)...)
	}
	return problems
}

// TestDefinitionsVetDocuments does what a user of plain cue does.
func TestDefinitionsVetDocuments(t *testing.T) {
	const document = `
apiVersion: kops.k8s.io/v1alpha2
kind: Cluster
metadata: {name: a.example.com, creationTimestamp: null}
spec:
  kubeAPIServer: %s
`
	tests := []struct {
		name, apiserver string
		refused         []string
	}{
		{"known", `{maxRequestsInflight: 640, featureGates: {A: "true"}, cpuRequest: 150m, memoryRequest: 5}`, nil},
		{"since 1.36", `{compactionInterval: 150s}`, []string{"1.34.3", "1.35.2"}},
		{"misspelt", `{defaultWatchCacheSize: 100}`, []string{"1.34.3", "1.35.2", "1.36.2"}},
		{"type", `{goawayChance: 0.001}`, []string{"1.34.3", "1.35.2", "1.36.2"}},
		{"quantity", `{cpuRequest: much}`, []string{"1.34.3", "1.35.2", "1.36.2"}},
		{"range", `{maxRequestsInflight: 3000000000}`, []string{"1.34.3", "1.35.2", "1.36.2"}},
	}
	values := packages(t)
	for _, test := range tests {
		for version, v := range values {
			file, err := yaml.Extract("cluster.yaml", fmt.Sprintf(document, test.apiserver))
			if err != nil {
				t.Fatal(err)
			}
			def := v.LookupPath(cue.MakePath(cue.Def("Object")))
			err = def.Unify(v.Context().BuildFile(file)).Validate(cue.Concrete(true))
			if want := slices.Contains(test.refused, version); (err != nil) != want {
				t.Errorf("%s, kOps %s: refused is %v, want %v: %v", test.name, version, err != nil, want, err)
			}
		}
	}
}
