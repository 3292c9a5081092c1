package profile

import (
	"fmt"

	"cuelang.org/go/cue"
)

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
			n.fields = append(n.fields, field{it.Selector().Unquoted(), c.node(it.Value(), depth+1)})
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
		} else if v.Err() == nil {
			n.raw = fmt.Sprint(v)
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
