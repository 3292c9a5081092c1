package profile

import (
	"cmp"
	stderrors "errors"
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/pattern"
)

// explainCUE reports everything wrong with one profile of a CUE package: what
// the checker says about the user's own values, then what is wrong with them
// before any schema, and then whatever CUE found that neither shows.
func (c *cueSource) explainCUE(s *schema, p picked, w cue.Value, loose map[string]cue.Value, failure error) {
	strict := &cueErrors{source: c, prefix: p.prefix, shape: s.shape, before: len(c.findings)}
	var tree *node
	if v, ok := loose[p.name()]; ok {
		tree = c.node(v, 0)
		strict.tree = tree
		check := &checker{schema: s, reader: c.reader, root: tree}
		check.check()
		if err := v.Validate(); err != nil {
			// A value that leans on the schema's defaults has errors of its own here.
			strict.add(err, func(q fieldPath) bool { return strict.among(failure, q) })
		}
	}
	strict.add(failure, func(q fieldPath) bool { return len(q) > 0 })
	if tree != nil {
		strict.opaque(tree, nil, w)
	}
	strict.add(failure, nil)
}

// cueErrors turns CUE's errors into findings, those aside whose place a
// finding since before is about already.
type cueErrors struct {
	source *cueSource
	prefix []string
	before int
	// shape is nil for errors that no profile can be held against.
	shape *shape
	// tree has the places of the user's values, which CUE's errors about values
	// that were left open do not name; it may be nil.
	tree *node
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

// add makes findings of the errors that pass the filter, one for each place.
func (c *cueErrors) add(err error, filter func(fieldPath) bool) {
	type ranked struct {
		finding.Finding
		rank int
	}
	var out []ranked
	for _, e := range errors.Errors(err) {
		p := c.path(e)
		if stderrors.Is(e, errReported) || c.covered(p) || filter != nil && !filter(p) {
			continue
		}
		f, rank := c.finding(e, p)
		if len(p) == 0 && (f.Line == 0 || fromSchema(e.Position())) && len(c.source.findings) > c.before {
			continue // It follows from what was said with a place already.
		}
		out = append(out, ranked{f, rank})
	}
	slices.SortStableFunc(out, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.rank, b.rank))
	})
	// A failed choice or a cycle is reported from each of its ends.
	out = slices.CompactFunc(out, func(a, b ranked) bool {
		return a.Path == b.Path && (a.Path != "" || a.Line == b.Line && a.Message == b.Message)
	})
	for _, f := range out {
		c.source.findings = append(c.source.findings, f.Finding)
	}
}

// finding words one error. Of several about one place, the one of least rank
// says most.
func (c *cueErrors) finding(e errors.Error, p fieldPath) (f finding.Finding, rank int) {
	code, msg, fix := classify(e)
	f = finding.Finding{Code: code, Severity: finding.Error, File: c.source.file, Path: p.String(), Message: msg, Fix: fix}
	if file, line := c.source.errorPos(e); line > 0 {
		f.File, f.Line = file, line
	} else if n := c.written(p); n != nil {
		f.File, f.Line = n.file, n.line
	}
	s := c.shape.at(p)
	if s == nil || s.kind == kindObject || s.kind == kindList {
		return f, 1
	}
	if value, ok := refused(e, s); ok {
		f.Code, f.Message, f.Fix = CodeOutOfBounds, fmt.Sprintf("want %s; got %s", s.want(), value), ""
		if s.kind == kindString {
			f.Code = CodeBadFormat
		}
		// CUE takes 1e4 for no integer.
		if k, text, err := numberText(value); err == nil && text != value && code == CodeConflict && k == kindInt && s.kind == kindInt {
			f.Code, f.Fix = CodeWrongType, "write "+text
		}
		return f, 0
	}
	return f, 1 + strings.Count(msg, "errors in empty disjunction")
}

// written is the user's own value at a place, where the text has it.
func (c *cueErrors) written(p fieldPath) *node {
	if c.tree == nil || len(p) == 0 {
		return nil
	}
	if n, _ := c.tree.at(p); n != nil && n.line > 0 {
		return n
	}
	return nil
}

