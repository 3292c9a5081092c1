package diff

import (
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/pattern"
)

// flag is a flag and its value; a word that is none, such as the program, has
// no value.
type flag struct {
	name, value string
	bare        bool
}

// commandPath is where a container has its command line.
var commandPath = pattern.Of(`(^|\.)(command|args)$`)

// areFlags reports whether a list is a command line.
func areFlags(path string, list []any) bool { return commandPath().MatchString(path) && areTexts(list) }

func flagsOf(list []any) []flag {
	var flags []flag
	for _, item := range list {
		word, _ := item.(string)
		name, value, ok := strings.Cut(word, "=")
		if !ok || !strings.HasPrefix(name, "--") {
			flags = append(flags, flag{name: word, bare: true})
			continue
		}
		flags = append(flags, flag{name: strings.TrimPrefix(name, "--"), value: value})
	}
	return flags
}

// areArguments reports whether a list is kubeadm's extra arguments.
func areArguments(path string, list []any) bool {
	return strings.HasSuffix(path, "xtraArgs") && !slices.ContainsFunc(list, func(item any) bool { return !isPair(item) })
}

func argumentsOf(list []any) []flag {
	var flags []flag
	for _, item := range list {
		m := item.(map[string]any)
		value, _ := m["value"].(string)
		flags = append(flags, flag{name: nameOf(item), value: value})
	}
	return flags
}

// flags compares two command lines by the names of their flags: a flag that
// only moved is no change. Of a flag that stands twice the last is in force.
// indexed puts the name into the path, as kubeadm's arguments have one.
func (c *comparer) flags(path string, before, after []flag, indexed bool) {
	was, is := lastOf(before), lastOf(after)
	at := func(name string) string {
		if indexed {
			return path + "[" + name + "]"
		}
		return path
	}
	var names []string
	for _, f := range slices.Concat(before, after) {
		names = append(names, f.name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		old, had := was[name]
		now, has := is[name]
		if had && has && old == now {
			continue
		}
		ch := Change{Path: at(name)}
		if had && !old.bare || has && !now.bare {
			ch.Flag = "--" + name
		} else {
			ch.Entry = name
		}
		if separator, ok := listFlags[name]; ok && !old.bare && !now.bare {
			c.entries(ch, separator, old.value, now.value)
			continue
		}
		if had {
			ch.Old = old.text()
		}
		if has {
			ch.New = now.text()
		}
		c.add(ch)
	}
}

// text is a flag's value, or the word itself.
func (f flag) text() any {
	if f.bare {
		return f.name
	}
	return f.value
}

func lastOf(flags []flag) map[string]flag {
	m := map[string]flag{}
	for _, f := range flags {
		m[f.name] = f
	}
	return m
}

// listFlags are the flags that are lists, by what ends the name of an entry.
var listFlags = map[string]string{
	"feature-gates": "=", "runtime-config": "=", "etcd-servers-overrides": "#", "watch-cache-sizes": "#",
	"enable-admission-plugins": "", "disable-admission-plugins": "", "controllers": "",
}

// entries compares the entries of a list flag one by one.
func (c *comparer) entries(ch Change, separator, before, after string) {
	was, is := entriesOf(before, separator), entriesOf(after, separator)
	value := func(e flag) any {
		if e.value == "" {
			return e.name
		}
		return e.value
	}
	left := slices.Clone(was)
	for _, now := range is {
		i := slices.IndexFunc(left, func(e flag) bool { return e.name == now.name })
		next := ch
		next.Entry, next.New = now.name, value(now)
		if i >= 0 {
			old := left[i]
			left = slices.Delete(left, i, i+1)
			if old == now {
				continue
			}
			next.Old = value(old)
		}
		c.add(next)
	}
	for _, gone := range left {
		next := ch
		next.Entry, next.Old = gone.name, value(gone)
		c.add(next)
	}
}

func entriesOf(text, separator string) []flag {
	var entries []flag
	for entry := range strings.SplitSeq(text, ",") {
		switch {
		case strings.TrimSpace(entry) == "":
		case separator == "":
			// A controller's minus turns it off, and is not part of its name.
			name := strings.TrimPrefix(entry, "-")
			entries = append(entries, flag{name: name, value: entry})
		default:
			name, value, _ := strings.Cut(entry, separator)
			entries = append(entries, flag{name: name, value: value})
		}
	}
	return entries
}
