package check

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/pattern"
)

// strict decodes a document as upstream does when it is strict: kubeadm config
// validate, kubectl with validation, the kubelet's and the scheduler's loaders.
// The object is nil when the document could not be decoded at all; whatever is
// wrong is a finding.
func (c *checker) strict(d *document, scheme *runtime.Scheme) runtime.Object {
	gvk, data := d.gvk(), d.bytes()
	serializer := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme,
		json.SerializerOptions{Yaml: !d.isJSON, Strict: true})
	object, _, err := serializer.Decode(data, &gvk, nil)
	if err == nil {
		return object
	}
	if strictErr, ok := runtime.AsStrictDecodingError(err); ok {
		for _, e := range strictErr.Errors() {
			c.strictFinding(d, object, e.Error())
		}
		return object
	}
	c.typeFinding(d, err.Error())
	return nil
}

var (
	unknownField   = pattern.Of(`^unknown field "(.+)"$`)
	duplicateField = pattern.Of(`^duplicate field "(.+)"$`)
	duplicateKey   = pattern.Of(`line (\d+): key "(.+)" already set in map`)
	goField        = pattern.Of(`cannot unmarshal (\w+) (?:.* )?into Go struct field (\S+) of type (\S+)`)
)

// strictFinding turns one of the decoder's errors into a finding with its place.
func (c *checker) strictFinding(d *document, object runtime.Object, text string) {
	if m := unknownField().FindStringSubmatch(text); m != nil {
		c.unknownField(d, object, m[1])
		return
	}
	if m := duplicateField().FindStringSubmatch(text); m != nil {
		c.duplicate(d, m[1], d.line(m[1]))
		return
	}
	if all := duplicateKey().FindAllStringSubmatch(text, -1); all != nil {
		for _, twice := range d.text.Duplicates(d.node()) {
			c.duplicate(d, twice.Path, twice.Line)
		}
		return
	}
	c.at(d, "", finding.Finding{Code: "not-decodable", Severity: finding.Error, Message: text})
}

func (c *checker) unknownField(d *document, object runtime.Object, fieldPath string) {
	f := finding.Finding{
		Code: "unknown-field", Severity: finding.Error,
		Message: fmt.Sprintf("%s has no field %q; a lenient reader drops it with at most a warning", d.kind, fieldPath),
		Fix:     "remove it",
	}
	if near := nearestField(reflect.TypeOf(object), fieldPath); near != "" {
		f.Fix = fmt.Sprintf("write %s", near)
	}
	if d.group() == kubeadmGroup {
		f.Ref = "kubernetes cmd/kubeadm/app/util/config/initconfiguration.go: only a warning in kubeadm init"
	}
	c.at(d, fieldPath, f)
}

func (c *checker) duplicate(d *document, fieldPath string, line int) {
	c.add(finding.Finding{
		Code: "duplicate-field", Severity: finding.Error, File: d.file, Line: line, Path: fieldPath,
		Message: "the field stands twice, and a lenient reader takes the last",
		Fix:     "keep the one that is meant",
	})
}

// typeFinding is about a value that does not fit its field.
func (c *checker) typeFinding(d *document, text string) {
	m := goField().FindStringSubmatch(text)
	if m == nil {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "error converting YAML to JSON: "), "yaml: ")
		c.at(d, "", finding.Finding{Code: "not-decodable", Severity: finding.Error, Message: text})
		return
	}
	fieldPath := jsonPath(m[2])
	f := finding.Finding{
		Code: "wrong-type", Severity: finding.Error,
		Message: fmt.Sprintf("the field takes %s, not %s", goKind(m[3]), jsonKind(m[1])),
	}
	if f.Message == "the field takes a string, not a boolean" || f.Message == "the field takes a string, not a number" {
		f.Fix = "put the value in quotes"
	}
	if strings.HasSuffix(m[3], ".Arg") && m[1] == "object" {
		f = argsMapFinding(d, fieldPath)
	}
	c.at(d, fieldPath, f)
}

// jsonPath takes the names of embedded Go structs out of a field's path:
// "APIServer.apiServer.ControlPlaneComponent.extraArgs" is apiServer.extraArgs.
func jsonPath(goPath string) string {
	var keep []string
	for part := range strings.SplitSeq(goPath, ".") {
		if part != "" && (part[0] < 'A' || part[0] > 'Z') {
			keep = append(keep, part)
		}
	}
	return strings.Join(keep, ".")
}

func goKind(goType string) string {
	switch strings.TrimLeft(goType, "*") {
	case "string":
		return "a string"
	case "bool":
		return "true or false"
	case "int", "int32", "int64", "uint32", "float32", "float64":
		return "a number"
	}
	switch {
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	case strings.HasPrefix(goType, "map["):
		return "a mapping"
	}
	return "a " + goType
}

func jsonKind(kind string) string {
	switch kind {
	case "object":
		return "a mapping"
	case "array":
		return "a list"
	case "bool":
		return "a boolean"
	}
	return "a " + kind
}
