package yamltext

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/yaml"
)

// Change is one thing that Apply changed.
type Change struct {
	Path string
	// Line is the stream's line where it was, or beside which it was put.
	Line int
	// Old is nil for what was not there before.
	Old, New any
}

// Refusal is a wanted value that Apply left out, and why.
type Refusal struct {
	Path   string
	Line   int
	Reason string
}

// Result is an edited document.
type Result struct {
	Text    []byte
	Changes []Change
	Refused []Refusal
}

// splice puts text in the place of the bytes from start to end.
type splice struct {
	start, end int
	text       string
}

// editor collects splices of the text, and the operations on the decoded value
// that they must come to.
type editor struct {
	*source
	doc        Document
	splices    []splice
	operations []operation
	// extended are the flow collections that have got an entry already.
	extended map[*yaml.Node]bool
	result   Result
}

// Apply changes the document's text so that it decodes to the wanted values,
// and leaves every byte that has nothing to do with them. A value that stands
// behind an alias, or that is of another kind than the wanted one, is refused
// rather than guessed at. When nothing has to change the text is the same.
//
// The edited text is decoded again and must differ from the original in the
// changes alone. An error means that the document cannot be edited: it is no
// YAML, its root is no mapping, it has a key twice, or that last test failed.
func (d Document) Apply(want map[string]any) (Result, error) {
	root, err := d.Parse()
	if err != nil {
		return Result{}, err
	}
	if root == nil || root.Kind != yaml.MappingNode {
		return Result{}, errors.New("the document is no mapping")
	}
	if dup := d.Duplicates(root); len(dup) > 0 {
		return Result{}, fmt.Errorf("line %d: %s is there twice", dup[0].Line, dup[0].Path)
	}
	var before any
	if err := kyaml.Unmarshal(d.Text, &before); err != nil {
		return Result{}, err
	}
	src, err := newSource(d.Text, root)
	if err != nil {
		return Result{}, err
	}
	e := &editor{source: src, doc: d, extended: map[*yaml.Node]bool{}}
	e.mapping(root, want, before, nil, src.count()+1)
	if e.result.Text, err = e.rewrite(); err != nil {
		return Result{}, err
	}
	if err := e.verify(before); err != nil {
		return Result{}, err
	}
	return e.result, nil
}

// rewrite applies the splices, the first of those at one place first.
func (e *editor) rewrite() ([]byte, error) {
	slices.SortStableFunc(e.splices, func(a, b splice) int { return a.start - b.start })
	var out bytes.Buffer
	at := 0
	for _, s := range e.splices {
		if s.start < at {
			return nil, errors.New("two changes are at one place")
		}
		out.Write(e.text[at:s.start])
		text := s.text
		if n := out.Len(); s.start == len(e.text) && n > 0 && strings.HasSuffix(text, e.style.newline) && out.Bytes()[n-1] != '\n' {
			text = e.style.newline + strings.TrimSuffix(text, e.style.newline) // the last line has no break: keep it so
		}
		out.WriteString(text)
		at = s.end
	}
	out.Write(e.text[at:])
	return out.Bytes(), nil
}

// verify decodes the new text and compares it with the old value and the changes.
func (e *editor) verify(before any) error {
	want := before
	for _, op := range e.operations {
		var err error
		if want, err = op.apply(want); err != nil {
			return fmt.Errorf("%s: %w", path(op.steps), err)
		}
	}
	var after any
	if err := kyaml.Unmarshal(e.result.Text, &after); err != nil {
		return fmt.Errorf("the edited document is no YAML any more: %w", err)
	}
	if !reflect.DeepEqual(wide(after), wide(want)) {
		return errors.New("the edited document would differ in more than was asked for")
	}
	return nil
}

// wide makes every number a float64, as a decoder of JSON does.
func wide(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[k] = wide(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = wide(item)
		}
		return out
	case int64:
		return float64(v)
	}
	return v
}

func (e *editor) refuse(steps []any, n *yaml.Node, reason string) {
	e.result.Refused = append(e.result.Refused, Refusal{path(steps), e.doc.Line - 1 + n.Line, reason})
}

// done notes an accepted change.
func (e *editor) done(op operation, line int, old any) {
	e.operations = append(e.operations, op)
	steps := op.steps
	e.result.Changes = append(e.result.Changes, Change{path(steps), e.doc.Line - 1 + line, old, op.value})
}

func (e *editor) insert(offset int, text string) {
	e.splices = append(e.splices, splice{offset, offset, text})
}

// value brings one existing node to the wanted value.
func (e *editor) value(n *yaml.Node, want, have any, steps []any, limit int) {
	if Satisfied(have, want) {
		return
	}
	switch {
	case n.Kind == yaml.AliasNode:
		e.refuse(steps, n, fmt.Sprintf("it is an alias of &%s: what it stands for is used elsewhere too", n.Value))
		return
	case e.aliased[n]:
		e.refuse(steps, n, fmt.Sprintf("an alias of &%s would change with it", n.Anchor))
		return
	case n.Anchor != "" || n.Style&yaml.TaggedStyle != 0:
		e.refuse(steps, n, "it has an anchor or a tag")
		return
	}
	empty := n.Kind == yaml.ScalarNode && have == nil || n.Kind != yaml.ScalarNode && len(n.Content) == 0
	switch w := want.(type) {
	case map[string]any:
		switch {
		case empty && n.Kind != yaml.SequenceNode:
			e.fill(n, want, steps)
		case n.Kind == yaml.MappingNode:
			e.mapping(n, w, have, steps, limit)
		default:
			e.refuse(steps, n, "it is no mapping")
		}
	case Keyed, Set:
		switch {
		case empty && n.Kind != yaml.MappingNode:
			e.fill(n, want, steps)
		case n.Kind == yaml.SequenceNode:
			e.sequence(n, want, have, steps, limit)
		default:
			e.refuse(steps, n, "it is no list")
		}
	default:
		e.scalar(n, want, have, steps)
	}
}
