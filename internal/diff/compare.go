package diff

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// comparer gathers the changes between two decoded values.
type comparer struct{ changes []Change }

// compare lists what differs between two decoded documents. Entries of lists
// are told apart by their names, flags of a command line by theirs, and the
// parts of a flag that is a list by what they are about.
func compare(before, after any) []Change {
	c := &comparer{}
	c.value("", before, after)
	return c.changes
}

func (c *comparer) add(ch Change) {
	switch {
	case ch.Old == nil:
		ch.Op = OpAdd
	case ch.New == nil:
		ch.Op = OpRemove
	default:
		ch.Op = OpReplace
	}
	c.changes = append(c.changes, ch)
}

func (c *comparer) value(path string, before, after any) {
	if reflect.DeepEqual(before, after) {
		return
	}
	b, wasMap := before.(map[string]any)
	a, isMap := after.(map[string]any)
	if (wasMap || before == nil) && (isMap || after == nil) && (wasMap || isMap) && len(b)+len(a) > 0 {
		c.mapping(path, b, a)
		return
	}
	was, wasList := before.([]any)
	is, isList := after.([]any)
	if (wasList || before == nil) && (isList || after == nil) && (wasList || isList) {
		c.list(path, was, is)
		return
	}
	c.add(Change{Path: path, Old: before, New: after})
}

func (c *comparer) mapping(path string, before, after map[string]any) {
	keys := map[string]bool{}
	for _, m := range []map[string]any{before, after} {
		for k := range m {
			keys[k] = true
		}
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		c.value(strings.TrimPrefix(path+"."+k, "."), before[k], after[k])
	}
}

func (c *comparer) list(path string, before, after []any) {
	switch {
	case areFlags(path, before) && areFlags(path, after):
		c.flags(path, flagsOf(before), flagsOf(after), false)
	case areArguments(path, before) && areArguments(path, after):
		c.flags(path, argumentsOf(before), argumentsOf(after), true)
	case areNamed(before) && areNamed(after):
		c.named(path, before, after)
	case areTexts(before) && areTexts(after):
		c.texts(path, before, after)
	case len(before) == len(after):
		for i := range before {
			c.value(fmt.Sprintf("%s[%d]", path, i), before[i], after[i])
		}
	default:
		c.add(Change{Path: path, Old: anything(before), New: anything(after)})
	}
}

// anything is nil for an empty list, which is then not there.
func anything(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list
}

// areNamed reports whether all items are mappings with a name of their own.
func areNamed(list []any) bool {
	seen := map[string]bool{}
	for _, item := range list {
		m, _ := item.(map[string]any)
		name, ok := m["name"].(string)
		if !ok || seen[name] {
			return false
		}
		seen[name] = true
	}
	return true
}

func areTexts(list []any) bool {
	return !slices.ContainsFunc(list, func(item any) bool { _, ok := item.(string); return !ok })
}

// named compares items of one name; a new item is one change.
func (c *comparer) named(path string, before, after []any) {
	was := map[string]any{}
	for _, item := range before {
		was[nameOf(item)] = item
	}
	kept := map[string]bool{}
	for _, item := range after {
		name := nameOf(item)
		kept[name] = true
		at := path + "[" + name + "]"
		switch old, ok := was[name]; {
		case !ok && isPair(item):
			c.add(Change{Path: at, New: item.(map[string]any)["value"]})
		case !ok:
			c.add(Change{Path: at, New: item})
		case isPair(old) && isPair(item):
			c.value(at, old.(map[string]any)["value"], item.(map[string]any)["value"])
		default:
			c.value(at, old, item)
		}
	}
	for _, item := range before {
		if name := nameOf(item); !kept[name] {
			c.add(Change{Path: path + "[" + name + "]", Old: item})
		}
	}
}

func nameOf(item any) string {
	m, _ := item.(map[string]any)
	name, _ := m["name"].(string)
	return name
}

// isPair reports whether an item is a name and a value and nothing else.
func isPair(item any) bool {
	m, _ := item.(map[string]any)
	_, value := m["value"]
	return len(m) == 2 && value
}

// texts compares lists of texts as sets, of which an item may carry its own
// name before a # or =, as sizes and routes do.
func (c *comparer) texts(path string, before, after []any) {
	id := func(item any) string {
		s := item.(string)
		if i := strings.IndexAny(s, "#="); i >= 0 {
			return s[:i]
		}
		return s
	}
	left := slices.Clone(before)
	for _, item := range after {
		if i := slices.Index(left, item); i >= 0 {
			left = slices.Delete(left, i, i+1)
			continue
		}
		old := any(nil)
		if i := slices.IndexFunc(left, func(l any) bool { return id(l) == id(item) }); i >= 0 && !slices.Contains(after, left[i]) {
			old = left[i]
			left = slices.Delete(left, i, i+1)
		}
		c.add(Change{Path: path, Entry: id(item), Old: old, New: item})
	}
	for _, item := range left {
		c.add(Change{Path: path, Entry: id(item), Old: item})
	}
}
