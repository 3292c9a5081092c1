package diff

import (
	"bytes"
	"path"
	"slices"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/kubeseams/seams/internal/file"
)

// Unified is the change as one unified text diff, which patch -p0 applies in the
// directory from which call gives the paths of files; an added manifest is put
// beside the host's others. What stands in a field of another
// document, such as a ConfigMap, is shown as the text that the field holds, which
// patch cannot apply; aside names those places.
func (d *Diff) Unified(existing []file.File, call func(name string) string) (text []byte, aside []string) {
	var out bytes.Buffer
	for _, f := range existing {
		name := call(f.Path)
		out.Write(diff.Diff(name, f.Data, name, d.rewritten(f)))
		for _, doc := range d.Documents {
			if doc.File == f.Path && doc.edit == nil && doc.Action == ActionChange {
				name := name + " (" + doc.Within + ")"
				aside = append(aside, name)
				out.Write(diff.Diff(name, doc.before, name, doc.after))
			}
		}
	}
	added := map[string][]byte{}
	var names []string
	for _, doc := range d.Documents {
		if doc.Action == ActionAdd && !slices.ContainsFunc(existing, func(f file.File) bool { return f.Path == doc.File }) {
			name := doc.File
			if doc.beside != "" {
				name = call(path.Join(doc.beside, path.Base(doc.File)))
			}
			if added[name] == nil {
				names = append(names, name)
				added[name] = doc.after
				continue
			}
			added[name] = appended(added[name], doc.after)
		}
	}
	for _, name := range names {
		out.Write(diff.Diff("/dev/null", nil, name, added[name]))
	}
	return out.Bytes(), aside
}

// rewritten is an existing file with its documents changed and added.
func (d *Diff) rewritten(f file.File) []byte {
	after := f.Data
	docs := slices.Clone(d.Documents)
	slices.Reverse(docs) // from the end, so that places stay
	for _, doc := range docs {
		if doc.File == f.Path && doc.Action == ActionAdd {
			after = appended(after, doc.after)
		}
	}
	for _, doc := range docs {
		if doc.File == f.Path && doc.edit != nil {
			after = slices.Concat(after[:doc.edit.start], doc.after, after[doc.edit.end:])
		}
	}
	return after
}

// appended puts a document after a stream's last one.
func appended(stream, doc []byte) []byte {
	newline := []byte("\n")
	if bytes.Contains(stream, []byte("\r\n")) {
		newline = []byte("\r\n")
	}
	out := slices.Clone(stream)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, newline...)
	}
	out = slices.Concat(out, []byte("---"), newline, doc)
	return out
}
