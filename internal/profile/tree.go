package profile

import (
	"slices"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"
)

// kind is what a value is.
type kind int

const (
	// kindOpaque is a value that could not be read: an error in a CUE file.
	kindOpaque kind = iota
	kindNull
	kindBool
	kindInt
	kindNumber
	kindString
	kindList
	kindObject
)

var kindNames = [...]string{"nothing readable", "null", "a boolean", "an integer", "a number", "a string", "a list", "an object"}

func (k kind) String() string { return kindNames[k] }

// node is a value of any input format with its place, before the schema is
// applied to it.
type node struct {
	kind kind
	// text is a string's content, a number as a CUE literal, "true" or "false".
	text string
	// raw is a scalar as the user wrote it.
	raw string
	// line is 1-based, 0 when unknown.
	line   int
	file   string
	fields []field
	items  []*node
}

type field struct {
	name  string
	value *node
}

// clone copies the tree, so that bad values can be cut out of the copy.
func (n *node) clone() *node {
	c := *n
	c.fields = make([]field, len(n.fields))
	for i, f := range n.fields {
		c.fields[i] = field{f.name, f.value.clone()}
	}
	c.items = make([]*node, len(n.items))
	for i, e := range n.items {
		c.items[i] = e.clone()
	}
	return &c
}

// forget drops the lines of a tree whose text nobody wrote.
func (n *node) forget() {
	n.line = 0
	for _, f := range n.fields {
		f.value.forget()
	}
	for _, e := range n.items {
		e.forget()
	}
}

// replace puts a value in the place of the one at a path; nil removes it.
func (n *node) replace(p fieldPath, value *node) {
	if len(p) == 0 {
		if value != nil {
			*n = *value
		}
		return
	}
	parent, _ := n.at(p[:len(p)-1])
	if parent == nil {
		return
	}
	last := p[len(p)-1]
	if last.name == "" {
		if last.index < len(parent.items) && value != nil {
			parent.items[last.index] = value
		}
		return
	}
	parent.fields = slices.DeleteFunc(parent.fields, func(f field) bool { return f.name == last.name })
	if value != nil {
		parent.fields = append(parent.fields, field{last.name, value})
	}
}

// expr makes a CUE expression of the tree.
func (n *node) expr() ast.Expr {
	switch n.kind {
	case kindObject:
		s := &ast.StructLit{}
		for _, f := range n.fields {
			s.Elts = append(s.Elts, &ast.Field{Label: ast.NewString(f.name), Value: f.value.expr()})
		}
		return s
	case kindList:
		l := &ast.ListLit{}
		for _, e := range n.items {
			l.Elts = append(l.Elts, e.expr())
		}
		return l
	case kindString:
		return ast.NewString(n.text)
	case kindBool:
		return ast.NewBool(n.text == "true")
	case kindInt:
		return number(token.INT, n.text)
	case kindNumber:
		return number(token.FLOAT, n.text)
	}
	return ast.NewNull()
}

// number makes a literal; CUE has no negative ones.
func number(k token.Token, text string) ast.Expr {
	if text[0] == '-' {
		return &ast.UnaryExpr{Op: token.SUB, X: &ast.BasicLit{Kind: k, Value: text[1:]}}
	}
	return &ast.BasicLit{Kind: k, Value: text}
}

// at returns the node at a path and the nearest node above it that exists.
func (n *node) at(p fieldPath) (found, nearest *node) {
	nearest = n
	for _, s := range p {
		next := n.child(s)
		if next == nil {
			return nil, nearest
		}
		n, nearest = next, next
	}
	return n, nearest
}

// unreadable finds the opaque value on a line.
func (n *node) unreadable(file string, line int) (p fieldPath, ok bool) {
	if n.kind == kindOpaque && n.file == file && n.line == line {
		return nil, true
	}
	for _, f := range n.fields {
		if q, ok := f.value.unreadable(file, line); ok {
			return append(fieldPath{}.field(f.name), q...), true
		}
	}
	for i, e := range n.items {
		if q, ok := e.unreadable(file, line); ok {
			return append(fieldPath{}.elem(i), q...), true
		}
	}
	return nil, false
}

func (n *node) child(s step) *node {
	if s.name == "" {
		if s.index < len(n.items) {
			return n.items[s.index]
		}
		return nil
	}
	for i := len(n.fields) - 1; i >= 0; i-- {
		if n.fields[i].name == s.name {
			return n.fields[i].value
		}
	}
	return nil
}
