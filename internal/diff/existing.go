package diff

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/lint/read"
	"github.com/kubeseams/seams/internal/yamltext"
)

// Existing is what runs today, as files.
type Existing struct {
	files []file.File
	docs  []*document
	// lists are the Lists that may hold objects of an aggregated tier.
	lists []*document
	// wholes are the files that were compared as such.
	wholes map[string]bool
}

// document is one document of the existing files.
type document struct {
	file, within string
	// line is the file's line that it begins on.
	line  int
	text  []byte
	edit  *edit
	value map[string]any
	group string
	kind  string
	seen  bool
	// list is the List that the document is an item of.
	list *document
}

// see notes that a document was compared.
func (d *document) see() {
	d.seen = true
	if d.list != nil {
		d.list.seen = true
	}
}

// see notes that a file was compared as a whole.
func (e *Existing) see(name string) {
	if e.wholes == nil {
		e.wholes = map[string]bool{}
	}
	e.wholes[name] = true
}

// Read takes files apart into documents: those of a stream, and the
// configurations and pods in ConfigMaps and Lists. An error says in which file
// and on which line something cannot be read.
func Read(files []file.File) (*Existing, error) {
	e := &Existing{files: files}
	for _, f := range files {
		if err := read.Bounds(f.Data); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		if IsPlain(f.Path) {
			continue // compared whole, or not at all
		}
		take := e.pieces
		if read.Of(f.Path, f.Data, true).Has(read.Kops) {
			take = e.whole // kOps' additional objects may be ConfigMaps too, and are no configurations
		}
		if err := take(f); err != nil {
			return nil, err
		}
		if err := e.listed(f); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (e *Existing) whole(f file.File) error { return e.stream(f.Path, f.Data) }

func (e *Existing) pieces(f file.File) error {
	for _, p := range read.Pieces(f.Path, f.Data) {
		if p.Within() == "" {
			if err := e.stream(f.Path, p.Data); err != nil {
				return err
			}
			continue
		}
		d := &document{file: f.Path, within: p.Within(), line: 1, text: p.Data}
		if err := d.decode(); err != nil {
			return err
		}
		e.docs = append(e.docs, d)
	}
	return nil
}

// listed keeps the Lists of a file for the objects in them.
func (e *Existing) listed(f file.File) error {
	if !HasObjects(f.Data) {
		return nil
	}
	for _, t := range yamltext.Split(f.Data) {
		if t.Blank() || !bytes.Contains(t.Text, []byte("items:")) {
			continue
		}
		d := &document{file: f.Path, line: t.Line, text: t.Text}
		if err := d.decode(); err != nil {
			return err
		}
		if strings.HasSuffix(d.kind, "List") {
			e.lists = append(e.lists, d)
		}
	}
	return nil
}

func (e *Existing) stream(name string, data []byte) error {
	for _, t := range yamltext.Split(data) {
		if t.Blank() {
			continue
		}
		d := &document{file: name, line: t.Line, text: t.Text, edit: &edit{t.Offset, t.Offset + len(t.Text)}}
		if err := d.decode(); err != nil {
			return err
		}
		e.docs = append(e.docs, d)
	}
	return nil
}

// decode reads the value. Patches are lists, which have no kind.
func (d *document) decode() error {
	var value any
	if err := kyaml.Unmarshal(d.text, &value); err != nil {
		return fmt.Errorf("%s: the document that begins on line %d is no YAML: %w", d.place(), d.line, bare(d.text, err))
	}
	d.value, _ = value.(map[string]any)
	version, _ := d.value["apiVersion"].(string)
	d.kind, _ = d.value["kind"].(string)
	if group, _, ok := strings.Cut(version, "/"); ok {
		d.group = group
	}
	return nil
}

// bare is the decoder's own message where it has one, without the names of the
// conversions around it.
func bare(text []byte, err error) error {
	var n yaml.Node
	if own := yaml.Unmarshal(text, &n); own != nil {
		return own
	}
	return err
}

// place is the document's file, with the field it was found in.
func (d *document) place() string {
	if d.within == "" {
		return d.file
	}
	return d.file + ", " + d.within
}

func (d *document) meta(name string) string {
	m, _ := d.value["metadata"].(map[string]any)
	s, _ := m[name].(string)
	return s
}

// identity is the document's kind and name, as people write it.
func (d *document) identity() string { return identity(d.value) }

func identity(value map[string]any) string {
	kind, _ := value["kind"].(string)
	m, _ := value["metadata"].(map[string]any)
	name, _ := m["name"].(string)
	return strings.TrimSpace(kind + " " + name)
}

// isKops reports whether a document is one of kOps'.
func (d *document) isKops() bool { return d.group == "kops.k8s.io" || d.group == "kops" }

// HasKops reports whether any document is kOps' Cluster.
func (e *Existing) HasKops() bool {
	return slices.ContainsFunc(e.docs, func(d *document) bool { return d.isKops() && d.kind == "Cluster" })
}

// HasHosts reports whether any document is of a cluster that kubeadm or static
// pods make: a configuration of kubeadm, or a pod of the control plane.
func (e *Existing) HasHosts() bool {
	return slices.ContainsFunc(e.docs, func(d *document) bool { return d.group == "kubeadm.k8s.io" || d.kind == "Pod" })
}

// Stream is the documents that a merge is made into, as one stream: all of
// kOps' files, or kubeadm's ClusterConfiguration and KubeletConfiguration. It is
// nil when there are none. An error names two files that hold the same.
func (e *Existing) Stream(kops bool) ([]byte, error) {
	if kops {
		return e.kopsStream(), nil
	}
	var out bytes.Buffer
	seen := map[string]*document{}
	for _, d := range e.configurations() {
		if first := seen[d.kind]; first != nil {
			return nil, fmt.Errorf("%s and %s both hold a %s: give one of them", first.place(), d.place(), d.kind)
		}
		seen[d.kind] = d
		join(&out, d.text)
	}
	if seen["ClusterConfiguration"] == nil {
		return nil, nil
	}
	return out.Bytes(), nil
}

// configurations are kubeadm's documents that a plan may own, in their order.
func (e *Existing) configurations() []*document {
	var docs []*document
	for _, d := range e.docs {
		if d.group == "kubeadm.k8s.io" && d.kind == "ClusterConfiguration" || d.group == "kubelet.config.k8s.io" && d.kind == "KubeletConfiguration" {
			docs = append(docs, d)
		}
	}
	return docs
}

// kopsFiles are the files that hold kOps' documents.
func (e *Existing) kopsFiles() []file.File {
	var files []file.File
	for _, f := range e.files {
		if slices.ContainsFunc(e.docs, func(d *document) bool { return d.file == f.Path && d.isKops() }) {
			files = append(files, f)
		}
	}
	return files
}

// kopsStream is one file as it is, or several behind each other.
func (e *Existing) kopsStream() []byte {
	files := e.kopsFiles()
	if len(files) == 1 {
		return files[0].Data
	}
	var out bytes.Buffer
	for _, f := range files {
		join(&out, f.Data)
	}
	return out.Bytes()
}

// join appends a document or stream to a stream.
func join(out *bytes.Buffer, text []byte) {
	if out.Len() > 0 {
		if !bytes.HasSuffix(out.Bytes(), []byte("\n")) {
			out.WriteByte('\n')
		}
		if !bytes.HasPrefix(text, []byte("---")) {
			out.WriteString("---\n")
		}
	}
	out.Write(text)
}

// pods are the pods of the control plane.
func (e *Existing) pods() []*document {
	var pods []*document
	for _, d := range e.docs {
		if d.kind == "Pod" && d.group == "" {
			pods = append(pods, d)
		}
	}
	return pods
}

// ignored are the files without a document that was compared.
func (e *Existing) ignored() []string {
	var names []string
	for _, f := range e.files {
		if !e.wholes[f.Path] && !slices.ContainsFunc(slices.Concat(e.docs, e.lists), func(d *document) bool { return d.file == f.Path && d.seen }) {
			names = append(names, f.Path)
		}
	}
	return names
}

// Find is the decoded document of a kind and name; nil when there is none.
func (e *Existing) Find(kind, name string) map[string]any {
	for _, d := range e.docs {
		if d.kind == kind && d.meta("name") == name {
			return d.value
		}
	}
	return nil
}
