package yamltext

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSplit(t *testing.T) {
	type doc struct {
		text, marker string
		line         int
	}
	tests := []struct {
		name, stream string
		want         []doc
	}{
		{"one", "a: 1\n", []doc{{"a: 1\n", "", 1}}},
		{"empty", "", []doc{{"", "", 1}}},
		{"two", "a: 1\n---\nb: 2\n", []doc{{"a: 1\n", "", 1}, {"b: 2\n", "---", 3}}},
		{"blank lines stay", "a: 1\n\n---\n\nb: 2", []doc{{"a: 1\n\n", "", 1}, {"\nb: 2", "---", 4}}},
		{"leading marker", "---\na: 1\n", []doc{{"---\na: 1\n", "", 1}}},
		{"windows", "a: 1\r\n---\r\nb: 2\r\n", []doc{{"a: 1\r\n", "", 1}, {"b: 2\r\n", "---", 3}}},
		{"comment on the marker", "a: 1\n--- # x\nb: 2\n", []doc{{"a: 1\n", "", 1}, {"--- # x\nb: 2\n", "--- # x", 2}}},
		{"space after the marker", "a: 1\n--- \nb: 2\n", []doc{{"a: 1\n", "", 1}, {"--- \nb: 2\n", "--- ", 2}}},
		{"doubled", "a: 1\n---\n---\nb: 2\n", []doc{{"a: 1\n", "", 1}, {"b: 2\n", "---", 4}}},
		{"trailing", "a: 1\n---\n", []doc{{"a: 1\n", "", 1}, {"", "---", 3}}},
		{"end marker", "a: 1\n...\n# c\n---\nb: 2\n", []doc{{"a: 1\n", "", 1}, {"b: 2\n", "---", 5}}},
		{"not a marker", "a: |\n  ---\n---x: 1\n", []doc{{"a: |\n  ---\n---x: 1\n", "", 1}}},
	}
	for _, test := range tests {
		var got []doc
		for _, d := range Split([]byte(test.stream)) {
			got = append(got, doc{string(d.Text), d.Marker, d.Line})
			if string(d.Text) != test.stream[d.Offset:d.Offset+len(d.Text)] {
				t.Errorf("%s: text is not at its offset %d", test.name, d.Offset)
			}
		}
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(doc{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestSplitLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"---", "--- ", "--- #c", "...", "a: 1", "", "# c", "  b"}), 0, 8).Draw(t, "lines")
		stream := strings.Join(lines, "\n")
		end := 0
		for _, d := range Split([]byte(stream)) {
			if d.Offset < end {
				t.Fatalf("documents of %q overlap", stream)
			}
			if between := strings.Trim(stream[end:d.Offset], " \n-.#c"); between != "" {
				t.Fatalf("%q of %q is in no document", between, stream)
			}
			end = d.Offset + len(d.Text)
			if got := 1 + strings.Count(stream[:d.Offset], "\n"); got != d.Line && d.Offset < len(stream) {
				t.Fatalf("a document of %q is on line %d, want %d", stream, d.Line, got)
			}
		}
	})
}

func TestLineOf(t *testing.T) {
	const text = `# c
spec:
  a.b: 1
  a:
    b: {c: 2}
  list:
  - x: 1

  -
    y: &d
      z: 3
  base: *d
`
	d := Document{Text: []byte(text), Line: 11}
	root, err := d.Parse()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		"spec": 12, "spec.a.b": 13, "spec.a": 14, "spec.a.b.c": 13, "spec.list": 16, "spec.list[0]": 17,
		"spec.list[1].y": 20, "spec.list[7]": 16, "spec.nothing.here": 12, "spec.base.z": 21, "": 12,
	} {
		if got := d.LineOf(root, path); got != want {
			t.Errorf("%q is on line %d, want %d", path, got, want)
		}
	}
}

func TestDuplicates(t *testing.T) {
	d := Document{Text: []byte("a: 1\nb:\n- c: 1\n  c: 2\na: 3\n"), Line: 5}
	root, err := d.Parse()
	if err != nil {
		t.Fatal(err)
	}
	want := []Duplicate{{"b[0].c", 8}, {"a", 9}}
	if diff := cmp.Diff(want, d.Duplicates(root)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
