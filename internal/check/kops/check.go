package kops

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/pattern"
	"github.com/kubeseams/seams/internal/target"
	"github.com/kubeseams/seams/internal/yamltext"
)

// maxBytes bounds a file that is checked. kOps keeps each object as one file of
// at most some hundred kilobytes.
const maxBytes = 16 << 20

// Input is what is checked together: a cluster's documents may lie in several files.
type Input struct {
	Files []file.File
	// Target says which kOps and, where the documents do not, which cloud. Its
	// zero Kops means the newest that is known.
	Target target.Target
	// FeatureFlags is the value of KOPS_FEATURE_FLAGS that kOps will run with,
	// such as "+APIServerNodes". When it is empty, that of a file kops-flags.txt
	// among the files counts.
	FeatureFlags string
}

// Check holds every kOps document among the files against the structural schema
// of its kOps minor and against what kOps does with the values. Files without a
// kOps document are left alone. Findings are sorted by place.
func Check(in Input) []finding.Finding {
	c := checker{in: in}
	var documents []*document
	for _, f := range in.Files {
		documents = append(documents, c.read(f)...)
	}
	if len(documents) > 0 {
		c.version(documents[0])
	}
	for _, d := range documents {
		c.structure(d)
	}
	c.rules(documents)
	finding.Sort(c.findings)
	return c.findings
}

// checker gathers findings.
type checker struct {
	in       Input
	findings []finding.Finding
}

func (c *checker) add(f finding.Finding) { c.findings = append(c.findings, f) }

// document is one kOps object and where it stands.
type document struct {
	file string
	text yamltext.Document
	root *yaml.Node
	// kind is Cluster or InstanceGroup.
	kind  string
	value object
}

// at fills in the place of a finding about a field of the document.
func (d *document) at(path string, f finding.Finding) finding.Finding {
	f.File, f.Path, f.Line = d.file, path, d.text.LineOf(d.root, path)
	return f
}

// version says what is known of the target's kOps, at the first of the documents
// that are for it.
func (c *checker) version(first *document) {
	v := c.in.Target.Kops
	switch {
	case v.IsZero():
	case v.Major != 1 || v.Minor < oldest:
		c.add(first.at("", finding.Finding{
			Code: "kops-version-unknown", Severity: finding.Warning,
			Message: fmt.Sprintf("kOps %s is older than what is known here: fields are held against kOps 1.%d", v, oldest),
		}))
	case v.Minor > newest:
		c.add(first.at("", finding.Finding{
			Code: "kops-version-unknown", Severity: finding.Warning,
			Message: fmt.Sprintf("kOps %s is newer than what is known here: fields are held against kOps 1.%d", v, newest),
		}))
	}
}

// read takes the kOps objects out of a file, and says what kOps would not read as it is meant.
func (c *checker) read(f file.File) []*document {
	if !isYAML(f.Path) || !bytes.Contains(f.Data, []byte("kops")) {
		return nil
	}
	if len(f.Data) > maxBytes {
		c.add(finding.Finding{
			Code: "kops-file-too-large", Severity: finding.Error, File: f.Path,
			Message: fmt.Sprintf("%d bytes are more than the %d that are read", len(f.Data), maxBytes),
		})
		return nil
	}
	var (
		documents []*document
		remarks   []finding.Finding
		found     bool
	)
	for i, text := range yamltext.Split(f.Data) {
		remarks = append(remarks, separator(f.Path, i, text)...)
		d, kops, fs := c.object(f.Path, text)
		remarks = append(remarks, fs...)
		found = found || kops
		if d != nil {
			documents = append(documents, d)
		}
	}
	if found { // a file of another kind is not ours to judge
		c.findings = append(c.findings, remarks...)
	}
	return documents
}

func isYAML(path string) bool {
	return strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml") || strings.HasSuffix(path, ".json") || !strings.Contains(path, ".")
}

