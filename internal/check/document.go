package check

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	kyaml "sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/pattern"
	"github.com/kubeseams/seams/internal/yamltext"
)

// maxBytes bounds a file that is judged; a rendered control plane is below 100 kB.
const maxBytes = 8 << 20

// document is one YAML document and where it stands.
type document struct {
	file             string
	text             yamltext.Document
	apiVersion, kind string
	// root is the node tree once node has read it: a document with nothing
	// against it needs no lines.
	root   *yaml.Node
	parsed bool
	// data is what is decoded where that is not the text as it stands, but a
	// conversion of it.
	data []byte
	// decodable is the outcome of bytes, and isJSON whether it is JSON.
	decodable []byte
	isJSON    bool
	// within is the path of the field that holds the document as text, as a
	// patch in a kind Cluster; empty for a document of its own.
	within string
}

func (d *document) group() string { return d.gvk().Group }

func (d *document) gvk() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(d.apiVersion, d.kind)
}

// bytes is what to decode. It is JSON where upstream's conversion finds nothing
// against the text, which it reads three times otherwise; a text with something
// against it is left as it is, for the decoder to say so.
func (d *document) bytes() []byte {
	if d.decodable == nil {
		d.decodable = d.text.Text
		if d.data != nil {
			d.decodable = d.data
		}
		if converted, err := kyaml.YAMLToJSONStrict(d.decodable); err == nil {
			d.decodable, d.isJSON = converted, true
		}
	}
	return d.decodable
}

// node gives the document's node tree, nil where it is not YAML.
func (d *document) node() *yaml.Node {
	if !d.parsed {
		d.parsed = true
		d.root, _ = d.text.Parse() // parse has added a finding where this fails
	}
	return d.root
}

// line is the line of the file on which a field stands, or its nearest parent.
func (d *document) line(fieldPath string) int {
	return max(d.text.LineOf(d.node(), fieldPath), d.text.Line)
}

// field gives the node at a path, nil when there is none.
func (d *document) field(keys ...string) *yaml.Node {
	n := d.node()
	for _, key := range keys {
		n = yamltext.Child(n, key)
	}
	return n
}

// read splits a file into its documents. Blank ones are left out, and one that
// is not YAML is a finding.
func (c *checker) read(f file.File) []*document {
	if len(f.Data) > maxBytes {
		c.add(finding.Finding{
			Code: "file-too-big", Severity: finding.Error, File: f.Path,
			Message: fmt.Sprintf("%d bytes are more than the %d that are read", len(f.Data), maxBytes),
		})
		return nil
	}
	var docs []*document
	for _, text := range yamltext.Split(f.Data) {
		if text.Blank() {
			continue
		}
		if d := c.parse(f.Path, "", text); d != nil {
			docs = append(docs, d)
		}
	}
	return docs
}

// parse reads a document, or adds a finding.
func (c *checker) parse(name, within string, text yamltext.Document) *document {
	d := &document{file: name, text: text, within: within}
	if data := d.bytes(); d.isJSON {
		var meta struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
		}
		if json.Unmarshal(data, &meta) == nil {
			d.apiVersion, d.kind = meta.APIVersion, meta.Kind
		}
		return d
	}
	root, err := text.Parse()
	if err != nil {
		c.add(finding.Finding{
			Code: "yaml-syntax", Severity: finding.Error, File: name, Line: text.Line - 1 + yamlLine(err), Path: within,
			Message: cmp.Or(strings.TrimPrefix(linePattern().ReplaceAllString(err.Error(), ""), "yaml: "), err.Error()),
		})
		return nil
	}
	d.root, d.parsed = root, true
	d.apiVersion, d.kind = yamltext.Scalar(d.field("apiVersion")), yamltext.Scalar(d.field("kind"))
	return d
}

var linePattern = pattern.Of(`line (\d+): `)

// yamlLine finds the line of the document in a YAML error, 1 when it names none.
func yamlLine(err error) int {
	if m := linePattern().FindStringSubmatch(err.Error()); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			return n
		}
	}
	return 1
}

// embedded makes a document of the text in a scalar field, with the lines of
// the file as far as the style lets them be known.
func (c *checker) embedded(d *document, fieldPath string, n *yaml.Node) *document {
	line := d.text.Line - 1 + n.Line
	if n.Style == yaml.LiteralStyle || n.Style == yaml.FoldedStyle {
		line++
	}
	return c.parse(d.file, fieldPath, yamltext.Document{Text: []byte(n.Value), Line: line})
}
