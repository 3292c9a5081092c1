package yamltext

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

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
		if Satisfied(held[key], want[key]) {
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
			e.addFlow(n, scalar(key, 0)+": "+Inline(want[key]), operation{steps: append(slices.Clip(steps), any(key)), value: Plain(want[key])})
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