// separator judges a document's marker: kOps cuts a stream only at lines that
// are exactly "---", then reads the first document of each part.
func separator(path string, i int, text yamltext.Document) []finding.Finding {
	exact := text.Marker == "---" || i == 0
	switch {
	case !exact && !text.Blank():
		return []finding.Finding{{
			Code: "kops-document-separator", Severity: finding.Error, File: path, Line: text.Line,
			Message: fmt.Sprintf("kOps does not split at %q: it reads what is before it and drops this document in silence", text.Marker),
			Fix:     `separate documents with a line that is exactly "---"`,
			Ref:     "kubernetes/kops util/pkg/text: content is cut at \"\\n---\\n\"",
		}}
	case exact && text.Blank():
		return []finding.Finding{{
			Code: "kops-empty-document", Severity: finding.Error, File: path, Line: text.Line,
			Message: "kOps refuses a document that is empty or holds only comments",
			Fix:     "remove the separator, or move the comment into a document",
			Ref:     "kubernetes/kops util/pkg/text: content is cut at \"\\n---\\n\"",
		}}
	}
	return nil
}

// object decodes one document. kops is whether it belongs to kOps at all; the
// document is nil when nothing more can be said about it.
func (c *checker) object(path string, text yamltext.Document) (d *document, kops bool, fs []finding.Finding) {
	if text.Blank() {
		return nil, false, nil
	}
	root, err := text.Parse()
	var value map[string]any
	if err == nil {
		// The decoder kOps uses resolves scalars by YAML 1.1: "on" is a boolean.
		err = kyaml.Unmarshal(text.Text, &value)
	}
	if err != nil {
		return nil, bytes.Contains(text.Text, []byte("kops.k8s.io")), []finding.Finding{syntax(path, text, err)}
	}
	o := object(value)
	apiVersion, kind := o.str("apiVersion"), o.str("kind")
	group, version, _ := strings.Cut(apiVersion, "/")
	d = &document{file: path, text: text, root: root, kind: kind, value: o}
	if group != "kops.k8s.io" && group != "kops" {
		fs = append(fs, d.at("kind", finding.Finding{
			Code: "kops-additional-object", Severity: finding.Info,
			Message: fmt.Sprintf("kOps takes %s of %s as an additional object in \"kops create -f\" beside its Cluster, and refuses it in \"kops replace -f\"", kind, apiVersion),
			Fix:     "keep additional objects in a file of their own",
			Ref:     "kubernetes/kops#15995",
		}))
		return nil, false, fs
	}
	for _, dup := range text.Duplicates(root) {
		fs = append(fs, finding.Finding{
			Code: "kops-duplicate-key", Severity: finding.Error, File: path, Line: dup.Line, Path: dup.Path,
			Message: "this key is there twice: kOps keeps the last one in silence",
			Fix:     "remove one of them",
		})
	}
	if version != "v1alpha2" {
		return nil, true, append(fs, d.at("apiVersion", apiVersionFinding(version)))
	}
	if kind != "Cluster" && kind != "InstanceGroup" {
		if kind != "SSHCredential" && kind != "Keyset" && kind != "Host" {
			fs = append(fs, d.at("kind", finding.Finding{
				Code: "kops-unknown-kind", Severity: finding.Error,
				Message: fmt.Sprintf("kOps has no kind %q", kind),
				Fix:     "Cluster, InstanceGroup or SSHCredential",
			}))
		}
		return nil, true, fs
	}
	return d, true, fs
}

func apiVersionFinding(version string) finding.Finding {
	if version == "v1alpha3" {
		return finding.Finding{
			Code: "kops-api-version", Severity: finding.Warning,
			Message: "v1alpha3 is unfinished work: kOps stores and writes v1alpha2, and this document is not checked further",
			Fix:     "kops.k8s.io/v1alpha2, as \"kops get -o yaml\" writes it",
			Ref:     "kubernetes/kops docs/releases/1.23-NOTES.md",
		}
	}
	return finding.Finding{
		Code: "kops-api-version", Severity: finding.Error,
		Message: fmt.Sprintf("kOps has no version %q", version),
		Fix:     "kops.k8s.io/v1alpha2",
	}
}

var lineInError = pattern.Of(`^(?:error converting YAML to JSON: )?(?:yaml: )?(?:line (\d+): )?`)

// syntax turns a decoder's error into a finding on the stream's line.
func syntax(path string, text yamltext.Document, err error) finding.Finding {
	message := err.Error()
	m := lineInError().FindStringSubmatch(message)
	f := finding.Finding{
		Code: "kops-yaml-syntax", Severity: finding.Error, File: path, Line: text.Line,
		Message: strings.TrimSpace(message[len(m[0]):]),
	}
	if n, atoi := strconv.Atoi(m[1]); atoi == nil {
		f.Line = text.Line - 1 + n
	}
	return f
}
