package yamltext

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// source is a document's text with the places of its lines and nodes.
type source struct {
	text []byte
	// lines are the offsets at which the lines begin; one more than there are lines.
	lines  []int
	parent map[*yaml.Node]*yaml.Node
	// aliased are the nodes that an alias stands for somewhere.
	aliased map[*yaml.Node]bool
	style   style
}

var byteOrderMark = []byte("\ufeff")

func newSource(text []byte, root *yaml.Node) (*source, error) {
	if i := bytes.IndexByte(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), '\r'); i >= 0 ||
		bytes.Contains(text, []byte("\u0085")) || bytes.Contains(text, []byte("\u2028")) || bytes.Contains(text, []byte("\u2029")) {
		return nil, errors.New("the text has line breaks other than LF and CRLF")
	}
	s := &source{text: text, parent: map[*yaml.Node]*yaml.Node{}, aliased: map[*yaml.Node]bool{}}
	offset := 0
	for line := range bytes.Lines(text) {
		s.lines = append(s.lines, offset)
		offset += len(line)
	}
	s.lines = append(s.lines, offset)
	if bytes.HasPrefix(text, byteOrderMark) {
		s.lines[0] = len(byteOrderMark)
	}
	s.style = style{step: 2, newline: "\n"}
	if first, _, ok := bytes.Cut(text, []byte("\n")); ok && bytes.HasSuffix(first, []byte("\r")) {
		s.style.newline = "\r\n"
	}
	s.survey(root, 0, map[string]bool{})
	return s, nil
}

// survey notes parents and aliases, and takes the layout from the first nested
// mapping and the first list.
func (s *source) survey(n *yaml.Node, depth int, seen map[string]bool) {
	if depth > maxDepth {
		return
	}
	if n.Kind == yaml.AliasNode {
		s.aliased[n.Alias] = true
		return
	}
	for i, c := range n.Content {
		s.parent[c] = n
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Style&yaml.FlowStyle == 0 && c.Style&yaml.FlowStyle == 0 && c.Anchor == "" && c.Line > n.Content[i-1].Line {
			further := c.Column - n.Column
			switch {
			case c.Kind == yaml.MappingNode && !seen["step"] && further > 0:
				s.style.step, seen["step"] = further, true
			case c.Kind == yaml.SequenceNode && !seen["dash"] && further >= 0:
				s.style.dash, seen["dash"] = further, true
			}
		}
		s.survey(c, depth+1, seen)
	}
}

// count is how many lines there are.
func (s *source) count() int { return len(s.lines) - 1 }

// line gives a line's text, from 1, without its line break.
func (s *source) line(n int) []byte {
	return bytes.TrimRight(s.text[s.lines[n-1]:s.lines[n]], "\r\n")
}

// offset is where a node begins. The parser counts columns in characters.
func (s *source) offset(n *yaml.Node) int {
	if n.Line < 1 || n.Line > s.count() {
		return len(s.text)
	}
	at := s.lines[n.Line-1]
	for i := 1; i < n.Column && at < len(s.text); i++ {
		_, size := utf8.DecodeRune(s.text[at:])
		at += size
	}
	return at
}

// isContent reports whether a line has more than white space or a comment.
func isContent(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	return len(line) > 0 && line[0] != '#'
}

// lastLine is the last line of a node's text, given the first line that is
// certainly not part of it: comments and blank lines before that one are not.
func (s *source) lastLine(n *yaml.Node, limit int) int {
	leaf := n
	for leaf.Kind != yaml.ScalarNode && leaf.Style&yaml.FlowStyle == 0 && len(leaf.Content) > 0 {
		leaf = leaf.Content[len(leaf.Content)-1]
	}
	if leaf.Kind == yaml.ScalarNode {
		switch {
		case leaf.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
			return s.lastBlockLine(leaf, limit)
		case leaf.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
			if end, ok := s.scalarEnd(leaf); ok {
				return s.lineAt(end - 1)
			}
		}
	}
	for l := min(limit-1, s.count()); l > leaf.Line; l-- {
		if isContent(s.line(l)) {
			return l
		}
	}
	// The empty value of an explicit key may stand behind the end of the document.
	return min(max(leaf.Line, n.Line), s.count())
}

// lastBlockLine is the last line of a literal or folded scalar, whose lines may
// look like comments.
func (s *source) lastBlockLine(n *yaml.Node, limit int) int {
	header := bytes.TrimLeft(s.text[s.offset(n):s.lines[n.Line]], "|>")
	keep := false
	indent := -1
	for _, c := range header {
		switch {
		case c == '+':
			keep = true
		case c >= '1' && c <= '9':
			indent = int(c-'0') + s.parentIndent(n)
		case c != '-':
			goto body
		}
	}
body:
	last := n.Line
	for l := n.Line + 1; l < limit && l <= s.count(); l++ {
		line := s.line(l)
		content := bytes.TrimLeft(line, " ")
		if len(content) == 0 {
			if keep {
				last = l
			}
			continue
		}
		if indent < 0 {
			indent = len(line) - len(content)
		}
		if len(line)-len(content) < indent {
			break
		}
		last = l
	}
	return last
}

// parentIndent is the indentation of the collection a node is in.
func (s *source) parentIndent(n *yaml.Node) int {
	if p := s.parent[n]; p != nil {
		return p.Column - 1
	}
	return 0
}

// lineAt is the line, from 1, that an offset is on.
func (s *source) lineAt(offset int) int {
	lo, hi := 1, s.count()
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if s.lines[mid-1] <= offset {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// scalarEnd is the offset after a scalar's text; ok is false when it cannot be
// told: for one with an anchor or a tag, and for one in plain style over several lines.
func (s *source) scalarEnd(n *yaml.Node) (end int, ok bool) {
	at := s.offset(n)
	rest := s.text[at:]
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0 || n.Style&yaml.SingleQuotedStyle != 0:
		length := quoted(rest)
		return at + length, length > 0
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return 0, false
	}
	return at + len(n.Value), n.Value != "" && bytes.HasPrefix(rest, []byte(n.Value))
}

// quoted is the length of the quoted scalar that text begins with; 0 when it begins with none.
func quoted(text []byte) int {
	if len(text) == 0 || text[0] != '"' && text[0] != '\'' {
		return 0
	}
	for i := 1; i < len(text); i++ {
		switch {
		case text[0] == '"' && text[i] == '\\':
			i++
		case text[i] == text[0] && text[0] == '\'' && i+1 < len(text) && text[i+1] == '\'':
			i++
		case text[i] == text[0]:
			return i + 1
		}
	}
	return 0
}

// flowEnd finds the end of a flow collection: the offset of its closing bracket,
// and that after the last thing before it. ok is false when it does not close.
func (s *source) flowEnd(n *yaml.Node) (closing, last int, ok bool) {
	depth, start := 0, true
	for i := s.offset(n); i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			start = true
			continue
		case c == '#' && start:
			for i+1 < len(s.text) && s.text[i+1] != '\n' {
				i++
			}
			continue
		case (c == '"' || c == '\'') && start:
			length := quoted(s.text[i:])
			if length == 0 {
				return 0, 0, false
			}
			i += length - 1
			start = false
		case c == '{' || c == '[':
			depth++
			start = true
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i, last, true
			}
			start = false
		default:
			start = c == ',' || c == ':' || c == '?'
		}
		last = i + 1
	}
	return 0, 0, false
}
