package yamltext

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxDepth bounds walks over a node tree, which an alias to its own ancestor
// makes endless.
const maxDepth = 200

// Parse reads the document's node tree. The root is nil for a blank document.
// An error's line counts from the start of the document.
func (d Document) Parse() (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(d.Text, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

// LineOf gives the line of the stream on which the field at the path stands, or
// the nearest of its parents that exists; 0 when root is nil. A path is dotted,
// with indices in brackets: "spec.etcdClusters[1].name". Keys may have dots.
func (d Document) LineOf(root *yaml.Node, path string) int {
	if root == nil {
		return 0
	}
	line := root.Line
	node := root
	for depth := 0; path != "" && depth < maxDepth; depth++ {
		for node.Kind == yaml.AliasNode {
			node = node.Alias
		}
		var key, value *yaml.Node
		if key, value, path = step(node, path); value == nil {
			break
		}
		line, node = key.Line, value
	}
	return d.Line - 1 + line
}

// step follows the first part of a path from a node: the node that shows where
// the part stands, the one it leads to, and the rest of the path.
func step(node *yaml.Node, path string) (at, to *yaml.Node, rest string) {
	path = strings.TrimPrefix(path, ".")
	switch node.Kind {
	case yaml.SequenceNode:
		end := strings.IndexByte(path, ']')
		if !strings.HasPrefix(path, "[") || end < 0 {
			return nil, nil, ""
		}
		i, err := strconv.Atoi(path[1:end])
		if err != nil || i < 0 || i >= len(node.Content) {
			return nil, nil, ""
		}
		return node.Content[i], node.Content[i], path[end+1:]
	case yaml.MappingNode:
		longest := -1
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i]
			after, ok := strings.CutPrefix(path, key.Value)
			if ok && len(key.Value) > longest && (after == "" || after[0] == '.' || after[0] == '[') {
				longest, at, to, rest = len(key.Value), key, node.Content[i+1], after
			}
		}
		return at, to, rest
	}
	return nil, nil, ""
}

// Duplicate is a key that a mapping has twice.
type Duplicate struct {
	Path string
	// Line is the stream's line of the second one.
	Line int
}

// Duplicates lists the keys that occur more than once in one mapping, which
// lenient decoders resolve in silence.
func (d Document) Duplicates(root *yaml.Node) []Duplicate {
	var found []Duplicate
	var walk func(n *yaml.Node, path string, depth int)
	walk = func(n *yaml.Node, path string, depth int) {
		if n == nil || depth > maxDepth {
			return
		}
		switch n.Kind {
		case yaml.SequenceNode:
			for i, item := range n.Content {
				walk(item, path+"["+strconv.Itoa(i)+"]", depth+1)
			}
		case yaml.MappingNode:
			seen := map[string]bool{}
			for i := 0; i+1 < len(n.Content); i += 2 {
				key := n.Content[i]
				at := strings.TrimPrefix(path+"."+key.Value, ".")
				if seen[key.Value] && key.Tag != "!!merge" {
					found = append(found, Duplicate{at, d.Line - 1 + key.Line})
				}
				seen[key.Value] = true
				walk(n.Content[i+1], at, depth+1)
			}
		}
	}
	walk(root, "", 0)
	return found
}

// Child gives a mapping's value for a key, nil when it has none.
func Child(n *yaml.Node, key string) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// Scalar gives a scalar's text, and "" for anything else.
func Scalar(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}
