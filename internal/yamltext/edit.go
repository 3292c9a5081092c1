package yamltext

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
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
	if satisfied(have, want) {
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

// scalar replaces a scalar's text.
func (e *editor) scalar(n *yaml.Node, want, have any, steps []any) {
	if n.Kind != yaml.ScalarNode {
		e.refuse(steps, n, "it is no single value")
		return
	}
	if n.Value == "" && n.Style == 0 {
		e.fill(n, want, steps)
		return
	}
	end, ok := e.scalarEnd(n)
	if !ok || bytes.ContainsAny(e.text[e.offset(n):end], "\n") {
		e.refuse(steps, n, "its text goes over several lines")
		return
	}
	text := scalar(want, n.Style)
	if e.inFlow(n) && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0 {
		text = flow(want)
	}
	e.splices = append(e.splices, splice{e.offset(n), end, text})
	e.done(operation{steps: steps, value: Plain(want)}, n.Line, have)
}

// inFlow reports whether a node is inside a collection in flow style.
func (e *editor) inFlow(n *yaml.Node) bool {
	for p := e.parent[n]; p != nil; p = e.parent[p] {
		if p.Style&yaml.FlowStyle != 0 {
			return true
		}
	}
	return false
}

// mapping brings the keys of a mapping to the wanted values: first those that
// are there, so that what goes into them comes before what goes after them.
func (e *editor) mapping(n *yaml.Node, want map[string]any, have any, steps []any, limit int) {
	held, _ := have.(map[string]any)
	var missing []string
	merged := slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return c.Tag == "!!merge" })
	for _, key := range slices.Sorted(maps.Keys(want)) {
		i := keyIndex(n, key)
		at := append(slices.Clip(steps), any(key))
		if i >= 0 {
			e.value(n.Content[i+1], want[key], held[key], at, e.limitAfter(n, i, limit))
			continue
		}
		if satisfied(held[key], want[key]) {
			continue // through a merge key
		}
		if _, plain := Plain(want[key]).(map[string]any); merged && held[key] != nil && (plain || !isScalar(want[key])) {
			e.refuse(at, n, "it comes from a merge key, which a key of its own would hide")
			continue
		}
		missing = append(missing, key)
	}
	for _, key := range missing {
		if n.Style&yaml.FlowStyle != 0 {
			e.addFlow(n, scalar(key, 0)+": "+flow(want[key]), operation{steps: append(slices.Clip(steps), any(key)), value: Plain(want[key])})
			continue
		}
		e.addKey(n, key, want[key], held[key], steps, limit)
	}
}

func isScalar(v any) bool {
	switch Plain(v).(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// keyIndex is where a mapping has a key; -1 when it has not.
func keyIndex(n *yaml.Node, key string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key && n.Content[i].Tag != "!!merge" {
			return i
		}
	}
	return -1
}

// limitAfter is the first line after the value of a mapping's key i that is not
// the value's.
func (e *editor) limitAfter(n *yaml.Node, i, limit int) int {
	if n.Style&yaml.FlowStyle == 0 && i+2 < len(n.Content) {
		return n.Content[i+2].Line
	}
	return limit
}

// addKey puts a new key into a block mapping: after the key that sorts before
// it where the keys are sorted, as kOps writes them, and at the end otherwise.
func (e *editor) addKey(n *yaml.Node, key string, want, have any, steps []any, limit int) {
	var keys []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		keys = append(keys, n.Content[i].Value)
	}
	after := len(keys) - 1
	if slices.IsSorted(keys) {
		after = -1
		for i, k := range keys {
			if k < key {
				after = i
			}
		}
	}
	op := operation{steps: append(slices.Clip(steps), any(key)), value: Plain(want)}
	column := n.Column - 1
	var text strings.Builder
	e.style.block(&text, column, key, want)
	var line int
	switch parent := e.keyOf(n); {
	case after >= 0:
		line = e.lastLine(n.Content[2*after+1], e.limitAfter(n, 2*after, limit))
		line = max(line, n.Content[2*after].Line)
	case parent != nil && parent.Line < n.Line:
		line = parent.Line // above the comments of the first key
	case parent == nil && e.parent[n] == nil:
		line = n.Line - 1
	default: // the first key stands behind a dash
		line = max(e.lastLine(n.Content[1], e.limitAfter(n, 0, limit)), n.Line)
	}
	e.insert(e.lines[line], text.String())
	e.done(op, max(line, 1), have)
}

// addFlow puts an entry at the end of a collection in flow style.
func (e *editor) addFlow(n *yaml.Node, entry string, op operation) {
	_, last, ok := e.flowEnd(n)
	if !ok {
		e.refuse(op.steps, n, "the end of its brackets cannot be told")
		return
	}
	switch {
	case e.extended[n] || len(n.Content) > 0 && e.text[last-1] != ',':
		entry = ", " + entry
	case len(n.Content) > 0:
		entry = " " + entry
	}
	e.extended[n] = true
	e.insert(last, entry)
	e.done(op, n.Line, nil)
}

