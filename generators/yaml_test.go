package generators_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/generators"
)

// value draws any JSON value that an API object can hold, with the strings
// that YAML is known to misread.
func value(depth int) *rapid.Generator[any] {
	tricky := rapid.SampledFrom([]string{"y", "NO", "on", "1e3", "0x1f", "0644", "12:30:45", "null", "~", "true", "- a", "a: b", "#", "a #b", "<<", "=", "",
		" lead", "trail ", "two\nlines", "two\nlines\n", "\ttab\n", "*a", "&a", "!a", "%a", "@a", "`a", "'", "\"", "2026-01-02", "1_000", ".5", "🙂", "\u2028", "\x00"})
	leaves := []*rapid.Generator[any]{
		rapid.Map(rapid.String(), func(s string) any { return s }),
		rapid.Map(tricky, func(s string) any { return s }),
		rapid.Map(rapid.StringMatching(`([ -~\t]{0,5}\n){1,4}`), func(s string) any { return s }),
		rapid.Map(rapid.StringMatching(`[-+.:#, 0-9A-Fxo_e]{1,8}`), func(s string) any { return s }),
		rapid.Map(rapid.Int32(), func(i int32) any { return float64(i) }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	return rapid.OneOf(append(leaves,
		rapid.Map(rapid.MapOfN(rapid.OneOf(rapid.StringMatching(`[a-z]{1,6}`), tricky), rapid.Deferred(func() *rapid.Generator[any] { return value(depth - 1) }), 1, 4),
			func(m map[string]any) any { return m }),
		rapid.Map(rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return value(depth - 1) }), 1, 4), func(s []any) any { return s }),
	)...)
}

// What Kubernetes reads from a written object is the object, whatever its strings are.
func TestObjectsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]any{"kind": "Any", "spec": value(3).Draw(t, "value")}
		data, err := generators.Objects(want)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := yaml.UnmarshalStrict(data, &got); err != nil {
			t.Fatalf("%v in\n%s", err, data)
		}
		if diff := cmp.Diff(throughJSON(t, want), got); diff != "" {
			t.Fatalf("differs (-want +got):\n%s\n%s", diff, data)
		}
	})
}

func throughJSON(t *rapid.T, v any) (out map[string]any) {
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestObjectsDropWhatTheServerFills(t *testing.T) {
	pod := corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "c", Image: "i", Command: []string{"c", ""}, Env: []corev1.EnvVar{{Name: "E"}}}},
			Volumes:    []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		},
	}
	got, err := generators.Objects(pod)
	if err != nil {
		t.Fatal(err)
	}
	want := `apiVersion: v1
kind: Pod
metadata:
  name: a
spec:
  volumes:
  - name: v
    emptyDir: {}
  containers:
  - name: c
    image: i
    command:
    - c
    - ""
    env:
    - name: E
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConfigsDropZeroButNotValues(t *testing.T) {
	type arg struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	object := map[string]any{
		"zero": 0, "duration": "0s", "empty": map[string]any{"inner": map[string]any{}}, "none": nil, "no": false,
		"args": []arg{{"a", ""}, {"b", "0s"}}, "apiVersion": "x/v1", "kind": "X",
	}
	got, err := generators.Configs(object, object)
	if err != nil {
		t.Fatal(err)
	}
	want := `apiVersion: x/v1
kind: X
args:
- name: a
  value: ""
- name: b
  value: 0s
"no": false
`
	if diff := cmp.Diff(want+"---\n"+want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestYAMLReportsWhatCannotBeWritten(t *testing.T) {
	if _, err := generators.Objects(make(chan int)); err == nil {
		t.Error("a channel was written")
	}
}
