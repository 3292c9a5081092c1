package diff

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	kyaml "sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/internal/file"
)

// partOf is the label that every object of an aggregated tier has, by which a
// file of a tree is told to hold some.
const partOf = "app.kubernetes.io/part-of"

// HasObjects reports whether a file may hold objects of an aggregated tier.
func HasObjects(data []byte) bool {
	for line := range bytes.Lines(data) {
		key, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(":"))
		if strings.Trim(string(key), `"'`) == partOf && strings.Trim(string(bytes.TrimSpace(value)), `"',`) == "seams" {
			return true
		}
	}
	return false
}

// objects are the documents, and the items of Lists, each with the place it has.
func (e *Existing) objects() []*document {
	all := slices.Clone(e.docs)
	for _, d := range e.lists {
		items, _ := d.value["items"].([]any)
		for i, item := range items {
			text, err := kyaml.Marshal(item)
			if err != nil {
				continue // it was decoded a moment ago
			}
			o := &document{file: d.file, within: fmt.Sprintf("items[%d]", i), line: d.line, text: text, list: d}
			if o.decode() == nil && o.value != nil {
				all = append(all, o)
			}
		}
	}
	return all
}

// objectKey is by what an object of the API is the same: not by its version.
type objectKey struct{ group, kind, namespace, name string }

func keyOf(d *document) objectKey {
	return objectKey{d.group, d.kind, d.meta("namespace"), d.meta("name")}
}

// tierObjects compares a file of objects of an aggregated tier, object by
// object. An object that is missing is to be added when others of its kind were
// shown; otherwise nobody can tell.
func (c *comparison) tierObjects(f file.File) error {
	if c.objects == nil {
		c.objects, c.kinds = map[objectKey]*document{}, map[objectKey]bool{}
		for _, d := range c.Existing.objects() {
			key := keyOf(d)
			if c.objects[key] == nil {
				c.objects[key] = d
			}
			c.kinds[objectKey{group: key.group, kind: key.kind}] = true
		}
	}
	var unknown []string
	wanted := map[string]bool{} // kinds
	for _, t := range filled(f.Data) {
		want := &document{file: f.Path, line: t.Line, text: t.Text}
		if err := want.decode(); err != nil {
			return err
		}
		wanted[want.kind] = true
		key := keyOf(want)
		have := c.objects[key]
		switch {
		case have != nil:
			if err := c.tierObject(have, want); err != nil {
				return err
			}
		case c.kinds[objectKey{group: key.group, kind: key.kind}]:
			c.diff.Documents = append(c.diff.Documents, Document{
				File: f.Path, Object: want.identity(), Action: ActionAdd, New: any(want.value), Reasons: c.asker.rendered(f.Path), after: t.Text,
			})
		case !slices.Contains(unknown, want.kind):
			unknown = append(unknown, want.kind)
		}
	}
	switch {
	case len(unknown) == 0:
	case len(unknown) == len(wanted):
		c.diff.NotCompared = append(c.diff.NotCompared, f.Path)
	default:
		c.diff.NotCompared = append(c.diff.NotCompared, fmt.Sprintf("%s (%s)", f.Path, strings.Join(unknown, ", ")))
	}
	return nil
}

// tierObject compares one object with what is wanted of it: what the server, or
// somebody else, has put beside that is no difference.
func (c *comparison) tierObject(have, want *document) error {
	have.see()
	value, _ := overlaid(have.value, want.value, "").(map[string]any)
	delete(value, "apiVersion") // another version of the same kind is none either
	value["apiVersion"] = have.value["apiVersion"]
	changes := compare(have.value, value)
	if len(changes) == 0 {
		return nil
	}
	who := func(Change) []Reason { return c.asker.rendered(want.file) }
	after, err := edited(have, want.value, value)
	if err != nil {
		return fmt.Errorf("%s: %w", have.place(), err)
	}
	c.diff.Documents = append(c.diff.Documents, Document{
		File: have.file, Within: have.within, Object: have.identity(), Action: ActionChange,
		Changes: explain(changes, who), Patch: jsonPatch(have.value, value), before: have.text, after: after, edit: have.edit,
	})
	return nil
}

// edited is the document's text with the new value: in its own words where they
// can be edited, and otherwise written anew.
func edited(d *document, want, value map[string]any) ([]byte, error) {
	if d.edit != nil {
		if text, refused, err := over(d.text, want); err == nil && len(refused) == 0 {
			var got map[string]any
			if kyaml.Unmarshal(text, &got) == nil && reflect.DeepEqual(got, value) {
				return text, nil
			}
		}
	}
	return kyaml.Marshal(value)
}

// overlaid is a decoded value with all that is wanted of it. What only the
// existing one has stays, entries of lists are told apart by their names and
// flags by theirs; lists without names are the same length or are replaced.
func overlaid(have, want any, key string) any {
	switch want := want.(type) {
	case map[string]any:
		old, _ := have.(map[string]any)
		out := make(map[string]any, len(old)+len(want))
		for k, v := range old {
			out[k] = v
		}
		for k, v := range want {
			out[k] = overlaid(old[k], v, k)
		}
		return out
	case []any:
		old, _ := have.([]any)
		switch {
		case len(want) == 0 && len(old) == 0:
			return have
		case (key == "command" || key == "args") && areTexts(want) && areTexts(old):
			return flagsOver(old, want)
		case areNamed(want) && areNamed(old) && len(want) > 0:
			return namedOver(old, want)
		case len(old) == len(want):
			out := make([]any, len(want))
			for i := range want {
				out[i] = overlaid(old[i], want[i], "")
			}
			return out
		}
	}
	return want
}

// namedOver puts wanted entries over those of their names, new ones last.
func namedOver(old, want []any) []any {
	out := slices.Clone(old)
	for _, item := range want {
		i := slices.IndexFunc(out, func(o any) bool { return nameOf(o) == nameOf(item) })
		if i < 0 {
			out = append(out, item)
			continue
		}
		out[i] = overlaid(out[i], item, "")
	}
	return out
}

// flagsOver puts wanted words of a command line over those of their flags, new
// ones last.
func flagsOver(old, want []any) []any {
	flag := func(word any) string { name, _, _ := strings.Cut(word.(string), "="); return name }
	out := slices.Clone(old)
	for _, word := range want {
		i := slices.IndexFunc(out, func(o any) bool { return flag(o) == flag(word) })
		if i < 0 {
			out = append(out, word)
			continue
		}
		out[i] = word
	}
	return out
}
