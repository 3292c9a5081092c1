package profile

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestEveryMistakeIsReported breaks any number of fields of a full profile at
// once, each in any way, in JSON and in CUE. Every one of them must be reported
// at its path, and nothing else.
func TestEveryMistakeIsReported(t *testing.T) {
	s, err := newSchema(&embedded{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(full())
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []Format{JSON, CUE} {
		l := memoryLoader(nil)
		t.Run(string(format), rapid.MakeCheck(func(t *rapid.T) {
			tree := (&reader{limits: Limits{}.withDefaults()}).parseJSON(text)[0]
			want := map[string]bool{}
			breakFields(t, tree, s.shape, nil, want)
			source := string(appendTree(nil, tree))
			if format == CUE {
				source = "import \"github.com/kubeseams/seams/schemas\"\nschemas.#Profile & " + source
			}
			got := map[string]bool{}
			_, found, err := l.Load(t.Context(), Options{Path: "-", Stdin: strings.NewReader(source), Format: format})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				if strings.HasPrefix(f.Code, "profile-") || f.Code == CodeEventTTLZero {
					got[f.Path] = true
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("places (-want +got):\n%s%s\n%s", diff, source, lines(found))
			}
		}))
	}
}

// breakFields goes down the tree and spoils fields at random.
func breakFields(t *rapid.T, n *node, s *shape, p fieldPath, broken map[string]bool) {
	for i, e := range n.items {
		breakValue(t, e, s.elem, p.elem(i), false, broken)
	}
	for _, f := range slices.Clone(n.fields) {
		at := p.field(f.name)
		i := slices.IndexFunc(s.fields, func(sf shapeField) bool { return sf.name == f.name })
		breakValue(t, f.value, s.fields[i].shape, at, s.fields[i].required, broken)
		if f.value.kind == kindOpaque {
			n.replace(fieldPath{{name: f.name}}, nil)
		}
	}
	if n.kind == kindObject && rapid.IntRange(0, 19).Draw(t, "unknown in "+p.String()) == 0 {
		n.fields = append(n.fields, field{name: "unknownField", value: &node{kind: kindInt, text: "1"}})
		broken[p.field("unknownField").String()] = true
	}
}

// breakValue spoils one value or what is in it; an opaque one is to be removed.
func breakValue(t *rapid.T, n *node, s *shape, p fieldPath, required bool, broken map[string]bool) {
	if rapid.IntRange(0, 9).Draw(t, "break "+p.String()) > 0 {
		breakFields(t, n, s, p, broken)
		return
	}
	bad := []node{{kind: kindNull}, {kind: kindList, items: []*node{{kind: kindNull}}}, {kind: kindObject, fields: []field{{name: "a", value: &node{kind: kindInt, text: "1"}}}}}
	switch s.kind {
	case kindObject:
		bad = append(bad[:2], node{kind: kindString, text: "x"}, node{kind: kindInt, text: "1"})
	case kindList:
		bad = append(bad[:1], bad[2], node{kind: kindString, text: "x"})
	case kindInt, kindNumber:
		bad = append(bad, node{kind: kindInt, text: "-1"}, node{kind: kindInt, text: "1000000000"}, node{kind: kindString, text: "12"}, node{kind: kindBool, text: "true"})
	case kindString:
		bad = append(bad, node{kind: kindString, text: "Not This!"}, node{kind: kindInt, text: "7"})
	case kindBool:
		bad = append(bad, node{kind: kindString, text: "yes"}, node{kind: kindInt, text: "0"})
	}
	if required {
		bad = append(bad, node{})
	}
	*n = rapid.SampledFrom(bad).Draw(t, "as")
	broken[p.String()] = true
}

// appendTree writes a tree as JSON.
func appendTree(b []byte, n *node) []byte {
	switch n.kind {
	case kindObject:
		b = append(b, '{')
		for i, f := range n.fields {
			if i > 0 {
				b = append(b, ',', '\n')
			}
			b = append(strconv.AppendQuote(b, f.name), ':')
			b = appendTree(b, f.value)
		}
		return append(b, '}')
	case kindList:
		b = append(b, '[')
		for i, e := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendTree(b, e)
		}
		return append(b, ']')
	case kindString:
		return strconv.AppendQuote(b, n.text)
	case kindNull:
		return append(b, "null"...)
	}
	return append(b, n.text...)
}
