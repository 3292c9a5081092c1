package generators

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Objects writes API objects (Pods, Services, APIServices, …) as YAML
// documents. Fields keep the order in which upstream declares them, with
// apiVersion and kind first. What only the API server fills in is left out:
// null values, status, and the empty structs that upstream's types cannot omit.
func Objects(objects ...any) ([]byte, error) { return documents(objects, dropServerFields) }

// Configs writes component configurations (kubeadm, kubelet, scheduler, kind)
// as YAML documents. In these types an unset field reads as its zero value, so
// that everything that is empty or zero is left out, except the value of a
// name-value pair.
func Configs(objects ...any) ([]byte, error) { return documents(objects, dropZero) }

// drop reports whether a mapping's entry is left out; depth is 0 at the root.
type drop func(key string, value *node, depth int) bool

func dropServerFields(key string, value *node, depth int) bool {
	switch {
	case value.kind == null:
		return true
	case key == "status":
		return depth == 0
	case key == "resources", key == "strategy", key == "updateStrategy":
		return value.kind == mapping && len(value.items) == 0
	}
	return false
}

func dropZero(key string, value *node, _ int) bool {
	switch value.kind {
	case null:
		return true
	case mapping, sequence:
		return len(value.items) == 0
	case literal:
		return value.text == "0"
	case text:
		// Duration and Quantity write their zero values as "0s" and "0".
		return key != "value" && (value.text == "" || value.text == "0s" || value.text == "0")
	}
	return false
}

func documents(objects []any, drop drop) ([]byte, error) {
	var out bytes.Buffer
	for i, object := range objects {
		n, err := read(object, drop)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		n.writeDocument(&out)
	}
	return out.Bytes(), nil
}

// read goes through JSON, whose tags are the ones upstream's types have.
func read(object any, drop drop) (*node, error) {
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(object); err != nil {
		return nil, fmt.Errorf("write %T as JSON: %w", object, err)
	}
	r := &reader{data: data.Bytes(), drop: drop}
	return r.value(0), r.err
}

// reader makes nodes of the JSON that package json writes: valid and without
// spaces. It keeps the order of fields, which a map would lose, and takes a
// third of the time of json.Decoder's tokens.
type reader struct {
	data []byte
	pos  int
	drop drop
	err  error
}

func (r *reader) value(depth int) *node {
	switch r.data[r.pos] {
	case '{', '[':
		return r.collection(depth)
	case '"':
		return &node{kind: text, text: r.string()}
	}
	start := r.pos
	for bytes.IndexByte([]byte(",]}\n"), r.data[r.pos]) < 0 {
		r.pos++
	}
	word := string(r.data[start:r.pos])
	if word == "null" {
		return &node{kind: null, text: word}
	}
	return &node{kind: literal, text: word}
}

// string reads a string and decodes it when it holds an escape.
func (r *reader) string() string {
	start, escaped := r.pos, false
	for r.pos++; r.data[r.pos] != '"'; r.pos++ {
		if r.data[r.pos] == '\\' {
			escaped = true
			r.pos++
		}
	}
	r.pos++
	if !escaped {
		return string(r.data[start+1 : r.pos-1])
	}
	var s string
	if err := json.Unmarshal(r.data[start:r.pos], &s); err != nil && r.err == nil {
		r.err = fmt.Errorf("read JSON back: %w", err)
	}
	return s
}

func (r *reader) collection(depth int) *node {
	n := &node{kind: sequence}
	if r.data[r.pos] == '{' {
		n.kind = mapping
	}
	for r.pos++; r.data[r.pos] != '}' && r.data[r.pos] != ']'; {
		if r.data[r.pos] == ',' {
			r.pos++
		}
		key := ""
		if n.kind == mapping {
			key = r.string()
			r.pos++ // the colon
		}
		value := r.value(depth + 1)
		if n.kind == mapping && r.drop(key, value, depth) {
			continue
		}
		n.items = append(n.items, item{key, value})
	}
	r.pos++
	n.hoist("kind")
	n.hoist("apiVersion")
	return n
}

// hoist moves a key to the front of a mapping.
func (n *node) hoist(key string) {
	i := slices.IndexFunc(n.items, func(i item) bool { return i.key == key })
	if i > 0 && n.kind == mapping {
		first := n.items[i]
		n.items = slices.Insert(slices.Delete(n.items, i, i+1), 0, first)
	}
}