// opaque reports values that could not be computed, not with the schema's
// defaults either, where nothing said why.
func (c *cueErrors) opaque(n *node, p fieldPath, strict cue.Value) {
	if n.kind == kindOpaque && !c.covered(p) && strict.LookupPath(p.selectors()).Validate(cue.Concrete(true)) != nil {
		msg := "no value can be computed here"
		if n.raw != "" {
			msg = "the value is left open: " + n.raw
		}
		c.source.addAt(n, CodeIncomplete, p, msg, "write a value")
	}
	for _, f := range n.fields {
		c.opaque(f.value, p.field(f.name), strict)
	}
	for i, e := range n.items {
		c.opaque(e, p.elem(i), strict)
	}
}

// path is where an error is, which CUE does not say of an error that the text
// itself writes: there it is the unreadable value of the line, if there is one.
func (c *cueErrors) path(e errors.Error) fieldPath {
	p := cuePath(e.Path(), c.prefix)
	if len(p) > 0 || c.tree == nil {
		return p
	}
	file, line := c.source.errorPos(e)
	if line == 0 {
		return p
	}
	p, _ = c.tree.unreadable(file, line)
	return p
}

// errorPos is the first place in the user's text that an error names; for a
// value, in the input itself rather than in what it imports.
func (c *cueSource) errorPos(e errors.Error) (file string, line int) {
	for _, pos := range append(e.InputPositions(), e.Position()) {
		f, l := c.userPos(pos)
		if l > 0 && len(e.Path()) > 0 && slices.ContainsFunc(c.files, func(t cueText) bool { return t.name == f }) {
			return f, l
		}
		if l > 0 && line == 0 {
			file, line = f, l
		}
	}
	return file, line
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
	conflicting = pattern.Of(`conflicting values (.*?) and (.*?)( \(mismatched types .*\))?$`)
	invalid     = pattern.Of(`invalid value (.*?) \((out of bound|does not satisfy) `)
	notFound    = pattern.Of(`reference "(.*)" not found`)
	openValue   = pattern.Of(`incomplete value (.*)`)
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
	if m := notFound().FindStringSubmatch(msg); m != nil {
		return CodeEvaluation, fmt.Sprintf("%q is not defined here", m[1]), "put a string in quotes; to load all files of a package, name its directory"
	}
	if m := openValue().FindStringSubmatch(msg); m != nil {
		return CodeIncomplete, "the value is left open: " + m[1], "write a value"
	}
	if m := conflicting().FindStringSubmatch(msg); m != nil {
		return CodeConflict, fmt.Sprintf("given as both %s and %s", m[1], m[2]), "keep one of them"
	}
	if len(e.Path()) == 0 {
		return CodeSyntax, msg, ""
	}
	return CodeEvaluation, msg, ""
}

// refused is the value of the user's that an error holds against the schema,
// as CUE text.
func refused(e errors.Error, s *shape) (value string, ok bool) {
	msg := cueMessage(e)
	if m := invalid().FindStringSubmatch(msg); m != nil {
		return m[1], true
	}
	m := conflicting().FindStringSubmatch(msg)
	if m == nil || !slices.ContainsFunc(append(e.InputPositions(), e.Position()), fromSchema) {
		return "", false
	}
	for _, v := range m[1:3] {
		if v != s.leaf().fallback && !slices.Contains([]string{"int", "number", "string", "bool"}, v) && !slices.Contains(s.leaf().enum, strings.Trim(v, `"`)) {
			return v, true
		}
	}
	return "", false
}

func fromSchema(p token.Pos) bool { return strings.HasPrefix(p.Filename(), module+"/") }

// cueMessage is an error's own text on one line, without its path.
func cueMessage(e errors.Error) string {
	format, args := e.Msg()
	msg := fmt.Sprintf(format, args...)
	// A failed import or call wraps the reason.
	if inner := stderrors.Unwrap(e); inner != nil {
		reason := inner.Error()
		if deeper, ok := inner.(errors.Error); ok {
			reason = cueMessage(deeper)
		}
		if msg == "" || msg == "import failed" {
			msg = reason
		} else if !strings.Contains(msg, reason) {
			msg += ": " + reason
		}
	}
	msg, _, _ = strings.Cut(msg, "\n")
	if r := []rune(msg); len(r) > 240 {
		msg = string(r[:239]) + "…"
	}
	return strings.TrimSuffix(strings.ReplaceAll(msg, "#Profile.", ""), ":")
}
