package profile

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"github.com/kubeseams/seams/internal/finding"
)

// explainCUE reports everything wrong with one profile of a CUE package: what
// the checker says about the user's own values, then what is wrong with them
// before any schema, and then whatever CUE found that neither shows.
func (c *cueSource) explainCUE(s *schema, p picked, loose map[string]cue.Value, failure error) {
	strict := &cueErrors{source: c, prefix: p.prefix, shape: s.shape, before: len(c.findings)}
	if v, ok := loose[p.name()]; ok {
		strict.tree = c.node(v, 0)
		check := &checker{schema: s, reader: c.reader, root: strict.tree}
		check.check()
		if err := v.Validate(); err != nil {
			// A value that leans on the schema's defaults has errors of its own here.
			strict.add(err, func(q fieldPath) bool { return strict.among(failure, q) })
		}
	}
	strict.add(failure, nil)
	if strict.tree != nil {
		strict.opaque(strict.tree, nil)
	}
}

// cueErrors turns CUE's errors into findings, those aside whose place a
// finding since before is about already.
type cueErrors struct {
	source *cueSource
	prefix []string
	before int
	// shape and tree are nil for errors that no profile can be held against.
	shape *shape
	tree  *node
}

// covered reports whether a finding is about the place, a part of it, or what
// it is part of.
func (c *cueErrors) covered(p fieldPath) bool {
	return len(p) > 0 && slices.ContainsFunc(c.source.findings[c.before:], func(f finding.Finding) bool {
		q := parsePath(f.Path)
		return len(q) > 0 && (p.within(q) || q.within(p))
	})
}

// among reports whether any of CUE's errors is about the place or a part of it.
func (c *cueErrors) among(err error, p fieldPath) bool {
	return slices.ContainsFunc(errors.Errors(err), func(e errors.Error) bool {
		return cuePath(e.Path(), c.prefix).within(p)
	})
}

// add makes findings of the errors that pass the filter.
func (c *cueErrors) add(err error, filter func(fieldPath) bool) {
	var out []finding.Finding
	for _, e := range errors.Errors(err) {
		p := cuePath(e.Path(), c.prefix)
		if c.covered(p) || filter != nil && !filter(p) {
			continue
		}
		f := c.finding(e, p)
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b finding.Finding) int {
		// What sums up other errors about a place is only wanted alone.
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(emptyDisjunction(a), emptyDisjunction(b)))
	})
	// A failed choice or a cycle is reported from each of its ends.
	out = slices.CompactFunc(out, func(a, b finding.Finding) bool {
		return a.Path == b.Path && (a.Path != "" || a.Line == b.Line && a.Message == b.Message)
	})
	c.source.findings = append(c.source.findings, out...)
}

func emptyDisjunction(f finding.Finding) int {
	return strings.Count(f.Message, "errors in empty disjunction")
}

// finding words one error.
func (c *cueErrors) finding(e errors.Error, p fieldPath) finding.Finding {
	code, msg, fix := classify(e)
	f := finding.Finding{Code: code, Severity: finding.Error, File: c.source.file, Path: p.String(), Message: msg, Fix: fix}
	if file, line := c.source.errorPos(e); line > 0 {
		f.File, f.Line = file, line
	}
	if c.tree == nil {
		return f
	}
	// The tree takes 1e4 for the integer it is; CUE does not.
	if n, _ := c.tree.at(p); n != nil && n.kind == kindInt && code == CodeConflict {
		if s := c.shape.at(p); s != nil && s.kind == kindInt && n.raw != n.text {
			f.Code, f.Message, f.Fix = CodeWrongType, fmt.Sprintf("want %s; got the number %s, which CUE does not take for an integer", s.want(), n.raw), "write "+n.text
		}
	}
	return f
}

// opaque reports values that could not be computed, where nothing said why.
func (c *cueErrors) opaque(n *node, p fieldPath) {
	if n.kind == kindOpaque && !c.covered(p) {
		c.source.add(CodeIncomplete, n.line, p, "no value can be computed here", "write a value")
	}
	for _, f := range n.fields {
		c.opaque(f.value, p.field(f.name))
	}
	for i, e := range n.items {
		c.opaque(e, p.elem(i))
	}
}

// errorPos is the first place in the user's text that an error names.
func (c *cueSource) errorPos(e errors.Error) (string, int) {
	for _, pos := range append(e.InputPositions(), e.Position()) {
		if file, line := c.userPos(pos); line > 0 {
			return file, line
		}
	}
	return "", 0
}

