package yamltext

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// style is how a document is laid out, so that new lines look like its own.
type style struct {
	// step is by how much a mapping's keys are further in than their parent's.
	step int
	// dash is by how much a list's dashes are further in than its key; "kops get" writes 0.
	dash int
	// newline is the line break.
	newline string
}

// block writes "key: value" as lines of block YAML at a column, each with its line break.
func (s style) block(b *strings.Builder, column int, key string, value any) {
	fmt.Fprintf(b, "%s%s:", strings.Repeat(" ", column), scalar(key, 0))
	s.value(b, column, value)
}

// value writes what follows "key:" at the key's column.
func (s style) value(b *strings.Builder, column int, value any) {
	switch v := Plain(value).(type) {
	case map[string]any:
		if len(v) == 0 {
			b.WriteString(" {}" + s.newline)
			return
		}
		b.WriteString(s.newline)
		s.entries(b, column+s.step, v)
	case []any:
		if len(v) == 0 {
			b.WriteString(" []" + s.newline)
			return
		}
		b.WriteString(s.newline)
		for _, item := range v {
			s.item(b, column+s.dash, item)
		}
	default:
		b.WriteString(" " + scalar(v, 0) + s.newline)
	}
}

// entries writes the keys of a mapping in order.
func (s style) entries(b *strings.Builder, column int, m map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		s.block(b, column, k, m[k])
	}
}

// item writes one item of a list with its dash at the column.
func (s style) item(b *strings.Builder, column int, item any) {
	indent := strings.Repeat(" ", column)
	m, ok := Plain(item).(map[string]any)
	if !ok || len(m) == 0 {
		text := Inline(item)
		if plain, ok := item.(string); ok {
			text = scalar(plain, 0)
		}
		b.WriteString(indent + "- " + text + s.newline)
		return
	}
	var lines strings.Builder
	s.entries(&lines, column+2, m)
	b.WriteString(indent + "- " + strings.TrimPrefix(lines.String(), indent+"  "))
}

// Inline writes a value on one line, in flow style.
func Inline(value any) string {
	switch v := Plain(value).(type) {
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, scalar(k, 0)+": "+Inline(v[k]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		var parts []string
		for _, item := range v {
			parts = append(parts, Inline(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		if strings.ContainsAny(v, ",[]{}#:?") {
			return strconv.Quote(v)
		}
	}
	return scalar(Plain(value), 0)
}

// scalar writes a scalar: a string so that it stays one for readers of YAML 1.1
// and 1.2, in the quotes that were there before when it had some.
func scalar(value any, was yaml.Style) string {
	s, ok := value.(string)
	if !ok {
		return fmt.Sprint(value)
	}
	printable := !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
	switch {
	case was&yaml.DoubleQuotedStyle != 0 && printable:
		return strconv.Quote(s)
	case was&yaml.SingleQuotedStyle != 0 && printable:
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	if !printable {
		return strconv.Quote(s)
	}
	text, err := yaml.Marshal(s)
	if err != nil {
		return strconv.Quote(s)
	}
	out := strings.TrimSuffix(string(text), "\n")
	if strings.Contains(out, "\n") {
		return strconv.Quote(s)
	}
	return out
}
