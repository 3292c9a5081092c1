package check

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/spelling"
)

// maxFieldDepth bounds the search for a field of a type; upstream's types may contain themselves.
const maxFieldDepth = 6

// maxName bounds the names for which a neighbour is sought; upstream's longest has some 60 letters.
const maxName = 120

// nearestField suggests a known field for an unknown one, as a path from the
// root: one that is spelled alike beside it, or one of that name elsewhere.
func nearestField(t reflect.Type, unknown string) string {
	parts := strings.Split(unknown, ".")
	name, parents := parts[len(parts)-1], parts[:len(parts)-1]
	parent := t
	for _, p := range parents {
		p, _, _ = strings.Cut(p, "[")
		parent = fieldNamed(parent, p)
		if parent == nil {
			return ""
		}
	}
	prefix := strings.Join(parents, ".")
	if near := nearestName(name, fieldNames(parent)); near != "" {
		return strings.TrimPrefix(prefix+"."+near, ".")
	}
	return fieldAnywhere(t, "", name, 0)
}

// nearestName finds the name that differs only in capitals, or by at most a
// third of its letters.
func nearestName(name string, among []string) string {
	if len(name) > maxName {
		return ""
	}
	best, bestDistance := "", 1+len(name)/3
	for _, candidate := range among {
		if strings.EqualFold(candidate, name) {
			return candidate
		}
		if d := spelling.Distance(strings.ToLower(name), strings.ToLower(candidate), bestDistance); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// fieldAnywhere searches a type for a field of that name, or for a path that
// reads so when its parts are written together: apiServerExtraArgs.
func fieldAnywhere(t reflect.Type, at, name string, depth int) string {
	if depth > maxFieldDepth {
		return ""
	}
	names := fieldNames(t)
	for _, n := range names {
		path := strings.TrimPrefix(at+"."+n, ".")
		if strings.EqualFold(n, name) || strings.EqualFold(strings.ReplaceAll(path, ".", ""), name) {
			return path
		}
	}
	for _, n := range names {
		if found := fieldAnywhere(fieldNamed(t, n), strings.TrimPrefix(at+"."+n, "."), name, depth+1); found != "" {
			return found
		}
	}
	return ""
}

// structOf follows pointers, lists and maps to the struct they hold.
func structOf(t reflect.Type) reflect.Type {
	for t != nil {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			t = t.Elem()
		case reflect.Struct:
			return t
		default:
			return nil
		}
	}
	return nil
}

// eachField visits the JSON fields of a type, embedded ones as its own.
func eachField(t reflect.Type, visit func(name string, t reflect.Type)) {
	t = structOf(t)
	if t == nil {
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case name == "" && (f.Anonymous || strings.Contains(options, "inline")):
			eachField(f.Type, visit)
		default:
			visit(cmp.Or(name, f.Name), f.Type)
		}
	}
}

func fieldNames(t reflect.Type) []string {
	var names []string
	eachField(t, func(name string, _ reflect.Type) { names = append(names, name) })
	slices.Sort(names)
	return names
}

func fieldNamed(t reflect.Type, name string) (found reflect.Type) {
	eachField(t, func(n string, t reflect.Type) {
		if n == name {
			found = t
		}
	})
	return found
}