// fill gives a value to a field that has none, or an empty collection.
func (e *editor) fill(n *yaml.Node, want any, steps []any) {
	op := operation{steps: steps, value: Plain(want)}
	key := e.keyOf(n)
	if n.Kind != yaml.ScalarNode {
		closing, _, ok := e.flowEnd(n)
		if !ok {
			e.refuse(steps, n, "the end of its brackets cannot be told")
			return
		}
		if key == nil || e.inFlow(n) {
			e.splices = append(e.splices, splice{e.offset(n), closing + 1, flow(want)})
			e.done(op, n.Line, nil)
			return
		}
		e.below(key, e.offset(n), closing+1, want, op)
		return
	}
	if key == nil || e.inFlow(n) && n.Value == "" {
		e.refuse(steps, n, "it has no value")
		return
	}
	if n.Value != "" {
		end, ok := e.scalarEnd(n)
		switch {
		case !ok:
			e.refuse(steps, n, "its text cannot be told")
		case e.inFlow(n):
			e.splices = append(e.splices, splice{e.offset(n), end, flow(want)})
			e.done(op, n.Line, nil)
		default:
			e.below(key, e.offset(n), end, want, op)
		}
		return
	}
	colon, ok := e.colonAfter(key)
	if !ok {
		e.refuse(steps, n, "its colon cannot be found")
		return
	}
	e.below(key, colon, colon, want, op)
}

// below takes out what stands from start to end after a key, and writes the
// value there: a scalar on the key's line, anything else on the lines after it.
func (e *editor) below(key *yaml.Node, start, end int, want any, op operation) {
	for start > 0 && start < end && e.text[start-1] == ' ' {
		start--
	}
	var text strings.Builder
	e.style.value(&text, e.keyColumn(key), want)
	first, rest, _ := strings.Cut(text.String(), e.style.newline)
	e.splices = append(e.splices, splice{start, end, first})
	if rest != "" {
		line := e.lineAt(max(end-1, 0))
		e.insert(e.lines[line], rest)
	}
	e.done(op, key.Line, nil)
}

// keyColumn is the column, from 0, of the mapping that a key is in.
func (e *editor) keyColumn(key *yaml.Node) int { return e.parent[key].Column - 1 }

// keyOf is the key of a mapping's value; nil for any other node.
func (e *editor) keyOf(n *yaml.Node) *yaml.Node {
	p := e.parent[n]
	if p == nil || p.Kind != yaml.MappingNode {
		return nil
	}
	for i := 1; i < len(p.Content); i += 2 {
		if p.Content[i] == n {
			return p.Content[i-1]
		}
	}
	return nil
}

// colonAfter is the offset after the colon that follows a key.
func (e *editor) colonAfter(key *yaml.Node) (int, bool) {
	end, ok := e.scalarEnd(key)
	if !ok {
		return 0, false
	}
	for end < len(e.text) && e.text[end] == ' ' {
		end++
	}
	return end + 1, end < len(e.text) && e.text[end] == ':'
}

// sequence brings the items of a list to the wanted values: those that are
// there first, new ones at the end.
func (e *editor) sequence(n *yaml.Node, want, have any, steps []any, limit int) {
	held, _ := have.([]any)
	var missing []any
	switch w := want.(type) {
	case Keyed:
		for _, item := range w.Items {
			i := indexOf(held, w.Key, item[w.Key])
			if i < 0 {
				missing = append(missing, item)
				continue
			}
			e.value(n.Content[i], item, held[i], append(slices.Clip(steps), any(i)), e.limitOfItem(n, i, limit))
		}
	case Set:
		for _, item := range w.Items {
			i := slices.IndexFunc(held, func(h any) bool {
				s, ok := h.(string)
				return ok && w.identity(s) == w.identity(item)
			})
			if i < 0 {
				missing = append(missing, item)
				continue
			}
			e.value(n.Content[i], item, held[i], append(slices.Clip(steps), any(i)), e.limitOfItem(n, i, limit))
		}
	}
	for _, item := range missing {
		op := operation{steps: steps, value: Plain(item), appends: true}
		if n.Style&yaml.FlowStyle != 0 {
			e.addFlow(n, flow(item), op)
			continue
		}
		line := e.lastLine(n.Content[len(n.Content)-1], limit)
		var text strings.Builder
		e.style.item(&text, n.Column-1, item)
		e.insert(e.lines[line], text.String())
		e.done(op, line, nil)
	}
}

// limitOfItem is the first line after a list's item i that is not the item's:
// that of the next item's dash.
func (e *editor) limitOfItem(n *yaml.Node, i, limit int) int {
	if n.Style&yaml.FlowStyle != 0 || i+1 >= len(n.Content) {
		return limit
	}
	for l := n.Content[i+1].Line; l > n.Content[i].Line; l-- {
		line := e.line(l)
		indent := len(line) - len(bytes.TrimLeft(line, " "))
		if indent == n.Column-1 && bytes.HasPrefix(line[indent:], []byte("-")) {
			return l
		}
	}
	return n.Content[i+1].Line
}
