package profile

import (
	"fmt"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
)

// picked is a profile found inside a CUE package.
type picked struct {
	// prefix are the fields that lead to it, none when it is the whole file.
	prefix []string
	value  cue.Value
}

func (p picked) name() string { return strings.Join(p.prefix, ".") }

func (p picked) source(file string, of int) string {
	if of > 1 {
		name := p.name()
		if u, err := strconv.Unquote(name); err == nil {
			name = u
		}
		return fmt.Sprintf("%s (%s)", file, name)
	}
	return file
}

// pick finds the profiles in a package: the one that Options.Select names; or
// the package itself, if it has a profile's fields; or each of its fields; or
// else its only definition. ok is false when it reported that there is none.
func (c *cueSource) pick(v cue.Value, s *shape) ([]picked, bool) {
	if c.options.Select != "" {
		return c.pickSelected(v)
	}
	k := kindOf(v)
	if k != kindObject && k != kindOpaque {
		c.add(CodeWrongType, c.lineOf(v), nil, "want a profile, an object; got "+k.String(), "")
		return nil, false
	}
	var fields, definitions []picked
	it, err := v.Fields(cue.Definitions(true))
	if err != nil {
		return []picked{{nil, v}}, true // The evaluation's own errors say more.
	}
	whole := false
	for it.Next() {
		sel := it.Selector()
		found := picked{[]string{sel.String()}, it.Value()}
		if sel.IsDefinition() {
			definitions = append(definitions, found)
			continue
		}
		// A field called platform or state is a profile's own only if it does not
		// look like a whole profile itself.
		whole = whole || kindOf(it.Value()) != kindObject || s.field(sel.Unquoted()) != nil && !holdsProfile(it.Value())
		fields = append(fields, found)
	}
	switch {
	case whole || len(fields) == 0 && len(definitions) != 1:
		if len(definitions) > 1 {
			c.add(CodeEmpty, 0, nil, fmt.Sprintf("the file holds %d definitions and no field, and any of them may be the profile", len(definitions)), fmt.Sprintf("select one, such as -e %q", definitions[0].name()))
			return nil, false
		}
		if len(fields) == 0 && k == kindObject {
			c.add(CodeEmpty, 0, nil, "there is no profile in the file", `a profile needs at least "name" and "nodes.count"`)
			return nil, false
		}
		return []picked{{nil, v}}, true
	case len(fields) == 0:
		return definitions, true
	}
	return fields, true
}

// holdsProfile reports whether a struct has fields only a profile has at its top.
func holdsProfile(v cue.Value) bool {
	return v.LookupPath(cue.MakePath(cue.Str("nodes"))).Exists() ||
		v.LookupPath(cue.MakePath(cue.Str("controlPlane"))).Exists()
}

func (c *cueSource) pickSelected(v cue.Value) ([]picked, bool) {
	p := cue.ParsePath(c.options.Select)
	if err := p.Err(); err != nil {
		c.add(CodeEmpty, 0, nil, fmt.Sprintf("%q is not a CUE path", c.options.Select), `write it like -e clusters.east`)
		return nil, false
	}
	found := v.LookupPath(p)
	if !found.Exists() {
		c.add(CodeEmpty, 0, nil, fmt.Sprintf("there is nothing at %s", c.options.Select), "")
		return nil, false
	}
	var prefix []string
	for _, s := range p.Selectors() {
		prefix = append(prefix, s.String())
	}
	return []picked{{prefix, found}}, true
}

// lineOf is where a value stands in the user's text, 0 if elsewhere.
func (c *cueSource) lineOf(v cue.Value) int {
	_, line := c.userPos(v.Pos())
	return line
}

// placeIn finds places of a profile in the user's text.
func (c *cueSource) placeIn(v cue.Value) func(fieldPath) (string, int) {
	return func(p fieldPath) (string, int) {
		for n := len(p); n >= 0; n-- {
			w := v.LookupPath(p[:n].selectors())
			if !w.Exists() {
				continue
			}
			if file, line := c.sourcePos(w); line > 0 {
				return file, line
			}
		}
		return c.file, 0
	}
}

// sourcePos is the user's place among all that made a value: a default of the
// schema has none.
func (c *cueSource) sourcePos(v cue.Value) (string, int) {
	if file, line := c.userPos(v.Pos()); line > 0 {
		return file, line
	}
	_, args := v.Expr()
	for _, a := range args {
		if file, line := c.userPos(a.Pos()); line > 0 {
			return file, line
		}
	}
	return "", 0
}

func (p fieldPath) selectors() cue.Path {
	out := make([]cue.Selector, len(p))
	for i, s := range p {
		if s.name == "" {
			out[i] = cue.Index(s.index)
		} else {
			out[i] = cue.Str(s.name)
		}
	}
	return cue.MakePath(out...)
}
