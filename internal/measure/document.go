package measure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Document is a profile in the making: fields in order, each with where its
// value comes from.
type Document struct{ root *node }

// node is a field: a value, fields of its own, or a list.
type node struct {
	key     string
	comment []string
	value   any
	fields  []*node
	items   []*node
	isList  bool
}

// set adds a field with a value, and why it is that one.
func (n *node) set(key string, value any, comment ...string) {
	n.fields = append(n.fields, &node{key: key, value: value, comment: comment})
}

// object adds a field that has fields.
func (n *node) object(key string, comment ...string) *node {
	o := &node{key: key, comment: comment}
	n.fields = append(n.fields, o)
	return o
}

// list adds a field that has items.
func (n *node) list(key string, comment ...string) *node {
	l := &node{key: key, comment: comment, isList: true}
	n.fields = append(n.fields, l)
	return l
}

// item adds an object to a list.
func (n *node) item(comment ...string) *node {
	o := &node{comment: comment}
	n.items = append(n.items, o)
	return o
}

// remark adds a comment that belongs to no value.
func (n *node) remark(comment ...string) {
	n.fields = append(n.fields, &node{comment: comment})
}

// empty reports whether there is nothing to write.
func (n *node) empty() bool {
	if n.value != nil || len(n.items) > 0 {
		return false
	}
	for _, f := range n.fields {
		if f.key != "" && !f.empty() {
			return false
		}
	}
	return true
}

// YAML writes the profile with its comments.
func (d *Document) YAML() []byte {
	var b bytes.Buffer
	for _, line := range d.root.comment {
		comment(&b, "", line)
	}
	d.root.writeFields(&b, "", "")
	return b.Bytes()
}

// writeFields writes fields, the first behind lead where that is not empty.
func (n *node) writeFields(b *bytes.Buffer, indent, lead string) {
	for _, f := range n.fields {
		if f.key != "" && f.empty() {
			f.key, f.fields, f.isList = "", nil, false // its comments alone say what was not seen
		}
		for _, line := range f.comment {
			if f.key == "" || lead == "" {
				comment(b, indent, line)
			}
		}
		if f.key == "" {
			continue
		}
		at := indent
		if lead != "" {
			at, lead = lead, ""
		}
		switch {
		case f.value != nil:
			fmt.Fprintf(b, "%s%s: %s\n", at, f.key, scalar(f.value))
		case f.isList:
			fmt.Fprintf(b, "%s%s:\n", at, f.key)
			for _, item := range f.items {
				for _, line := range item.comment {
					comment(b, indent+"  ", line)
				}
				item.writeFields(b, indent+"    ", indent+"  - ")
			}
		default:
			fmt.Fprintf(b, "%s%s:\n", at, f.key)
			f.writeFields(b, indent+"  ", "")
		}
	}
}

const commentWidth = 96

func comment(b *bytes.Buffer, indent, text string) {
	line := indent + "#"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > commentWidth && line != indent+"#" {
			b.WriteString(line + "\n")
			line = indent + "#"
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}

// scalar writes a value as YAML and JSON both read it. JSON's strings are YAML's.
func scalar(v any) string {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case int:
		return strconv.Itoa(v)
	case bool:
		return strconv.FormatBool(v)
	}
	text, _ := json.Marshal(fmt.Sprint(v))
	return string(text)
}

// JSON writes the profile alone.
func (d *Document) JSON() []byte {
	var b, out bytes.Buffer
	d.root.writeJSON(&b)
	_ = json.Indent(&out, b.Bytes(), "", "  ")
	out.WriteByte('\n')
	return out.Bytes()
}

func (n *node) writeJSON(b *bytes.Buffer) {
	switch {
	case n.value != nil:
		b.WriteString(scalar(n.value))
	case n.isList:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.writeJSON(b)
		}
		b.WriteByte(']')
	default:
		b.WriteByte('{')
		first := true
		for _, f := range n.fields {
			if f.key == "" || f.empty() {
				continue
			}
			if !first {
				b.WriteByte(',')
			}
			first = false
			b.WriteString(scalar(f.key) + ":")
			f.writeJSON(b)
		}
		b.WriteByte('}')
	}
}
