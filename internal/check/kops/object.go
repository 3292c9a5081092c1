package kops

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// object reads fields of a decoded document; a field that is absent or of
// another type reads as its zero value, for the structural schema reports types.
type object map[string]any

func asObject(v any) object {
	m, _ := v.(map[string]any)
	return m
}

func (o object) object(field string) object { return asObject(o[field]) }

func (o object) str(field string) string {
	s, _ := o[field].(string)
	return s
}

// has reports whether a field is there and not null, which kOps reads as absent.
func (o object) has(field string) bool { return o[field] != nil }

// number reads an integer; ok is false when the field is absent or no integer.
func (o object) number(field string) (n int64, ok bool) {
	switch v := o[field].(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), v == float64(int64(v))
	case json.Number:
		i, err := v.Int64()
		return i, err == nil
	}
	return 0, false
}

// isTrue reports whether a field is the boolean true.
func (o object) isTrue(field string) bool {
	b, _ := o[field].(bool)
	return b
}

// objects gives the list in a field; an item that is no mapping reads as an empty one.
func (o object) objects(field string) []object {
	list, _ := o[field].([]any)
	out := make([]object, len(list))
	for i, v := range list {
		out[i] = asObject(v)
	}
	return out
}

// strings gives the list in a field; an item that is no string reads as "".
func (o object) strings(field string) []string {
	list, _ := o[field].([]any)
	out := make([]string, len(list))
	for i, v := range list {
		out[i], _ = v.(string)
	}
	return out
}

// keys gives the object's field names in order.
func (o object) keys() []string { return slices.Sorted(maps.Keys(o)) }

// indexed writes the path of a list's item.
func indexed(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// lookup gives the value at a path as upstream reports it; nil when there is none.
func (o object) lookup(path string) any {
	var v any = map[string]any(o)
	for _, step := range steps(path) {
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			i, ok := index(step)
			if !ok || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}
