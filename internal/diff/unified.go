package diff

import (
	"bytes"
	"slices"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/kubeseams/seams/internal/file"
)

// Unified is the change as one unified text diff over files, which patch -p0
// applies where the documents stand in files of their own: one in a ConfigMap
// is shown as the text that its field holds.
func (d *Diff) Unified(existing []file.File) []byte {
	var out bytes.Buffer
	for _, f := range existing {
		after := f.Data
		docs := slices.Clone(d.Documents)
		slices.Reverse(docs) // from the end, so that places stay
		for _, doc := range docs {
			switch {
			case doc.File != f.Path:
			case doc.Action == ActionAdd:
				after = appended(after, doc.after)
			}
		}
		for _, doc := range docs {
			if doc.File == f.Path && doc.edit != nil {
				after = slices.Concat(after[:doc.edit.start], doc.after, after[doc.edit.end:])
			}
		}
		out.Write(diff.Diff(f.Path, f.Data, f.Path, after))
		for _, doc := range d.Documents {
			if doc.File == f.Path && doc.edit == nil && doc.Action == ActionChange {
				name := f.Path + " (" + doc.Within + ")"
				out.Write(diff.Diff(name, doc.before, name, doc.after))
			}
		}
	}
	added := map[string][]byte{}
	var names []string
	for _, doc := range d.Documents {
		if doc.Action == ActionAdd && !slices.ContainsFunc(existing, func(f file.File) bool { return f.Path == doc.File }) {
			if added[doc.File] == nil {
				names = append(names, doc.File)
				added[doc.File] = doc.after
				continue
			}
			added[doc.File] = appended(added[doc.File], doc.after)
		}
	}
	for _, name := range names {
		out.Write(diff.Diff("/dev/null", nil, name, added[name]))
	}
	return out.Bytes()
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
