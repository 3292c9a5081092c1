package read

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/yamltext"
)

// Piece is a part of a file that is judged as a file of its own: the file
// itself, a configuration in a ConfigMap, or an object of a List.
type Piece struct {
	// Name is the piece's own, made of the file's.
	Name string
	Data []byte
	// file and within say where it is: within is the path of the field or item.
	file, within string
	// line gives the file's line of a line of the piece, or of a field in it.
	line func(line int, field string) int
}

// Whole is a file as it is.
func Whole(file string, data []byte) Piece { return Piece{Name: file, Data: data, file: file} }

// Named gives the piece another name, which its findings do not show.
func (p Piece) Named(name string) Piece {
	p.Name = name
	return p
}

// File is the file that the piece is a part of.
func (p Piece) File() string { return p.file }

// Within is the path of the field or item that the piece is; empty for a whole file.
func (p Piece) Within() string { return p.within }

// Place puts a finding about the piece where it stands in the file.
func (p Piece) Place(f finding.Finding) finding.Finding {
	if p.line != nil && f.Line > 0 {
		f.Line = p.line(f.Line, f.Path)
	}
	if p.within != "" {
		f.Path = strings.TrimSuffix(p.within+": "+f.Path, ": ")
	}
	f.File = p.file
	return f
}

// Pieces takes a file apart. What cannot be read as YAML stays in the whole,
// where it becomes a finding; the whole is left out when nothing else is in it.
func Pieces(file string, data []byte) []Piece {
	var pieces []Piece
	rest := slices.Clone(data)
	left := false
	for i, doc := range yamltext.Split(data) {
		found := lift(file, i, doc)
		if found == nil {
			left = left || !doc.Blank()
			continue
		}
		pieces = append(pieces, found...)
		blank(rest[doc.Offset : doc.Offset+len(doc.Text)])
	}
	if left || len(pieces) == 0 {
		pieces = append([]Piece{Whole(file, rest)}, pieces...)
	}
	return pieces
}

// blank empties text and leaves its lines.
func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}

// lift takes configurations and pods out of a ConfigMap or a List; it is nil
// for any other document, and empty when nothing for lint is in it.
func lift(file string, i int, doc yamltext.Document) []Piece {
	if !anyKind().Match(doc.Text) || !bytes.Contains(doc.Text, []byte("ConfigMap")) && !bytes.Contains(doc.Text, []byte("List")) {
		return nil
	}
	root, err := doc.Parse()
	if err != nil || root == nil {
		return nil
	}
	l := lifter{file: file, doc: i, base: doc.Line - 1, root: root}
	kind := yamltext.Scalar(yamltext.Child(root, "kind"))
	switch {
	case yamltext.Scalar(yamltext.Child(root, "apiVersion")) != "v1":
		return nil
	case kind == "ConfigMap":
		l.configMap("", root)
	case kind == "List" || kind == "PodList" || kind == "ConfigMapList":
		items := yamltext.Child(root, "items")
		if items == nil || items.Kind != yaml.SequenceNode {
			return nil
		}
		for i, item := range items.Content {
			at := fmt.Sprintf("items[%d]", i)
			switch orElse(yamltext.Scalar(yamltext.Child(item, "kind")), strings.TrimSuffix(kind, "List")) {
			case "ConfigMap":
				l.configMap(at+".", item)
			case "Pod":
				l.pod(at, item)
			}
		}
	default:
		return nil
	}
	if l.pieces == nil {
		return []Piece{}
	}
	return l.pieces
}

// lifter gathers the pieces of one document.
type lifter struct {
	file   string
	doc    int
	base   int
	root   *yaml.Node
	pieces []Piece
}

func (l *lifter) add(within string, data []byte, line func(int, string) int) {
	name := fmt.Sprintf("%s~%d.%s.yaml", l.file, l.doc, strings.NewReplacer("/", "_", "[", "_", "]", "").Replace(within))
	l.pieces = append(l.pieces, Piece{Name: name, Data: data, file: l.file, within: within, line: line})
}

// configMap takes the configurations out of a ConfigMap's data, each a text.
func (l *lifter) configMap(prefix string, n *yaml.Node) {
	data := yamltext.Child(n, "data")
	if data == nil || data.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(data.Content); i += 2 {
		key, text := data.Content[i], data.Content[i+1]
		if text.Kind != yaml.ScalarNode || byDocuments([]byte(text.Value))&(Kubeadm|Component) == 0 {
			continue
		}
		first, exact := l.base+text.Line, false
		if text.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			first, exact = first+1, text.Style&yaml.LiteralStyle != 0
		}
		l.add(prefix+"data."+key.Value, []byte(text.Value), func(line int, _ string) int {
			if !exact {
				return l.base + text.Line
			}
			return first + line - 1
		})
	}
}

// pod takes a pod of the control plane out of a List.
func (l *lifter) pod(within string, item *yaml.Node) {
	text, err := yaml.Marshal(item)
	if err != nil || !podWords().Match(text) {
		return
	}
	if yamltext.Child(item, "kind") == nil {
		text = append([]byte("apiVersion: v1\nkind: Pod\n"), text...)
	}
	doc := yamltext.Document{Line: l.base + 1}
	l.add(within, text, func(_ int, at string) int {
		path := within
		if at != "" {
			path += "." + at
		}
		return doc.LineOf(l.root, path)
	})
}
