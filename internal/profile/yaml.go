package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubeseams/seams/internal/pattern"
)

// parseYAML reads every document of a YAML stream. Aliases and merge keys are
// followed, within a budget, since a few lines of them can stand for a
// billion values.
func (r *reader) parseYAML(data []byte) []*node {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var docs []*node
	for {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs
		}
		if err != nil {
			line, msg := yamlError(err)
			r.add(CodeSyntax, line, nil, "not YAML: "+msg, "")
			return docs
		}
		if len(docs) >= r.limits.Documents {
			r.add(CodeTooLarge, doc.Line, nil, fmt.Sprintf("more than %d documents in one file", r.limits.Documents), "split the file")
			return docs
		}
		y := &yamlReader{reader: r}
		if n := y.node(&doc, nil, 0); !y.stopped && n != nil {
			docs = append(docs, n)
		}
	}
}

var yamlLine = pattern.Of(`^(?:yaml: )?(?:line (\d+): )?(.*)$`)

// yamlError takes the line out of the parser's message.
func yamlError(err error) (line int, msg string) {
	m := yamlLine().FindStringSubmatch(strings.SplitN(err.Error(), "\n", 2)[0])
	line, _ = strconv.Atoi(m[1])
	if line > 0 && strings.HasPrefix(m[2], "did not find expected") {
		line++ // The parser, unlike its scanner, counts lines from 0.
	}
	return line, m[2]
}

// yamlReader turns one document's YAML nodes into a tree.
type yamlReader struct {
	*reader
	visited int
	stopped bool
}

// stop records the one problem that ends the reading of a document.
func (y *yamlReader) stop(n *yaml.Node, p fieldPath, code, msg, fix string) *node {
	if !y.stopped {
		y.add(code, n.Line, p, msg, fix)
	}
	y.stopped = true
	return nil
}

func (y *yamlReader) node(n *yaml.Node, p fieldPath, depth int) *node {
	if y.stopped {
		return nil
	}
	y.visited++
	if y.visited > y.limits.Values {
		return y.stop(n, nil, CodeTooLarge, fmt.Sprintf("aliases expand to more than %d values", y.limits.Values), "write the values out, or use CUE")
	}
	if depth > y.limits.Depth {
		return y.stop(n, nil, CodeTooDeep, fmt.Sprintf("nested deeper than %d levels", y.limits.Depth), "")
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return y.node(n.Content[0], p, depth)
	case yaml.AliasNode:
		return y.node(n.Alias, p, depth+1)
	case yaml.SequenceNode:
		out := &node{kind: kindList, line: n.Line, file: y.file}
		for i, e := range n.Content {
			if item := y.node(e, p.elem(i), depth+1); item != nil {
				out.items = append(out.items, item)
			}
		}
		return out
	case yaml.MappingNode:
		return y.mapping(n, p, depth)
	}
	return y.scalar(n, p)
}

func (y *yamlReader) mapping(n *yaml.Node, p fieldPath, depth int) *node {
	out := &node{kind: kindObject, line: n.Line, file: y.file}
	seen := map[string]int{}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode {
			return y.stop(k, p, CodeSyntax, "a field's name is not plain text", "")
		}
		if k.ShortTag() == "!!merge" {
			merged = append(merged, v)
			continue
		}
		if first, ok := seen[k.Value]; ok {
			y.add(CodeDuplicateKey, k.Line, p.field(k.Value), fmt.Sprintf("field %q is written twice, first on line %d", k.Value, first), "keep one of them")
			continue
		}
		seen[k.Value] = k.Line
		if value := y.node(v, p.field(k.Value), depth+1); value != nil {
			value.line = k.Line
			out.fields = append(out.fields, field{k.Value, value})
		}
	}
	for _, m := range merged {
		y.merge(out, m, p, depth)
	}
	if y.stopped {
		return nil
	}
	return out
}

// merge adds the fields of a merge key's mapping, or list of mappings, that
// are not there yet.
func (y *yamlReader) merge(out *node, m *yaml.Node, p fieldPath, depth int) {
	from := y.node(m, p, depth+1)
	if from == nil {
		return
	}
	sources := []*node{from}
	if from.kind == kindList {
		sources = from.items
	}
	for _, s := range sources {
		if s.kind != kindObject {
			y.stop(m, p, CodeSyntax, "the merge key << wants a mapping", "")
			return
		}
		for _, f := range s.fields {
			if out.child(step{name: f.name}) == nil {
				out.fields = append(out.fields, f)
			}
		}
	}
}

func (y *yamlReader) scalar(n *yaml.Node, p fieldPath) *node {
	out := &node{line: n.Line, file: y.file, raw: n.Value}
	switch tag := n.ShortTag(); tag {
	case "!!null":
		out.kind = kindNull
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err != nil {
			return y.stop(n, p, CodeSyntax, fmt.Sprintf("%q is not a boolean", n.Value), "")
		}
		out.kind, out.text = kindBool, strconv.FormatBool(b)
	case "!!int", "!!float":
		text := n.Value
		if !isInteger(text) {
			var v any
			if err := n.Decode(&v); err != nil {
				return y.stop(n, p, CodeSyntax, fmt.Sprintf("%q is not a number", n.Value), "")
			}
			text = fmt.Sprint(v)
		}
		var err error
		if out.kind, out.text, err = numberText(text); err != nil {
			y.add(CodeSyntax, n.Line, p, err.Error(), "")
		}
	case "!!str", "!!timestamp", "!!binary":
		out.kind, out.text = kindString, n.Value
	default:
		y.add(CodeSyntax, n.Line, p, fmt.Sprintf("unknown tag %s", tag), "leave the tag out")
	}
	return out
}
