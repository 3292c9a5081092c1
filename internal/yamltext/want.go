package yamltext

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// A wanted value is a string, a bool, an int64 or a Duration; a map[string]any of wanted
// values, whose other keys are left as they are; or one of the lists below,
// whose other items are left as they are.

// Keyed are mappings of a list that are told apart by the value of one key,
// such as the variables of an environment by their name.
type Keyed struct {
	Key   string
	Items []map[string]any
}

// Set are strings of a list. Two strings are the same item when they agree up
// to the first Separator; an empty one compares them whole.
type Set struct {
	Separator string
	Items     []string
}

func (s Set) identity(item string) string {
	if s.Separator == "" {
		return item
	}
	before, _, _ := strings.Cut(item, s.Separator)
	return before
}

// Duration is a duration's text. Another text of the same duration satisfies it
// and is left as it is: programs write what they were given as 150s as 2m30s.
type Duration string

// Plain turns a wanted value into what it decodes to when nothing is there yet.
func Plain(want any) any {
	switch w := want.(type) {
	case map[string]any:
		out := make(map[string]any, len(w))
		for k, v := range w {
			out[k] = Plain(v)
		}
		return out
	case Keyed:
		out := make([]any, len(w.Items))
		for i, item := range w.Items {
			out[i] = Plain(item)
		}
		return out
	case Set:
		out := make([]any, len(w.Items))
		for i, item := range w.Items {
			out[i] = item
		}
		return out
	case Duration:
		return string(w)
	case int:
		return int64(w)
	}
	return want
}

// Satisfied reports whether a decoded value has what is wanted already.
func Satisfied(have, want any) bool {
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			return false
		}
		for k, v := range w {
			if !Satisfied(h[k], v) {
				return false
			}
		}
		return true
	case Keyed:
		h, ok := have.([]any)
		for _, item := range w.Items {
			i := indexOf(h, w.Key, item[w.Key])
			if !ok || i < 0 || !Satisfied(h[i], item) {
				return false
			}
		}
		return ok
	case Set:
		h, ok := have.([]any)
		for _, item := range w.Items {
			if !ok || !slices.Contains(h, any(item)) {
				return false
			}
		}
		return ok
	case Duration:
		text, _ := have.(string)
		h, err := time.ParseDuration(text)
		d, wrong := time.ParseDuration(string(w))
		return text == string(w) || err == nil && wrong == nil && h == d
	}
	return same(have, want)
}

// same compares scalars; a decoder of JSON makes every number a float64.
func same(have, want any) bool {
	h, hok := Number(have)
	w, wok := Number(want)
	if hok || wok {
		return hok && wok && h == w
	}
	return reflect.DeepEqual(have, want)
}

// Number is a decoded scalar as a number, and false for anything else: what is
// an int to one decoder is an int64 or a float64 to others.
func Number(v any) (float64, bool) {
	switch n := v.(type) {
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

// indexOf finds the mapping of a list that has the value under the key; -1 when none has.
func indexOf(list []any, key string, value any) int {
	return slices.IndexFunc(list, func(item any) bool {
		m, ok := item.(map[string]any)
		return ok && same(m[key], value)
	})
}

// operation is one change to the decoded value, which an edit of the text must
// come to and nothing else.
type operation struct {
	// steps are keys and indices from the root.
	steps []any
	value any
	// appends says that the value goes to the end of the list the steps lead to.
	appends bool
}

// apply makes the change in a decoded value and returns the changed value.
func (op operation) apply(root any) (any, error) { return op.at(root, op.steps) }

func (op operation) at(v any, steps []any) (any, error) {
	if len(steps) == 0 {
		if !op.appends {
			return op.value, nil
		}
		list, ok := v.([]any)
		if !ok && v != nil {
			return nil, fmt.Errorf("%v is no list", v)
		}
		return append(slices.Clip(list), op.value), nil
	}
	switch step := steps[0].(type) {
	case string:
		m, ok := v.(map[string]any)
		if !ok && v != nil {
			return nil, fmt.Errorf("%v is no mapping", v)
		}
		out := maps.Clone(m)
		if out == nil {
			out = map[string]any{}
		}
		child, err := op.at(out[step], steps[1:])
		out[step] = child
		return out, err
	case int:
		list, ok := v.([]any)
		if !ok || step >= len(list) {
			return nil, fmt.Errorf("%v has no item %d", v, step)
		}
		out := slices.Clone(list)
		child, err := op.at(out[step], steps[1:])
		out[step] = child
		return out, err
	}
	return nil, fmt.Errorf("step %v", steps[0])
}

// path writes steps as a dotted path with indices in brackets.
func path(steps []any) string {
	var b strings.Builder
	for _, s := range steps {
		switch s := s.(type) {
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s)
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		}
	}
	return b.String()
}
