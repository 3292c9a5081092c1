package yamltext

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// writer renders a random document in a random layout.
type writer struct {
	t    *rapid.T
	b    strings.Builder
	step int
	dash int
}

func (w *writer) pick(options ...string) string {
	return rapid.SampledFrom(options).Draw(w.t, "pick")
}

func (w *writer) noise(column int) {
	switch rapid.IntRange(0, 9).Draw(w.t, "noise") {
	case 0:
		w.b.WriteString("\n")
	case 1:
		fmt.Fprintf(&w.b, "%s# note %d\n", strings.Repeat(" ", column), rapid.IntRange(0, 99).Draw(w.t, "note"))
	case 2:
		w.b.WriteString("# outer\n\n")
	}
}

func (w *writer) comment() string { return w.pick("", "", "", " # why", "   # {a: 1}", " ") }

func (w *writer) scalar() string {
	return w.pick("1", "20", "x", `"q # r"`, `'it''s'`, "true", "a b", "é", "~", `"\"]"`, "150s")
}

var names = []string{"aa", "bb", "cc", "dd", "ee"}

func (w *writer) keys() []string {
	n := rapid.IntRange(1, 4).Draw(w.t, "keys")
	keys := rapid.Permutation(names).Draw(w.t, "order")[:n]
	return keys
}

func (w *writer) mapping(column, depth int, firstInline bool) {
	for i, key := range w.keys() {
		if i > 0 || !firstInline {
			w.noise(column)
			w.b.WriteString(strings.Repeat(" ", column))
		}
		w.b.WriteString(key + ":")
		w.value(column, depth)
	}
}

func (w *writer) value(column, depth int) {
	kind := rapid.IntRange(0, 11).Draw(w.t, "kind")
	if depth == 0 {
		kind %= 5
	}
	indent := strings.Repeat(" ", column+w.step)
	switch kind {
	case 0, 1, 2:
		w.b.WriteString(w.pick(" ", "  ") + w.scalar() + w.comment() + "\n")
	case 3:
		w.b.WriteString(" " + w.flow(2) + w.comment() + "\n")
	case 4:
		w.b.WriteString(w.pick("", " {}", " []", " null") + w.comment() + "\n")
	case 5:
		fmt.Fprintf(&w.b, " %s\n%stext\n\n%s# no comment\n", w.pick("|", "|-", ">", "|+"), indent, indent)
	case 6:
		fmt.Fprintf(&w.b, " \"first\n%s# second\n%sthird\"\n", indent, indent)
	case 7, 8:
		w.b.WriteString(w.comment() + "\n")
		w.mapping(column+w.step, depth-1, false)
	default:
		w.b.WriteString(w.comment() + "\n")
		for range rapid.IntRange(1, 3).Draw(w.t, "items") {
			w.noise(column)
			w.b.WriteString(strings.Repeat(" ", column+w.dash) + "-")
			if depth > 0 && rapid.Bool().Draw(w.t, "mapping") {
				w.b.WriteString(" ")
				w.mapping(column+w.dash+2, depth-1, true)
			} else {
				w.b.WriteString(" " + w.pick("xx", `"yy"`, "zz#1", "[]", "{aa: xx, bb: 2}") + w.comment() + "\n")
			}
		}
	}
}

func (w *writer) flow(depth int) string {
	switch rapid.IntRange(0, 4).Draw(w.t, "flow") {
	case 0, 1:
		return w.scalar()
	case 2:
		return w.pick("{}", "[]", "[xx, zz#1]", "[ {aa: xx} ]")
	}
	if depth == 0 {
		return "1"
	}
	var parts []string
	for _, key := range w.keys() {
		parts = append(parts, key+": "+w.flow(depth-1))
	}
	return "{" + w.pick("", " ") + strings.Join(parts, w.pick(", ", ",  ")) + w.pick("", " ", ",") + "}"
}

