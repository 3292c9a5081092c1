package yamltext

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

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
	text := scalar(Plain(want), n.Style)
	if e.inFlow(n) && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0 {
		text = Inline(want)
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
			e.splices = append(e.splices, splice{e.offset(n), closing + 1, Inline(want)})
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
			e.splices = append(e.splices, splice{e.offset(n), end, Inline(want)})
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
