package diff

import (
	"encoding/json"
	"fmt"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	kyaml "sigs.k8s.io/yaml"
)

func decoded(t testing.TB, text string) any {
	t.Helper()
	var v any
	if err := kyaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestCompare(t *testing.T) {
	for _, tc := range []struct {
		name, before, after string
		want                []string
	}{
		{"the same in another order", "a: {b: 1, c: 2}", "a: {c: 2, b: 1}", nil},
		{"field", "a: {b: 1}", "a: {b: 2}", []string{"replace a.b 1 2"}},
		{"new block, field by field", "a: {}", "a: {b: {c: 1, d: 2}}", []string{"add a.b.c <nil> 1", "add a.b.d <nil> 2"}},
		{"gone", "a: 1\nb: 2", "b: 2", []string{"remove a 1 <nil>"}},
		{"kind of value", "a: 1", "a: {b: 1}", []string{"replace a 1 map[b:1]"}},
		{"argument", "extraArgs: [{name: x, value: '1'}, {name: w, value: '1'}]", "extraArgs: [{name: w, value: '2'}, {name: x, value: '1'}]",
			[]string{"replace extraArgs[w] --w 1 2"}},
		{"argument that stands twice: the last is in force", "extraArgs: [{name: x, value: '1'}, {name: x, value: '2'}]", "extraArgs: [{name: x, value: '2'}]", nil},
		{"flags that only moved", "command: [p, --a=1, --b=2]", "command: [p, --b=2, --a=1]", nil},
		{"flags", "command: [p, --a=1]", "command: [p, --b=x=y, --a=2]", []string{"replace command --a 1 2", "add command --b <nil> x=y"}},
		{"routes one by one", "command: [--etcd-servers-overrides=/events#https://a;https://b]", "command: ['--etcd-servers-overrides=x/y#https://c,/events#https://a;https://d']",
			[]string{"add command --etcd-servers-overrides x/y <nil> https://c", "replace command --etcd-servers-overrides /events https://a;https://b https://a;https://d"}},
		{"gates one by one", "extraArgs: [{name: feature-gates, value: 'A=true,B=false'}]", "extraArgs: [{name: feature-gates, value: 'B=true,A=true'}]",
			[]string{"replace extraArgs[feature-gates] --feature-gates B false true"}},
		{"controllers", "command: [--controllers=*]", "command: ['--controllers=*,-job-controller']", []string{"add command --controllers job-controller <nil> -job-controller"}},
		{"plugins", "command: [--enable-admission-plugins=A]", "command: ['--enable-admission-plugins=B,A']", []string{"add command --enable-admission-plugins B <nil> B"}},
		{"entries by their names", "env: [{name: a, value: x}]", "env: [{name: b, value: z}, {name: a, value: w}]", []string{"add env[b] <nil> z", "replace env[a] x w"}},
		{"entry within an entry", "e: [{name: main, env: [{name: q, value: '1'}]}]", "e: [{name: main, env: [{name: q, value: '2'}]}, {name: events}]",
			[]string{"replace e[main].env[q] 1 2", "add e[events] <nil> map[name:events]"}},
		{"sizes", "s: [leases#5, pods#1]", "s: [pods#1, leases#0, x#0]", []string{"replace s leases leases#5 leases#0", "add s x <nil> x#0"}},
		{"list of other things", "l: [1, 2]", "l: [1, 3]", []string{"replace l[1] 2 3"}},
		{"list of other length", "l: [1]", "l: [1, 3]", []string{"replace l [1] [1 3]"}},
		{"empty list is none", "l: []", "{}", nil},
	} {
		var got []string
		for _, c := range compare(decoded(t, tc.before), decoded(t, tc.after)) {
			text := c.Op + " " + c.Path
			for _, s := range []string{c.Flag, c.Entry} {
				if s != "" {
					text += " " + s
				}
			}
			got = append(got, fmt.Sprintf("%s %v %v", text, c.Old, c.New))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// drawValue is a random decoded document.
func drawValue(t *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	if depth == 0 {
		kind %= 2
	}
	switch kind {
	case 0:
		return rapid.SampledFrom([]any{"x", "y", "--a=1", "", true, float64(7)}).Draw(t, "scalar")
	case 1:
		return rapid.SampledFrom([]any{float64(1), false, "z~/"}).Draw(t, "other")
	case 2, 3:
		m := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "keys") {
			m[rapid.SampledFrom([]string{"a", "b", "command", "name", "value", "x/y", "t~", "extraArgs"}).Draw(t, "key")] = drawValue(t, depth-1)
		}
		return m
	}
	list := []any{}
	for range rapid.IntRange(0, 3).Draw(t, "items") {
		list = append(list, drawValue(t, depth-1))
	}
	return list
}

// TestPatchLaws: the patch, applied by another program's code, makes one
// document of the other, and refuses one that has moved on.
func TestPatchLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := map[string]any{"r": drawValue(t, 3), "s": drawValue(t, 2)}
		after := map[string]any{"r": drawValue(t, 3), "s": drawValue(t, 2)}
		operations := jsonPatch(before, after)
		b, _ := json.Marshal(before)
		a, _ := json.Marshal(after)
		ops, err := json.Marshal(operations)
		if err != nil {
			t.Fatal(err)
		}
		if operations == nil {
			ops = []byte("[]")
		}
		patch, err := jsonpatch.DecodePatch(ops)
		if err != nil {
			t.Fatal(err)
		}
		got, err := patch.Apply(b)
		if err != nil {
			t.Fatalf("%v\n%s\n%s\n%s", err, b, a, ops)
		}
		if !jsonpatch.Equal(got, a) {
			t.Fatalf("%s\n%s\n%s\n%s", b, a, ops, got)
		}
		if len(operations) > 0 && operations[0].Op == "test" {
			moved, _ := json.Marshal(map[string]any{"r": "moved on", "s": "moved on"})
			if _, err := patch.Apply(moved); err == nil {
				t.Fatalf("a document that moved on was changed: %s", ops)
			}
		}
		if changes := compare(before, before); len(changes) > 0 {
			t.Fatalf("a document differs from itself: %v", changes)
		}
	})
}

// TestChangesAreSeen: what a patch changes the list of changes has too, but for
// the order of flags and names, and empty values.
func TestChangesAreSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := map[string]any{"r": drawValue(t, 2), "k": "kept"}
		after := map[string]any{"r": before["r"], "k": "changed"}
		changes := compare(before, after)
		if len(changes) != 1 || changes[0].Path != "k" || changes[0].Op != OpReplace {
			t.Fatalf("changes are %v", changes)
		}
	})
}
