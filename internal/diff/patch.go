package diff

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// jsonPatch turns one decoded document into another. Before each replacement
// stands a test of the value that was, so that the patch fails rather than
// change a document that has moved on.
func jsonPatch(before, after any) []Operation {
	p := &patcher{}
	p.value("", before, after)
	return p.operations
}

type patcher struct{ operations []Operation }

func (p *patcher) op(op, path string, value any) {
	p.operations = append(p.operations, Operation{op, path, value})
}

func (p *patcher) value(path string, before, after any) {
	if reflect.DeepEqual(before, after) {
		return
	}
	b, wasMap := before.(map[string]any)
	a, isMap := after.(map[string]any)
	if wasMap && isMap {
		p.mapping(path, b, a)
		return
	}
	was, wasList := before.([]any)
	is, isList := after.([]any)
	if wasList && isList && len(is) >= len(was) {
		for i := range was {
			p.value(path+"/"+strconv.Itoa(i), was[i], is[i])
		}
		for _, item := range is[len(was):] {
			p.op("add", path+"/-", item)
		}
		return
	}
	if before != nil {
		p.op("test", path, before)
	}
	p.op("replace", path, after)
}

var escape = strings.NewReplacer("~", "~0", "/", "~1")

func (p *patcher) mapping(path string, before, after map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(before)) {
		at := path + "/" + escape.Replace(k)
		now, kept := after[k]
		if !kept {
			p.op("remove", at, nil)
			continue
		}
		p.value(at, before[k], now)
	}
	for _, k := range slices.Sorted(maps.Keys(after)) {
		if _, was := before[k]; !was {
			p.op("add", path+"/"+escape.Replace(k), after[k])
		}
	}
}
