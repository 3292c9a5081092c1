package tier

import (
	"bytes"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kyaml "sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/internal/check"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/lint/read"
	"github.com/kubeseams/seams/internal/yamltext"
)

// CRD is upstream's type.
type CRD = apiextensionsv1.CustomResourceDefinition

// Definition is a CRD and where it was read.
type Definition struct {
	*CRD
	file string
	text yamltext.Document
	root *yaml.Node
}

// at is a finding about a field of the definition.
func (d Definition) at(f finding.Finding) finding.Finding {
	f.File = d.file
	if d.root != nil {
		f.Line = max(d.text.LineOf(d.root, f.Path), d.text.Line)
	}
	if f.Path == "" {
		f.Path = d.Name
	}
	return f
}

// ReadDefinitions reads the CRDs of a YAML or JSON file. They are decoded
// strictly, their schemas go through upstream's rules for structural schemas, and
// the rest through its rules for names and versions; what only upstream's whole
// validation finds, CEL rules above all, a server finds before anything is
// changed. Other documents are named and left
// alone.
func ReadDefinitions(name string, data []byte) ([]Definition, []finding.Finding) {
	var all []Definition
	var findings []finding.Finding
	for _, doc := range yamltext.Split(data) {
		if doc.Blank() {
			continue
		}
		if err := read.Bounds(doc.Text); err != nil {
			findings = append(findings, finding.Finding{
				Code: "tier-crd-unreadable", Severity: finding.Error, File: name, Line: doc.Line, Message: err.Error(),
			})
			continue
		}
		d, problems := decode(name, doc)
		findings = append(findings, problems...)
		if d != nil {
			findings = append(findings, d.judge()...)
			all = append(all, *d)
		}
	}
	if len(all) == 0 && !finding.AtLeast(findings, finding.Error) {
		findings = append(findings, finding.Finding{
			Code: "tier-no-crd", Severity: finding.Error, File: name,
			Message: "no CustomResourceDefinition in it",
		})
	}
	return all, findings
}

// decode reads one document, and has upstream's strict decoder judge it where it
// is a CRD.
func decode(name string, doc yamltext.Document) (*Definition, []finding.Finding) {
	var head struct{ APIVersion, Kind string }
	err := kyaml.Unmarshal(doc.Text, &head)
	if err == nil && head.Kind != "CustomResourceDefinition" {
		return nil, []finding.Finding{{
			Code: "tier-not-crd", Severity: finding.Info, File: name, Line: doc.Line,
			Message: fmt.Sprintf("an object of kind %q is left alone: only CustomResourceDefinitions go to a tier", head.Kind),
			Fix:     "apply it to the main server with kubectl",
		}}
	}
	if err == nil && head.APIVersion != apiextensionsv1.SchemeGroupVersion.String() {
		return nil, []finding.Finding{{
			Code: "tier-crd-version", Severity: finding.Error, File: name, Line: doc.Line, Path: "apiVersion",
			Message: fmt.Sprintf("%q is not served any more", head.APIVersion),
			Fix:     "convert it to " + apiextensionsv1.SchemeGroupVersion.String(),
		}}
	}
	findings := check.Check(check.Input{Files: []file.File{{Path: "crd.yaml", Data: doc.Text}}})
	for i := range findings {
		findings[i].File, findings[i].Line = name, max(findings[i].Line, 1)+doc.Line-1
	}
	d := &Definition{CRD: &CRD{}, file: name, text: doc}
	if err := kyaml.Unmarshal(doc.Text, d.CRD); err != nil {
		if !finding.AtLeast(findings, finding.Error) {
			findings = append(findings, finding.Finding{
				Code: "tier-crd-unreadable", Severity: finding.Error, File: name, Line: doc.Line, Message: err.Error(),
			})
		}
		return nil, findings
	}
	d.root, _ = doc.Parse()
	// Generators write an empty status, which is not theirs to write.
	d.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	return d, findings
}

// judge finds what upstream's rules refuse: those for structural schemas by its
// own code, and those for names and versions.
func (d Definition) judge() []finding.Finding {
	var findings []finding.Finding
	if d.Name == "" || d.Spec.Group == "" || d.Spec.Names.Plural == "" || d.Spec.Names.Kind == "" || len(d.Spec.Versions) == 0 {
		return []finding.Finding{d.at(finding.Finding{
			Code: "tier-crd-incomplete", Severity: finding.Error, Path: "spec",
			Message: "a CRD needs a name, a group, a plural, a kind and a version",
		})}
	}
	if !slices.ContainsFunc(d.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Served }) {
		findings = append(findings, d.at(finding.Finding{
			Code: "tier-crd-unserved", Severity: finding.Error, Path: "spec.versions",
			Message: "no version is served, so that nothing would lead to the tier", Fix: "set served: true for one",
		}))
	}
	findings = append(findings, d.refused()...)
	for i, v := range d.Spec.Versions {
		at := field.NewPath("spec", "versions").Index(i).Child("schema", "openAPIV3Schema")
		for _, e := range structural(v, at) {
			findings = append(findings, d.at(finding.Finding{
				Code: "tier-crd-schema", Severity: finding.Error, Path: e.Field, Message: e.ErrorBody(),
				Ref: "k8s.io/apiextensions-apiserver pkg/apiserver/schema",
			}))
		}
	}
	return findings
}

func structural(v apiextensionsv1.CustomResourceDefinitionVersion, at *field.Path) field.ErrorList {
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return field.ErrorList{field.Required(at, "schemas are required")}
	}
	internal := apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema.DeepCopy(), &internal, nil); err != nil {
		return field.ErrorList{field.Invalid(at, "", err.Error())}
	}
	s, err := schema.NewStructural(&internal)
	if err != nil {
		return field.ErrorList{field.Invalid(at, "", err.Error())}
	}
	return schema.ValidateStructural(at, s)
}

// Twice finds definitions of one name.
func Twice(all []Definition) []finding.Finding {
	var findings []finding.Finding
	first := map[string]Definition{}
	for _, d := range all {
		if f, ok := first[d.Name]; ok {
			findings = append(findings, d.at(finding.Finding{
				Code: "tier-crd-twice", Severity: finding.Error, Path: "metadata.name",
				Message: fmt.Sprintf("%s is in %s, line %d, too", d.Name, f.file, f.text.Line), Fix: "keep one",
			}))
			continue
		}
		first[d.Name] = d
	}
	return findings
}

func servedVersions(crd *CRD) []string {
	var names []string
	for _, v := range crd.Spec.Versions {
		if v.Served {
			names = append(names, v.Name)
		}
	}
	return names
}

func storageVersion(crd *CRD) string {
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			return v.Name
		}
	}
	return ""
}

// sameSpec compares definitions as they mean it, whatever marks them and
// whether defaults were filled in.
func sameSpec(a, b *CRD) bool {
	x, y := unmarked(a), unmarked(b)
	apiextensionsv1.SetDefaults_CustomResourceDefinition(x)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&x.Spec)
	apiextensionsv1.SetDefaults_CustomResourceDefinition(y)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&y.Spec)
	left, errLeft := kyaml.Marshal(x.Spec)
	right, errRight := kyaml.Marshal(y.Spec)
	return errLeft == nil && errRight == nil && bytes.Equal(left, right)
}
