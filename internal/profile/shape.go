package profile

import (
	"fmt"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
)

// shape is what #Profile says, read off the compiled schema once, so that a
// message can name the fields and bounds that CUE found violated. It never
// decides whether a value is good: CUE does.
type shape struct {
	kind kind
	// fields of an object, in the schema's order.
	fields []shapeField
	// elem is the shape of a list's elements.
	elem *shape
	// source is a scalar's schema, and facts is what was read off it once a
	// message asked.
	source cue.Value
	facts  *leaf
	// maxItems bounds a list; 0 without a bound.
	maxItems int64
}

type shapeField struct {
	name     string
	required bool
	path     cue.Path
	*shape
}

// leaf is a scalar's constraints, as far as messages need them.
type leaf struct {
	// enum lists the values of a closed choice.
	enum []string
	// lower and upper are bounds as written: ">=1", "<=3600".
	lower, upper string
	// check is the pattern or validator that a string must satisfy.
	check string
	// fallback is the default as CUE text, "" without one.
	fallback string
}

// describe reads the shape of a schema value: the fields, and of scalars only
// the kind, since their constraints are for messages. Errors: a kind that no
// profile has.
func describe(v cue.Value) (*shape, error) {
	s := &shape{}
	switch v.IncompleteKind() {
	case cue.StructKind:
		s.kind = kindObject
		it, err := v.Fields(cue.Optional(true))
		if err != nil {
			return nil, err
		}
		for it.Next() {
			f, err := describe(it.Value())
			if err != nil {
				return nil, fmt.Errorf("%s: %w", it.Selector(), err)
			}
			name := it.Selector().Unquoted()
			required := it.Selector().ConstraintType() == cue.RequiredConstraint
			s.fields = append(s.fields, shapeField{name, required, cue.MakePath(cue.Str(name)), f})
		}
		return s, nil
	case cue.ListKind:
		s.kind = kindList
		elem, err := describe(v.LookupPath(cue.MakePath(cue.AnyIndex)))
		s.elem = elem
		s.maxItems = maxItems(v)
		return s, err
	}
	s.source = v
	return s, s.scalarKind()
}

func (s *shape) scalarKind() error {
	switch k := s.source.IncompleteKind(); k {
	case cue.IntKind:
		s.kind = kindInt
	case cue.NumberKind, cue.FloatKind:
		s.kind = kindNumber
	case cue.StringKind:
		s.kind = kindString
	case cue.BoolKind:
		s.kind = kindBool
	default:
		return fmt.Errorf("unexpected kind %v", k)
	}
	return nil
}

// leaf gives a scalar's constraints. One of a form that no message has words
// for is left out of them, which a test of this package rules out.
func (s *shape) leaf() *leaf {
	if s.facts == nil {
		s.facts, _ = s.readLeaf()
	}
	return s.facts
}

func (s *shape) readLeaf() (*leaf, error) {
	l := &leaf{}
	if !s.source.Exists() {
		return l, nil // an object or a list
	}
	// The value prints as its constraints: *40 | uint & >=1 & <=3600.
	e, err := parser.ParseExpr("", fmt.Sprint(s.source))
	if err != nil {
		return l, err
	}
	if err := l.read(e); err != nil {
		return l, err
	}
	// A lone literal before an open constraint is its default, not a choice.
	if l.fallback != "" && len(l.enum) == 1 || s.kind == kindBool {
		l.enum = nil
	}
	if l.check != "" && wording[l.check] == "" {
		return l, fmt.Errorf("no wording for %s", l.check)
	}
	return l, nil
}

// maxItems finds the bound of a list written [...T] & list.MaxItems(n).
func maxItems(v cue.Value) (n int64) {
	_, args := v.Expr()
	for _, a := range args {
		if op, call := a.Expr(); op == cue.CallOp && len(call) == 2 {
			n, _ = call[1].Int64()
		}
	}
	return n
}

// read collects the constraints out of an expression.
func (l *leaf) read(e ast.Expr) error {
	switch x := e.(type) {
	case *ast.BinaryExpr:
		if x.Op != token.AND && x.Op != token.OR {
			return fmt.Errorf("unexpected operator %s", x.Op)
		}
		if err := l.read(x.X); err != nil {
			return err
		}
		return l.read(x.Y)
	case *ast.ParenExpr:
		return l.read(x.X)
	case *ast.UnaryExpr:
		return l.readUnary(x)
	case *ast.BasicLit:
		text := x.Value
		if x.Kind == token.STRING {
			var err error
			if text, err = literal.Unquote(x.Value); err != nil {
				return err
			}
		}
		l.enum = append(l.enum, text)
	case *ast.Ident:
		if x.Name == "uint" {
			l.lower = ">=0"
		}
	case *ast.CallExpr:
		if text := exprText(x); !strings.HasPrefix(text, "strings.MaxRunes") {
			l.check = text
		}
	default:
		return fmt.Errorf("unexpected constraint %s", exprText(e))
	}
	return nil
}

func (l *leaf) readUnary(x *ast.UnaryExpr) error {
	switch x.Op {
	case token.MUL:
		if lit, ok := x.X.(*ast.BasicLit); ok {
			l.fallback = lit.Value
		}
		return l.read(x.X)
	case token.GEQ, token.GTR:
		l.lower = exprText(x)
	case token.LEQ, token.LSS:
		l.upper = exprText(x)
	case token.MAT:
		l.check = exprText(x)
	default:
		return fmt.Errorf("unexpected operator %s", x.Op)
	}
	return nil
}

// field returns the shape of the named field, nil when there is none.
func (s *shape) field(name string) *shape {
	for _, f := range s.fields {
		if f.name == name {
			return f.shape
		}
	}
	return nil
}

// at returns the shape at a path, nil when the schema has no such place.
func (s *shape) at(p fieldPath) *shape {
	for _, e := range p {
		if s == nil {
			return nil
		}
		if e.name == "" {
			s = s.elem
		} else {
			s = s.field(e.name)
		}
	}
	return s
}

// exprText prints a constraint as the schema writes it.
func exprText(e ast.Expr) string {
	b, err := format.Node(e)
	if err != nil {
		return fmt.Sprintf("%T", e)
	}
	return string(b)
}