func drawDocument(t *rapid.T) string {
	w := &writer{t: t, step: rapid.IntRange(2, 4).Draw(t, "step"), dash: rapid.SampledFrom([]int{0, 2}).Draw(t, "dash")}
	w.mapping(0, 3, false)
	text := w.b.String()
	if rapid.IntRange(0, 4).Draw(t, "cut") == 0 {
		text = strings.TrimRight(text, "\n ")
	}
	if rapid.IntRange(0, 4).Draw(t, "windows") == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

func drawWant(t *rapid.T, depth int) map[string]any {
	want := map[string]any{}
	for _, key := range rapid.Permutation(names).Draw(t, "wanted")[:rapid.IntRange(1, 3).Draw(t, "wants")] {
		switch kind := rapid.IntRange(0, 5).Draw(t, "want"); {
		case kind < 2 && depth > 0:
			want[key] = drawWant(t, depth-1)
		case kind == 2 && depth > 0:
			item := drawWant(t, depth-1)
			item["aa"] = rapid.SampledFrom([]string{"xx", "new"}).Draw(t, "id")
			want[key] = Keyed{"aa", []map[string]any{item}}
		case kind == 3:
			want[key] = Set{"#", rapid.SampledFrom([][]string{{"zz#0"}, {"yy#2", "xx"}}).Draw(t, "set")}
		default:
			want[key] = rapid.SampledFrom([]any{int64(7), "150s", "8589934592", true, "q # r", "x"}).Draw(t, "scalar")
		}
	}
	return want
}

// TestApplyLaws holds edits of random documents to what Apply promises.
func TestApplyLaws(t *testing.T) {
	edited := 0
	rapid.Check(t, func(t *rapid.T) {
		text, want := drawDocument(t), drawWant(t, 3)
		r, err := Document{Text: []byte(text), Line: 1}.Apply(want)
		if err != nil && !strings.HasSuffix(text, "\n") && strings.Contains(text, "no comment") {
			t.Skip("a literal at the end without a line break would get one")
		}
		if err != nil {
			t.Fatalf("%v\n%s\nwant %v", err, text, want)
		}
		if (string(r.Text) == text) != (len(r.Changes) == 0) {
			t.Fatalf("text and changes %v disagree", r.Changes)
		}
		again, err := Document{Text: r.Text, Line: 1}.Apply(want)
		if err != nil {
			t.Fatalf("again: %v\n%s", err, r.Text)
		}
		if string(again.Text) != string(r.Text) {
			t.Fatalf("a second time changes %v:\n%s", again.Changes, r.Text)
		}
		edited += len(r.Changes)
		missing := missingLines(text, string(r.Text))
		if len(missing) > len(r.Changes) {
			t.Fatalf("%d lines are not there any more for %d changes: %q\n%s\n---\n%s", len(missing), len(r.Changes), missing, text, r.Text)
		}
		for _, comment := range []string{"# why", "# {a: 1}", "# note", "# outer", "# no comment", "# second"} {
			if before, after := strings.Count(text, comment), strings.Count(string(r.Text), comment); before != after {
				t.Fatalf("%d times %q, after it %d times:\n%s\n---\n%s", before, comment, after, text, r.Text)
			}
		}
	})
	if edited < 100 {
		t.Errorf("only %d changes were made: the test says too little", edited)
	}
}

// missingLines are the lines of before that after does not have in the same order.
func missingLines(before, after string) []string {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	// The longest common subsequence: what is left of a is missing.
	length := make([][]int, len(a)+1)
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if strings.TrimSuffix(a[i], "\r") == strings.TrimSuffix(b[j], "\r") {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	var missing []string
	for i, j := 0, 0; i < len(a); {
		switch {
		case j < len(b) && strings.TrimSuffix(a[i], "\r") == strings.TrimSuffix(b[j], "\r"):
			i, j = i+1, j+1
		case j < len(b) && length[i][j+1] >= length[i+1][j]:
			j++
		default:
			missing = append(missing, a[i])
			i++
		}
	}
	return missing
}

func FuzzApply(f *testing.F) {
	for _, seed := range []string{
		"a: 1\n", "a: {b: [c]}\n", "a: |\n  x\n", "a: &b [*b]\n", "a: *b\n", "--- # x\na: ~\n", "? a\n: b\n", "<<: {a: 1}\nb: \n",
		"a:\n- b\n-\n  c: 1\n", "\ufeffa: 'x\n\n  y'\n", "a: !!str 1\n", "a: \"\\\n  x\"\nz: >+\n\n\n  y\n\n",
	} {
		f.Add([]byte(seed))
	}
	want := map[string]any{
		"a": map[string]any{"b": int64(1), "l": Keyed{"name", []map[string]any{{"name": "x", "value": "y"}}}},
		"b": Set{"#", []string{"x#1"}},
		"c": "8589934592",
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<12 {
			return
		}
		for _, d := range Split(text) {
			r, err := d.Apply(want)
			if err != nil {
				continue
			}
			again, err := Document{Text: r.Text, Line: d.Line}.Apply(want)
			if err != nil {
				t.Fatalf("again: %v\n%q\n%q", err, d.Text, r.Text)
			}
			if string(again.Text) != string(r.Text) {
				t.Fatalf("a second time changes %v:\n%q\n%q", again.Changes, d.Text, r.Text)
			}
		}
	})
}
