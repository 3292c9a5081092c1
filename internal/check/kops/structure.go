package kops

import (
	"fmt"
	"strconv"
	"strings"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/pattern"
)

// structure holds a document against the schema of its kind: first types, then
// names, leaving out what is below a field of the wrong type.
func (c *checker) structure(d *document) {
	minor := minorFor(c.in.Target.Kops)
	all, err := schemas[minor]()
	if err != nil {
		panic(err) // embedded data, read by the tests
	}
	k := all[d.kind]
	wrong := map[string]bool{}
	for _, e := range schemaErrors(k.validator, withoutNulls(map[string]any(d.value))) {
		if m := outOfFormat().FindStringSubmatch(e.Detail); m != nil {
			e.Field = m[2] // upstream names the field only in the text
		}
		switch {
		case e.Type == field.ErrorTypeRequired:
			c.required(d, k.structural, e)
		case !wrong[e.Field]:
			wrong[e.Field] = true
			c.add(d.at(e.Field, typeFinding(at(k.structural, e.Field), e, d.value.lookup(e.Field))))
		}
	}
	opts := structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	pruned := runtime.DeepCopyJSONValue(normal(map[string]any(d.value)))
	for _, path := range pruning.PruneWithOptions(pruned, k.structural, true, opts) {
		if !below(path, wrong) {
			c.add(d.at(path, unknownFinding(d.kind, k.structural, path, minor)))
		}
	}
	c.metadata(d)
}

// schemaErrors runs the validator that CustomResourceDefinitions are validated
// with. It is called without the apiextensions package around it, which would
// bring CEL for rules that these schemas do not have.
func schemaErrors(v *validate.SchemaValidator, value any) field.ErrorList {
	var all field.ErrorList
	for _, err := range v.Validate(value).Errors {
		var path *field.Path
		e, ok := err.(*openapierrors.Validation)
		if ok && e.Name != "" && e.Name != "." {
			path = path.Child(strings.TrimPrefix(e.Name, "."))
		}
		switch {
		case ok && e.Code() == openapierrors.RequiredFailCode:
			all = append(all, field.Required(path, ""))
		case ok && e.Code() == openapierrors.InvalidTypeCode:
			all = append(all, field.TypeInvalid(path, e.Value, e.Error()))
		default:
			all = append(all, field.Invalid(path, nil, err.Error()))
		}
	}
	return all
}

// required reports a field that must be there. controller-gen calls every field
// required that is written even when it is zero; kOps reads a missing boolean as
// false, and that is what it means.
func (c *checker) required(d *document, s *structural.Structural, e *field.Error) {
	if f := at(s, e.Field); f != nil && f.Type == "boolean" {
		return
	}
	c.add(d.at(e.Field, finding.Finding{
		Code: "kops-field-missing", Severity: finding.Warning,
		Message: "this field must have a value",
	}))
}

// metadata reports unknown fields and wrong types of the object's metadata.
func (c *checker) metadata(d *document) {
	meta, ok := d.value["metadata"].(map[string]any)
	if !ok {
		return
	}
	copied := map[string]any{"metadata": runtime.DeepCopyJSONValue(normal(meta))}
	_, _, unknown, err := objectmeta.GetObjectMetaWithOptions(copied, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		c.add(d.at("metadata", finding.Finding{Code: "kops-field-type", Severity: finding.Error, Message: err.Error()}))
	}
	for _, path := range unknown {
		c.add(d.at(path, finding.Finding{
			Code: "kops-field-unknown", Severity: finding.Error,
			Message: "kOps drops this field in silence: object metadata has no such field",
		}))
	}
}

// below reports whether the path is that of a wrong field, or inside one.
func below(path string, wrong map[string]bool) bool {
	for w := range wrong {
		if rest, ok := strings.CutPrefix(path, w); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// withoutNulls copies a value without its null fields, which kOps reads as absent.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			if item != nil {
				out[k] = withoutNulls(item)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = withoutNulls(item)
		}
		return out
	case float64:
		return normal(v)
	}
	return v
}

// normal turns whole numbers into int64, as upstream's decoder does: an
// integer's schema refuses 5.0.
func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[k] = normal(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = normal(item)
		}
		return out
	case float64:
		if i := int64(v); float64(i) == v && v < 1<<62 && v > -1<<62 {
			return i
		}
	}
	return v
}

var (
	inBody      = pattern.Of(`^\S+ in body `)
	gotType     = pattern.Of(`must be of type (\w+): "(\w+)"`)
	outOfFormat = pattern.Of(`^Checked value must be of type \w+ with format (\w+) in (\S+)$`)
)

// typeFinding words a violation of a field's type.
func typeFinding(s *structural.Structural, e *field.Error, value any) finding.Finding {
	f := finding.Finding{
		Code: "kops-field-type", Severity: finding.Error,
		Message: inBody().ReplaceAllString(e.Detail, ""),
		Ref:     "kOps decodes JSON into typed fields and refuses other types",
	}
	if m := outOfFormat().FindStringSubmatch(e.Detail); m != nil {
		f.Message = fmt.Sprintf("%v does not fit %s", value, m[1])
		return f
	}
	if m := gotType().FindStringSubmatch(e.Detail); m != nil {
		got := strings.TrimSuffix(strings.TrimSuffix(m[2], "64"), "32")
		f.Message = fmt.Sprintf("must be of type %s, not %s", m[1], got)
		switch {
		case m[1] == "string" && got != "object" && got != "array":
			f.Fix = fmt.Sprintf("write it in quotes: \"%v\"", value)
		case got == "string" && looksLike(m[1], fmt.Sprint(value)):
			f.Fix = "write it without quotes"
		}
	}
	if s != nil && s.XIntOrString {
		f.Message, f.Fix = "must be a whole number or an amount such as 150m or 2Gi", ""
	}
	return f
}

// looksLike reports whether text would be of a type without its quotes.
func looksLike(typ, text string) bool {
	var err error
	switch typ {
	case "integer":
		_, err = strconv.ParseInt(text, 10, 64)
	case "number":
		_, err = strconv.ParseFloat(text, 64)
	case "boolean":
		_, err = strconv.ParseBool(text)
	default:
		return false
	}
	return err == nil
}
