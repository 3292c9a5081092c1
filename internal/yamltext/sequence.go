package yamltext

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

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
			e.addFlow(n, Inline(item), op)
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
