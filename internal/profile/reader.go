package profile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"cuelang.org/go/cue"

	"github.com/kubeseams/seams/internal/finding"
)

// reader reads one source and gathers what is wrong with it.
type reader struct {
	loader   *Loader
	limits   Limits
	options  Options
	file     string
	format   Format
	loaded   []Loaded
	findings []finding.Finding
}

// add records an error at a line of the file being read.
func (r *reader) add(code string, line int, p fieldPath, msg, fix string) {
	r.findings = append(r.findings, finding.Finding{
		Code: code, Severity: finding.Error, File: r.file, Line: line, Path: p.String(), Message: msg, Fix: fix,
	})
}

// addAt records an error at a node's place.
func (r *reader) addAt(n *node, code string, p fieldPath, msg, fix string) {
	r.add(code, n.line, p, msg, fix)
	if n.file != "" {
		r.findings[len(r.findings)-1].File = n.file
	}
}

func (r *reader) load(s *source) (result, error) {
	err := r.read(s)
	return result{r.loaded, r.findings}, err
}

func (r *reader) read(s *source) error {
	if s.tooLarge {
		r.add(CodeTooLarge, 0, nil, fmt.Sprintf("the file is larger than %d bytes", r.limits.FileBytes), "a profile has one entry for each kind of resource, not for each object")
		return nil
	}
	if s.dir {
		return r.cuePackage(s)
	}
	if !r.checkText(s.data) || !r.checkCode(s) {
		return nil
	}
	switch s.format {
	case CUE:
		return r.cueFile(s)
	case Jsonnet:
		text, ok := r.jsonnet(s)
		if !ok {
			return nil
		}
		docs := r.parseJSON([]byte(text))
		for _, d := range docs {
			d.forget()
		}
		return r.documents(s, docs)
	case JSON:
		return r.documents(s, r.parseJSON(s.data))
	}
	return r.documents(s, r.parseYAML(s.data))
}

// documents checks each tree of a data file as a profile.
func (r *reader) documents(s *source, docs []*node) error {
	full := docs[:0:0]
	for _, d := range docs {
		if d.kind != kindNull {
			full = append(full, d)
		}
	}
	if len(full) == 0 && len(r.findings) == 0 {
		r.add(CodeEmpty, 0, nil, "there is no profile in the file", `a profile needs at least "name" and "nodes.count"`)
	}
	for i, d := range full {
		name := s.name
		if len(full) > 1 {
			name = fmt.Sprintf("%s (document %d)", s.name, i+1)
		}
		if d = r.selectNode(d); d == nil {
			continue
		}
		if err := r.tree(d, name); err != nil {
			return err
		}
	}
	return nil
}

// selectNode follows Options.Select into a document.
func (r *reader) selectNode(d *node) *node {
	if r.options.Select == "" {
		return d
	}
	found, near := d.at(parsePath(r.options.Select))
	if found == nil {
		r.add(CodeEmpty, near.line, nil, fmt.Sprintf("there is nothing at %s", r.options.Select), "")
	}
	return found
}

// tree checks one tree and keeps the profile it makes.
func (r *reader) tree(n *node, name string) error {
	s, err := r.loader.schema()
	if err != nil {
		return err
	}
	c := &checker{schema: s, reader: r, root: n}
	v, ok := c.check()
	if !ok {
		return nil
	}
	p, err := decode(v, s.shape)
	if err != nil {
		return err
	}
	return r.keep(p, name, c.place)
}

// keep takes a profile that the schema accepted, and what its meaning has
// wrong.
func (r *reader) keep(p *Profile, name string, place func(fieldPath) (string, int)) error {
	digest, err := Digest(p)
	if err != nil {
		return err
	}
	before := len(r.findings)
	r.validate(p, place, nil)
	r.loaded = append(r.loaded, Loaded{p, digest, name, slices.Clone(r.findings[before:]), func(path string) (string, int) {
		return r.placeOf(path, place)
	}})
	return nil
}

// validate adds Validate's findings with the places of the fields they are
// about; those about a place in skip are left out.
func (r *reader) validate(p *Profile, place func(fieldPath) (string, int), skip []fieldPath) {
	lowered := r.options.Override.apply(p)
next:
	for _, f := range append(lowered, validate(p, r.options.Rendering)...) {
		at := parsePath(f.Path)
		for _, s := range skip {
			if at.within(s) || s.within(at) {
				continue next
			}
		}
		f.File, f.Line = r.placeOf(f.Path, place)
		r.findings = append(r.findings, f)
	}
}

// placeOf is where a field's value is from: a flag, or a place in the file.
func (r *reader) placeOf(path string, place func(fieldPath) (string, int)) (string, int) {
	if flag := r.options.Override.flagOf(path); flag != "" {
		return flag, 0
	}
	return place(parsePath(path))
}

// decode makes the Go struct of a complete value, field by field of the shape.
// Value.MarshalJSON would do, but sorts the fields of every struct first.
func decode(v cue.Value, s *shape) (*Profile, error) {
	data, err := s.appendJSON(nil, v)
	if err != nil {
		return nil, fmt.Errorf("export the profile: %w", err)
	}
	p := &Profile{}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("decode the profile: %w", err)
	}
	return p, nil
}

// appendJSON writes the fields of a value that the shape knows.
func (s *shape) appendJSON(b []byte, v cue.Value) (_ []byte, err error) {
	switch s.kind {
	case kindObject:
		b = append(b, '{')
		for _, f := range s.fields {
			w := v.LookupPath(f.path)
			if !w.Exists() {
				continue
			}
			if b[len(b)-1] != '{' {
				b = append(b, ',')
			}
			b = append(strconv.AppendQuote(b, f.name), ':')
			if b, err = f.appendJSON(b, w); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), v.Err()
	case kindList:
		it, err := v.List()
		if err != nil {
			return nil, err
		}
		b = append(b, '[')
		for it.Next() {
			if b[len(b)-1] != '[' {
				b = append(b, ',')
			}
			if b, err = s.elem.appendJSON(b, it.Value()); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	}
	text, err := v.MarshalJSON()
	return append(b, text...), err
}

// Digest identifies a profile: "sha256:…" over its JSON with every default
// filled in.
func Digest(p *Profile) (string, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("encode the profile: %w", err)
	}
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}
