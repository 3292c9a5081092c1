package recipe

import (
	"fmt"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/spelling"
)

// written is what a user's rungs say in so many words, read off the files
// beside CUE's own judgement: a value that CUE refuses hides what else is wrong
// with the struct around it, and what it says of a closed choice is one error
// for each thing that could have been chosen.
type written struct {
	schema cue.Value
	// literals are the scalars, by path.
	literals map[string]literalAt
	// unknown are the fields that the schema does not have.
	unknown []finding.Finding
}

type literalAt struct {
	expr   ast.Expr
	schema cue.Value
}

// readRungs walks the rungs of the files that are written as structs; a field
// that comes from elsewhere is left to CUE.
func readRungs(files []*ast.File, schema cue.Value) *written {
	w := &written{schema: schema, literals: map[string]literalAt{}}
	for _, f := range files {
		for _, d := range f.Decls {
			if field, ok := d.(*ast.Field); ok && labelOf(field) == "rungs" {
				w.rungs(field.Value)
			}
		}
	}
	return w
}

// rungs walks the struct of rungs, whose fields are called as their author likes.
func (w *written) rungs(e ast.Expr) {
	s, ok := e.(*ast.StructLit)
	if !ok {
		return
	}
	for _, d := range s.Elts {
		if field, ok := d.(*ast.Field); ok && labelOf(field) != "" {
			w.walk([]string{"rungs", labelOf(field)}, field.Value, w.schema)
		}
	}
}

// walk compares what is written with the schema, field by field.
func (w *written) walk(path []string, e ast.Expr, schema cue.Value) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		w.walk(path, e.X, schema)
	case *ast.BinaryExpr:
		if e.Op.String() == "&" {
			w.walk(path, e.X, schema)
			w.walk(path, e.Y, schema)
		}
	case *ast.StructLit:
		for _, d := range e.Elts {
			if field, ok := d.(*ast.Field); ok && labelOf(field) != "" {
				w.field(append(path[:len(path):len(path)], labelOf(field)), field, schema)
			}
		}
	case *ast.ListLit:
		for i, item := range e.Elts {
			w.walk(append(path[:len(path):len(path)], strconv.Itoa(i)), item, schema.LookupPath(cue.MakePath(cue.AnyIndex)))
		}
	case *ast.BasicLit, *ast.UnaryExpr:
		w.literals[pathKey(path)] = literalAt{e, schema}
	}
}

// field walks one field, or reports it where the schema has none of the name.
func (w *written) field(path []string, field *ast.Field, schema cue.Value) {
	name := path[len(path)-1]
	sub, known := fieldOf(schema, name)
	if !sub.Exists() && len(known) > 0 {
		fix := ""
		if near := nearest(name, known); near != "" {
			fix = fmt.Sprintf("did you mean %s?", near)
		}
		pos := field.Pos()
		w.unknown = append(w.unknown, finding.Finding{Code: "recipe-invalid", Severity: finding.Error, File: pos.Filename(), Line: pos.Line(),
			Path: shownPath(path), Message: "field not allowed", Fix: fix})
		return
	}
	w.walk(path, field.Value, sub)
}

// fieldOf finds a field of a schema's struct, whether it must be there or may
// be, and else the pattern that fits; known are the names there are.
func fieldOf(schema cue.Value, name string) (sub cue.Value, known []string) {
	it, err := schema.Fields(cue.Optional(true))
	if err != nil {
		return sub, nil
	}
	for it.Next() {
		if it.Selector().Unquoted() == name {
			return it.Value(), nil
		}
		known = append(known, it.Selector().Unquoted())
	}
	return schema.LookupPath(cue.MakePath(cue.AnyString)), known
}

// nearest is the name that was probably meant.
func nearest(name string, known []string) (best string) {
	least := max(2, len(name)/3) + 1
	for _, k := range known {
		if d := spelling.Distance(name, k, least); d < least {
			best, least = k, d
		}
	}
	return best
}

// tidy puts what is written beside what CUE found: unknown fields that CUE did
// not come to, one line for a value that the schema refuses, and none that is
// many lines long.
func (w *written) tidy(findings []finding.Finding) []finding.Finding {
	var out []finding.Finding
	said := map[string]bool{}
	for _, u := range w.unknown {
		said[u.File+":"+strconv.Itoa(u.Line)] = true
	}
	refused := map[string]bool{}
	for _, f := range findings {
		if f.Code != "recipe-invalid" {
			out = append(out, f)
			continue
		}
		if f.Message == "field not allowed" && said[f.File+":"+strconv.Itoa(f.Line)] {
			continue
		}
		key := pathKey(splitPath(f.Path))
		if refused[key] {
			continue
		}
		if text, at := w.refusal(key); text != "" {
			refused[key] = true
			f.Message, f.File, f.Line = text, at.expr.Pos().Filename(), at.expr.Pos().Line()
		}
		f.Message = oneLine(f.Message)
		out = append(out, f)
	}
	return append(out, w.unknown...)
}

// refusal says what a literal should have been; it is empty where the schema
// has nothing against it.
func (w *written) refusal(key string) (text string, at literalAt) {
	at, ok := w.literals[key]
	if !ok || !at.schema.Exists() {
		return "", at
	}
	value := at.schema.Context().BuildExpr(at.expr)
	if value.Err() != nil || at.schema.Unify(value).Validate() == nil {
		return "", at
	}
	got, err := format.Node(at.expr)
	if err != nil {
		return "", at
	}
	want := fmt.Sprint(at.schema)
	if strings.Contains(want, " | ") {
		want = "one of " + strings.ReplaceAll(want, " | ", ", ")
	}
	return "want " + want + "; got " + string(got), at
}

// longestMessage is where a message is cut: CUE may print a whole schema.
const longestMessage = 240

func oneLine(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if r := []rune(text); len(r) > longestMessage {
		text = string(r[:longestMessage]) + "…"
	}
	return text
}

// labelOf is a field's name, "" for a pattern, a definition and what is hidden.
func labelOf(field *ast.Field) string {
	name, isIdent, err := ast.LabelName(field.Label)
	if err != nil || isIdent && (strings.HasPrefix(name, "_") || strings.HasPrefix(name, "#")) {
		return ""
	}
	return name
}

func pathKey(path []string) string { return strings.Join(path, "\x00") }

// shownPath writes a path as CUE does in its errors.
func shownPath(path []string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		if _, err := strconv.Atoi(p); err == nil {
			parts[i] = p
			continue
		}
		parts[i] = cue.Str(p).String()
	}
	return strings.Join(parts, ".")
}

// splitPath takes such a path apart again.
func splitPath(path string) (parts []string) {
	for rest := path; rest != ""; {
		part := rest
		if strings.HasPrefix(rest, `"`) {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil
			}
			part, rest = quoted, strings.TrimPrefix(rest[len(quoted):], ".")
			if name, err := strconv.Unquote(part); err == nil {
				part = name
			}
			parts = append(parts, part)
			continue
		}
		part, rest, _ = strings.Cut(rest, ".")
		parts = append(parts, part)
	}
	return parts
}
