package profile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/errors"
)

// checker holds one tree against the schema. CUE decides; the checker's part is
// to get everything said at once: CUE can be silent about an unknown or a
// missing field while a value is wrong, so names are compared first, and what
// is found wrong is cut out before CUE is asked again.
type checker struct {
	*schema
	*reader
	root *node
	// work is the tree with what was found wrong cut out or filled in.
	work *node
	// cut are the places of work that are not the user's.
	cut []fieldPath
}

// maxRounds bounds how often CUE is asked about what is left of a tree; each
// round but the last finds something new.
const maxRounds = 32

// check gives the unified value; ok is false when there were findings.
func (c *checker) check() (v cue.Value, ok bool) {
	if c.root.kind != kindObject {
		fix := ""
		if c.root.kind == kindList {
			fix = "write one profile in each file"
			if c.format == YAML {
				fix = `write each profile as a document of its own, separated by "---"`
			}
		}
		c.addAt(c.root, CodeWrongType, nil, "want one profile, an object; got "+c.root.got(false), fix)
		return v, false
	}
	c.work = c.root
	before := len(c.findings)
	c.names(c.root, c.shape, nil)
	for range maxRounds {
		v = c.profile.Unify(c.ctx.BuildExpr(c.work.expr()))
		err := v.Validate(cue.Concrete(true))
		if err == nil {
			break
		}
		if !c.explain(err) {
			return v, false
		}
	}
	if len(c.findings) == before && len(c.cut) == 0 {
		return v, true
	}
	// What is left may still be wrong in meaning.
	if v.Validate(cue.Concrete(true)) == nil {
		if p, err := decode(v, c.shape); err == nil {
			c.validate(p, c.place, c.cut)
		}
	}
	return v, false
}

// names walks the tree beside the schema, for fields that are unknown, missing,
// or of another type.
func (c *checker) names(n *node, s *shape, p fieldPath) {
	switch {
	case n.kind == kindOpaque:
		// What made it unreadable is reported by itself.
		c.replace(p, c.substitute(s, p))
	case !n.kind.fits(s.kind):
		c.value(n, s, p)
		c.replace(p, c.substitute(s, p))
	case n.kind == kindList && s.maxItems > 0 && len(n.items) > int(s.maxItems):
		// Thousands of entries too many are not CUE's to go through first.
		c.value(n, s, p)
		c.replace(p, c.substitute(s, p))
	case n.kind == kindList && s.kind == kindList:
		for i, e := range n.items {
			c.names(e, s.elem, p.elem(i))
		}
	case n.kind == kindObject && s.kind == kindObject:
		for _, f := range n.fields {
			if sub := s.field(f.name); sub != nil {
				c.names(f.value, sub, p.field(f.name))
				continue
			}
			c.addAt(f.value, CodeUnknownField, p.field(f.name), fmt.Sprintf("unknown field %q", f.name), suggestField(f.name, s))
			c.replace(p.field(f.name), nil)
		}
		for _, f := range s.fields {
			if f.required && n.child(step{name: f.name}) == nil {
				c.missing(n, p, f)
			}
		}
	}
}

func (c *checker) missing(n *node, p fieldPath, f shapeField) {
	at := p.field(f.name)
	fix := fmt.Sprintf("add %q", f.name)
	if f.kind != kindObject {
		fix += ", " + f.want()
	} else if inner := f.requiredNames(); len(inner) > 0 {
		fix += " with " + strings.Join(inner, ", ")
	}
	c.addAt(n, CodeMissingField, at, "required field is missing", fix)
	c.replace(at, f.filler(len(c.cut)+1))
}

// requiredNames are the fields an object cannot do without, in quotes.
func (s *shape) requiredNames() (names []string) {
	for _, f := range s.fields {
		if f.required {
			names = append(names, strconv.Quote(f.name))
		}
	}
	return names
}

// replace changes the working copy and notes the place as not the user's.
func (c *checker) replace(p fieldPath, value *node) {
	if c.work == c.root {
		c.work = c.root.clone()
	}
	c.work.replace(p, value)
	c.cut = append(c.cut, p)
}

// filler is a valid value for a required place, so that the rest can be
// checked; n makes it differ from other fillers.
func (s *shape) filler(n int) *node {
	switch {
	case s.kind == kindObject:
		out := &node{kind: kindObject}
		for _, f := range s.fields {
			if f.required {
				out.fields = append(out.fields, field{name: f.name, value: f.filler(n)})
			}
		}
		return out
	case s.kind == kindList:
		return &node{kind: kindList}
	case s.kind != kindString:
		return &node{kind: kindInt, text: "1"}
	case s.leaf().check == "net.IP()":
		return &node{kind: kindString, text: fmt.Sprintf("192.0.2.%d", n%256)}
	}
	return &node{kind: kindString, text: fmt.Sprintf("x%d", n)}
}

// explain turns CUE's errors into findings, one for each place, and cuts the
// places out. It reports whether there is any point in asking again.
func (c *checker) explain(err error) (progress bool) {
	var containers []errors.Error
	for _, e := range errors.Errors(err) {
		p := cuePath(e.Path(), nil)
		if c.isCut(p) {
			continue
		}
		found, _ := c.work.at(p)
		s := c.shape.at(p)
		if found == nil || s == nil || s.kind == kindObject || s.kind == kindList {
			// An object is wrong because of something in it, which has an error of
			// its own, or will have when the rest is cut out.
			containers = append(containers, e)
			continue
		}
		c.value(found, s, p)
		progress = true
		c.replace(p, c.substitute(s, p))
	}
	if progress || len(containers) == 0 {
		return progress
	}
	for _, e := range containers {
		p := cuePath(e.Path(), nil)
		_, near := c.root.at(p)
		c.addAt(near, CodeConflict, p, cueMessage(e), "")
	}
	return false
}

func (c *checker) isCut(p fieldPath) bool {
	for _, q := range c.cut {
		if p.within(q) {
			return true
		}
	}
	return false
}

// substitute is what stands in for a bad value: nothing where the schema has a
// default, a filler where it insists on one.
func (c *checker) substitute(s *shape, p fieldPath) *node {
	if s == nil || len(p) == 0 {
		return nil
	}
	if p[len(p)-1].name == "" || c.required(p) {
		return s.filler(len(c.cut) + 1)
	}
	return nil
}

// required reports whether the schema insists on a field.
func (c *checker) required(p fieldPath) bool {
	if len(p) == 0 {
		return true
	}
	parent := c.shape.at(p[:len(p)-1])
	return parent != nil && slices.ContainsFunc(parent.fields, func(f shapeField) bool {
		return f.name == p[len(p)-1].name && f.required
	})
}

// place is the file and line of a path, or of what is nearest above it.
func (c *checker) place(p fieldPath) (string, int) {
	_, near := c.root.at(p)
	if near.file == "" {
		return c.file, near.line
	}
	return near.file, near.line
}