// userPos is a position if it is in the user's text, not in our schemas.
func (c *cueSource) userPos(pos token.Pos) (string, int) {
	p := pos.Position()
	if p.Line == 0 || strings.HasPrefix(p.Filename, module+"/") || p.Filename == "" {
		return "", 0
	}
	return p.Filename, p.Line
}

var (
	conflicting = regexp.MustCompile(`conflicting values (.*?) and (.*?)( \(mismatched types .*\))?$`)
	notFound    = regexp.MustCompile(`reference "(.*)" not found`)
	openValue   = regexp.MustCompile(`incomplete value (.*)`)
)

// classify gives one of CUE's errors a code, a message of one line and a fix.
func classify(e errors.Error) (code, msg, fix string) {
	msg = cueMessage(e)
	switch {
	case strings.Contains(msg, "field not allowed"):
		return CodeUnknownField, "unknown field", ""
	case strings.Contains(msg, "field is required but not present"):
		return CodeMissingField, "required field is missing", ""
	case strings.Contains(msg, "cycle"):
		return CodeEvaluation, "the value is defined by itself: " + msg, "break the cycle with a value"
	}
	if m := notFound.FindStringSubmatch(msg); m != nil {
		return CodeEvaluation, fmt.Sprintf("%q is not defined here", m[1]), "a string needs quotes; a file of a package is loaded with the others by naming the directory"
	}
	if m := openValue.FindStringSubmatch(msg); m != nil {
		return CodeIncomplete, "the value is left open: " + m[1], "write a value"
	}
	if m := conflicting.FindStringSubmatch(msg); m != nil {
		return CodeConflict, fmt.Sprintf("given as both %s and %s", m[1], m[2]), "keep one of them"
	}
	if len(e.Path()) == 0 {
		return CodeSyntax, msg, ""
	}
	return CodeEvaluation, msg, ""
}

// cueMessage is an error's own text on one line, without its path.
func cueMessage(e errors.Error) string {
	format, args := e.Msg()
	msg := fmt.Sprintf(format, args...)
	if msg == "" {
		msg = e.Error()
	}
	msg, _, _ = strings.Cut(msg, "\n")
	if r := []rune(msg); len(r) > 240 {
		msg = string(r[:239]) + "…"
	}
	return strings.TrimSuffix(strings.ReplaceAll(msg, "#Profile.", ""), ":")
}

// node makes a tree of an evaluated value. What has no value stays opaque: the
// strict evaluation reports it.
func (c *cueSource) node(v cue.Value, depth int) *node {
	n := &node{}
	n.file, n.line = c.sourcePos(v)
	if depth > c.limits.Depth {
		return n
	}
	if d, ok := v.Default(); ok {
		v = d
	}
	switch n.kind = kindOf(v); n.kind {
	case kindObject:
		it, err := v.Fields()
		for err == nil && it.Next() {
			value := c.node(it.Value(), depth+1)
			n.fields = append(n.fields, field{it.Selector().Unquoted(), value.line, value})
		}
	case kindList:
		for i := 0; ; i++ {
			e := v.LookupPath(cue.MakePath(cue.Index(i)))
			if !e.Exists() {
				break
			}
			n.items = append(n.items, c.node(e, depth+1))
		}
	default:
		n.kind = kindOpaque
		if v.IsConcrete() {
			n.scalar(v)
		}
	}
	return n
}

// scalar fills in a concrete scalar; the node stays opaque if it cannot.
func (n *node) scalar(v cue.Value) {
	switch kindOf(v) {
	case kindString:
		n.kind = kindString
		n.text, _ = v.String()
		n.raw = n.text
	case kindNull:
		n.kind, n.raw = kindNull, "null"
	case kindBool:
		n.kind, n.text = kindBool, fmt.Sprint(v)
	case kindInt, kindNumber:
		text, err := v.MarshalJSON()
		if err != nil {
			return
		}
		n.raw = string(text)
		if k, text, err := numberText(n.raw); err == nil {
			n.kind, n.text = k, text
		}
	}
}

func kindOf(v cue.Value) kind {
	switch v.IncompleteKind() {
	case cue.NullKind:
		return kindNull
	case cue.BoolKind:
		return kindBool
	case cue.IntKind:
		return kindInt
	case cue.FloatKind, cue.NumberKind:
		return kindNumber
	case cue.StringKind:
		return kindString
	case cue.ListKind:
		return kindList
	case cue.StructKind:
		return kindObject
	}
	// A struct or list with something wrong inside has no kind of its own.
	if it, err := v.Fields(); err == nil && it.Next() {
		if it.Selector().LabelType() == cue.IndexLabel {
			return kindList
		}
		return kindObject
	}
	if v.LookupPath(cue.MakePath(cue.Index(0))).Exists() {
		return kindList
	}
	return kindOpaque
}
