package yamltext

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func apply(t *testing.T, text string, want map[string]any) Result {
	t.Helper()
	r, err := Document{Text: []byte(text), Line: 1}.Apply(want)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	again, err := Document{Text: r.Text, Line: 1}.Apply(want)
	if err != nil {
		t.Fatalf("again: %v\n%s", err, r.Text)
	}
	if string(again.Text) != string(r.Text) || len(again.Changes) > 0 {
		t.Errorf("a second time changes %v:\n%s", again.Changes, cmp.Diff(string(r.Text), string(again.Text)))
	}
	return r
}

type m = map[string]any

func TestApply(t *testing.T) {
	env := func(value string) m {
		return m{"env": Keyed{"name", []map[string]any{{"name": "Q", "value": value}}}}
	}
	sizes := Set{"#", []string{"leases#0", "pods#5"}}
	tests := []struct {
		name, text string
		want       m
		result     string
	}{
		{"nothing", "a:   1 # one\n\n# two\nb: {c: 2}\n", m{"a": 1, "b": m{"c": 2}}, "a:   1 # one\n\n# two\nb: {c: 2}\n"},
		{"number", "a:   1 # one\nb: 2\n", m{"a": 10}, "a:   10 # one\nb: 2\n"},
		{"double quotes stay", "a: \"x\" # one\n", m{"a": "y"}, "a: \"y\" # one\n"},
		{"single quotes stay", "a: 'it''s'\n", m{"a": "they're"}, "a: 'they''re'\n"},
		{"string that looks like a number", "a: b\n", m{"a": "8589934592"}, "a: \"8589934592\"\n"},
		{"string that YAML 1.1 reads as a boolean", "a: b\n", m{"a": "on"}, "a: \"on\"\n"},
		{"number that must be a string", "a: 0.001\n", m{"a": "0.001"}, "a: \"0.001\"\n"},
		{"characters of several bytes", "é: ü # ö\nb: {ß: 1, c: ø}\n", m{"b": m{"c": "x"}}, "é: ü # ö\nb: {ß: 1, c: x}\n"},
		{"sorted place", "a: 1\nc: 3\n", m{"b": 2}, "a: 1\nb: 2\nc: 3\n"},
		{"at the end when not sorted", "c: 3\na: 1\n", m{"b": 2}, "c: 3\na: 1\nb: 2\n"},
		{"before a comment of the next", "a:\n  x: 1\n\n# of c\nc: 3\n", m{"b": 2}, "a:\n  x: 1\nb: 2\n\n# of c\nc: 3\n"},
		{"above the comments of the first", "a: # here\n  # of c\n  c: 3\n", m{"a": m{"b": 2}}, "a: # here\n  b: 2\n  # of c\n  c: 3\n"},
		{"first in a list's item", "l:\n- name: nn\n  z: 1\n", m{"l": Keyed{"name", []map[string]any{{"name": "nn", "a": 1}}}}, "l:\n- name: nn\n  a: 1\n  z: 1\n"},
		{"before everything", "# c\nb: 1\n", m{"a": 1}, "# c\na: 1\nb: 1\n"},
		{"after a literal with #", "a: |\n  x\n  # y\n# c\nc: 1\n", m{"b": 2}, "a: |\n  x\n  # y\nb: 2\n# c\nc: 1\n"},
		{"after a literal that keeps its end", "a: |+\n  x\n\nc: 1\n", m{"b": 2}, "a: |+\n  x\n\nb: 2\nc: 1\n"},
		{"after a literal with an indicator", "s:\n  a: |2\n      x\n    y\n  c: 1\n", m{"s": m{"b": 2}}, "s:\n  a: |2\n      x\n    y\n  b: 2\n  c: 1\n"},
		{"after a quoted text of several lines", "a: \"x\n  # y\n  z\"\nc: 1\n", m{"b": 2}, "a: \"x\n  # y\n  z\"\nb: 2\nc: 1\n"},
		{"no line break at the end", "a: 1", m{"b": m{"c": 2}}, "a: 1\nb:\n  c: 2"},
		{"line breaks of Windows", "a: 1\r\nc: 3\r\n", m{"b": m{"x": 2}}, "a: 1\r\nb:\r\n  x: 2\r\nc: 3\r\n"},
		{"four columns a step", "a:\n    b:\n        c: 1\n", m{"a": m{"d": m{"e": 1}}}, "a:\n    b:\n        c: 1\n    d:\n        e: 1\n"},
		{"nested before the next", "z: 1\nb:\n  x: 1\n", m{"b": m{"yy": 2}, "a": 3}, "z: 1\nb:\n  x: 1\n  yy: 2\na: 3\n"},
		{"flow mapping", "a: {b: 1} # c\n", m{"a": m{"c": 2, "d": "x, y"}}, "a: {b: 1, c: 2, d: \"x, y\"} # c\n"},
		{"flow mapping with a comma at its end", "a: {b: 1,}\n", m{"a": m{"c": 2, "d": 3}}, "a: {b: 1, c: 2, d: 3}\n"},
		{"flow mapping of several lines", "a: {\n  b: 1, # }\n  c: \"}\" # c\n}\n", m{"a": m{"d": 2}}, "a: {\n  b: 1, # }\n  c: \"}\", d: 2 # c\n}\n"},
		{"flow list", "a: [x] # c\n", m{"a": Set{"", []string{"yy", "z"}}}, "a: [x, yy, z] # c\n"},
		{"empty flow list in a flow mapping", "a: {b: []}\n", m{"a": m{"b": sizes}}, "a: {b: [\"leases#0\", \"pods#5\"]}\n"},
		{"empty mapping", "a: {} # c\nb: 1\n", m{"a": m{"x": 1, "yy": 2}}, "a: # c\n  x: 1\n  yy: 2\nb: 1\n"},
		{"empty list", "a: []\nb: 1\n", m{"a": sizes}, "a:\n- leases#0\n- pods#5\nb: 1\n"},
		{"no value", "a: # c\nb: 1\n", m{"a": m{"x": 1}}, "a: # c\n  x: 1\nb: 1\n"},
		{"no value, a scalar wanted", "a:\nb: 1\n", m{"a": 5}, "a: 5\nb: 1\n"},
		{"null", "a: ~ # c\nb: null\n", m{"a": m{"x": 1}, "b": 5}, "a: # c\n  x: 1\nb: 5\n"},
		{"null in flow", "a: {b: null}\n", m{"a": m{"b": m{"x": 1}}}, "a: {b: {x: 1}}\n"},
		{"new list in the document's layout", "l:\n  - 1\na: 1\n", m{"b": sizes}, "l:\n  - 1\na: 1\nb:\n  - leases#0\n  - pods#5\n"},
		{"keyed item", "env:\n- name: P\n  value: x\n- value: y\n  name: Q\n", env("z"), "env:\n- name: P\n  value: x\n- value: z\n  name: Q\n"},
		{"keyed item added", "env:\n- name: P\n  value: x # c\n# d\nf: 1\n", env("z"), "env:\n- name: P\n  value: x # c\n- name: Q\n  value: z\n# d\nf: 1\n"},
		{"keyed item in flow", "env: [{name: Q, value: x}, {name: P}]\n", env("a#b"), "env: [{name: Q, value: \"a#b\"}, {name: P}]\n"},
		{"keyed list new", "a: 1\n", env("7"), "a: 1\nenv:\n- name: Q\n  value: \"7\"\n"},
		{"dash on a line of its own", "l:\n-\n  name: nn\n-\n  name: o\nz: 1\n", m{"l": Keyed{"name", []map[string]any{{"name": "nn", "x": 1}}}}, "l:\n-\n  name: nn\n  x: 1\n-\n  name: o\nz: 1\n"},
		{"set", "s:\n- leases#100\n- x\n", m{"s": sizes}, "s:\n- leases#0\n- x\n- pods#5\n"},
		{"merge key beside", "b: &b {x: 1}\nc:\n  <<: *b\n  z: 1\n", m{"c": m{"x": 2}}, "b: &b {x: 1}\nc:\n  <<: *b\n  x: 2\n  z: 1\n"},
		{"satisfied through an alias", "b: &b {x: 1}\nc: *b\n", m{"c": m{"x": 1}}, "b: &b {x: 1}\nc: *b\n"},
		{"byte order mark", "\ufeffa: 1\n", m{"a": 2}, "\ufeffa: 2\n"},
		{"a duration in other words", "a: 150s # c\nb: 150s\nc: x\n", m{"a": Duration("2m30s"), "b": Duration("2m31s"), "c": Duration("1s"), "d": Duration("1h0m0s")}, "a: 150s # c\nb: 2m31s\nc: 1s\nd: 1h0m0s\n"},
		{"a duration in flow", "a: {b: 1s}\n", m{"a": m{"b": Duration("2s"), "c": Duration("3s")}}, "a: {b: 2s, c: 3s}\n"},
		{"document marker", "--- # x\na: 1\n", m{"a": 2, "b": 1}, "--- # x\na: 2\nb: 1\n"},
	}
	for _, test := range tests {
		r := apply(t, test.text, test.want)
		if diff := cmp.Diff(test.result, string(r.Text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if len(r.Refused) > 0 {
			t.Errorf("%s: refused %v", test.name, r.Refused)
		}
		if (len(r.Changes) > 0) != (test.result != test.text) {
			t.Errorf("%s: changes are %v", test.name, r.Changes)
		}
	}
}

func TestApplyRefuses(t *testing.T) {
	tests := []struct {
		name, text string
		want       m
		path       string
	}{
		{"alias", "b: &b {x: 1}\nc: *b\n", m{"c": m{"x": 2}}, "c"},
		{"what an alias stands for", "b: &b {x: 1}\nc: *b\n", m{"b": m{"x": 2}}, "b"},
		{"anchor without alias", "b: &b\n  x: 1\n", m{"b": m{"x": 2}}, "b"},
		{"merge key", "b: &b {x: {y: 1}}\nc:\n  <<: *b\n", m{"c": m{"x": m{"z": 2}}}, "c.x"},
		{"not a mapping", "a: 1\n", m{"a": m{"b": 1}}, "a"},
		{"not a list", "a: {b: 1}\n", m{"a": Set{"", []string{"x"}}}, "a"},
		{"not a scalar", "a: {b: 1}\n", m{"a": 1}, "a"},
		{"several lines", "a: x\n  y\n", m{"a": "z"}, "a"},
		{"literal", "a: |\n  y\n", m{"a": "z"}, "a"},
	}
	for _, test := range tests {
		r := apply(t, test.text, test.want)
		if len(r.Refused) != 1 || r.Refused[0].Path != test.path || string(r.Text) != test.text {
			t.Errorf("%s: refused %v, text\n%s", test.name, r.Refused, r.Text)
		}
	}
}

func TestApplyFails(t *testing.T) {
	for name, text := range map[string]string{
		"twice": "a: 1\na: 2\n", "list": "- a\n", "scalar": "a\n", "empty": "", "no YAML": "a: [\n",
		"next line": "a: 1\u0085b: 2\n", "old Mac": "a: 1\rb: 2\n",
	} {
		if r, err := (Document{Text: []byte(text), Line: 1}).Apply(m{"z": 1}); err == nil {
			t.Errorf("%s: accepted as %q", name, r.Text)
		}
	}
	_, err := Document{Text: []byte("x: 1\ny: 2\ny: 3\n"), Line: 10}.Apply(m{"z": 1})
	if err == nil || !strings.Contains(err.Error(), "line 12") {
		t.Errorf("error is %v, want line 12", err)
	}
}
