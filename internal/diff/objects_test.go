package diff

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
	kyaml "sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/internal/file"
)

const tierList = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Service\n  metadata: {name: hot, namespace: seams-system, labels: {app.kubernetes.io/part-of: seams}}\n  spec: {ports: [{name: https, port: 1}]}\n"

func TestHasObjects(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		tierList: false, // in flow style nobody writes it; kubectl and seams do not
		"labels:\n  app.kubernetes.io/part-of: seams\n":        true,
		"labels:\n  \"app.kubernetes.io/part-of\": \"seams\",": true,
		"labels:\n  app.kubernetes.io/part-of: argocd\n":       false,
		"": false,
	} {
		if got := HasObjects([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestOverlaid: what is wanted is there afterwards, the rest has stayed, and a
// second time changes nothing.
func TestOverlaid(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string][3]string{
		"the server's own stays": {"a: {b: 1, status: x}", "a: {b: 2}", "a: {b: 2, status: x}"},
		"entries by name":        {"c: [{name: x, v: 1}, {name: side}]", "c: [{name: x, v: 2}, {name: new}]", "c: [{name: x, v: 2}, {name: side}, {name: new}]"},
		"rules by place":         {"r: [{verbs: [get], more: 1}]", "r: [{verbs: [list]}]", "r: [{verbs: [list], more: 1}]"},
		"another number of them": {"r: [{a: 1}, {a: 2}]", "r: [{a: 1}]", "r: [{a: 1}]"},
		"flags":                  {"command: [p, --a=1, --mine=x]", "command: [p, --a=2, --b=3]", "command: [p, --a=2, --mine=x, --b=3]"},
		"nothing there":          {"{}", "a: [{name: x}]", "a: [{name: x}]"},
		"empty is none":          {"{}", "spec: {}", "spec: {}"},
	} {
		got := overlaid(decoded(t, tc[0]), decoded(t, tc[1]), "")
		if !reflect.DeepEqual(got, decoded(t, tc[2])) {
			t.Errorf("%s: %v, want %s", name, got, tc[2])
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		have := map[string]any{"r": drawValue(t, 3)}
		want := map[string]any{"r": drawValue(t, 3)}
		once := overlaid(have, want, "")
		if twice := overlaid(once, want, ""); !reflect.DeepEqual(once, twice) {
			t.Fatalf("%v over %v: %v, and then %v", want, have, once, twice)
		}
		if again := overlaid(have, have, ""); !reflect.DeepEqual(again, any(have)) {
			t.Fatalf("%v over itself is %v", have, again)
		}
	})
}

// FuzzObjects: whatever objects a file holds, they are read or refused, and an
// object over itself is no change.
func FuzzObjects(f *testing.F) {
	f.Add([]byte(strings.ReplaceAll(tierList, "{app.kubernetes.io/part-of: seams}", "\n      app.kubernetes.io/part-of: seams\n    ")))
	f.Add([]byte("labels:\n  app.kubernetes.io/part-of: seams\nkind: xList\nitems: [1, {}, null, {items: []}]\n"))
	f.Add([]byte("a: 1\n---\nkind: List\nitems: x\n# app.kubernetes.io/part-of: seams\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := Read([]file.File{{Path: "a.yaml", Data: data}})
		if err != nil {
			return
		}
		for _, o := range e.objects() {
			if o.value == nil {
				continue
			}
			value, _ := overlaid(o.value, o.value, "").(map[string]any)
			if changes := compare(o.value, value); len(changes) > 0 {
				t.Fatalf("%q over itself: %v", data, changes)
			}
			text, err := edited(o, o.value, value)
			var back map[string]any
			if err != nil || kyaml.Unmarshal(text, &back) != nil {
				t.Fatalf("%q: %v, and its text is %q", data, err, text)
			}
		}
	})
}
