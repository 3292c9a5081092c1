package tier

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"
	kyaml "sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/internal/finding"
)

// upstream is what every apiserver says of a new definition.
func upstream(t interface{ Fatal(...any) }, crd *CRD) field.ErrorList {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	crd = crd.DeepCopy()
	scheme.Default(crd)
	internal := &apiextensions.CustomResourceDefinition{}
	if err := scheme.Convert(crd, internal, nil); err != nil {
		t.Fatal(err)
	}
	return validation.ValidateCustomResourceDefinition(context.Background(), internal)
}

// change is one thing about a definition that may be wrong.
type change struct {
	name   string
	values []string
	set    func(*CRD, string)
}

// changes have right values and wrong ones; what each is, upstream says.
var changes = []change{
	{"group", []string{"hot.example.dev", "apps", "Hot.example.dev", "hot_example.dev", "", "x.k8s.io", "kubernetes.io", ".", "a..b"}, func(c *CRD, v string) { c.Spec.Group = v }},
	{"approval", []string{"https://github.com/kubernetes/kubernetes/pull/1", "unapproved, for a test", "yes", "https://"}, func(c *CRD, v string) {
		c.Annotations = map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: v}
	}},
	{"annotation", []string{"fine", "not fine", "-"}, func(c *CRD, v string) { c.Annotations = map[string]string{v: "x"} }},
	{"label", []string{"fine", "not fine", strings.Repeat("x", 64)}, func(c *CRD, v string) { c.Labels = map[string]string{"a": v} }},
	{"namespace", []string{""}, func(c *CRD, v string) { c.Namespace = v }},
	{"scope", []string{"Cluster", "Foo", "namespaced", ""}, func(c *CRD, v string) { c.Spec.Scope = apiextensionsv1.ResourceScope(v) }},
	{"plural", []string{"things", "Things", "th_ings", "1things", "t.hings", strings.Repeat("x", 64)}, func(c *CRD, v string) { c.Spec.Names.Plural = v }},
	{"singular", []string{"", "thing", "Sand Box", "Thing"}, func(c *CRD, v string) { c.Spec.Names.Singular = v }},
	{"kind", []string{"Thing", "thing", "sandbox_", "1Thing", strings.Repeat("X", 63), strings.Repeat("X", 64)}, func(c *CRD, v string) { c.Spec.Names.Kind = v }},
	{"listKind", []string{"", "ThingList", "Widget", "Thing_List"}, func(c *CRD, v string) { c.Spec.Names.ListKind = v }},
	{"shortName", []string{"wd", "A B", "", "WD"}, func(c *CRD, v string) { c.Spec.Names.ShortNames = []string{"ok", v} }},
	{"category", []string{"all", "All", ""}, func(c *CRD, v string) { c.Spec.Names.Categories = []string{v} }},
	{"version", []string{"v2", "V_1", "1", "", "v1.1"}, func(c *CRD, v string) { c.Spec.Versions[0].Name = v }},
	{"second version", []string{"v1beta1", "v1", "v2", "V2"}, func(c *CRD, v string) {
		second := *c.Spec.Versions[0].DeepCopy()
		second.Name, second.Storage = v, false
		c.Spec.Versions = append(c.Spec.Versions, second)
	}},
	{"stored", []string{"yes", "no"}, func(c *CRD, v string) { c.Spec.Versions[0].Storage = v == "yes" }},
	{"deprecated", []string{"yes", "no"}, func(c *CRD, v string) { c.Spec.Versions[0].Deprecated = v == "yes" }},
	{"warning", []string{"go away", "", "a\nb", "a\tb", strings.Repeat("x", 257)}, func(c *CRD, v string) { c.Spec.Versions[0].DeprecationWarning = &v }},
	{"column name", []string{"Age", ""}, func(c *CRD, v string) { column(c).Name = v }},
	{"column type", []string{"date", "string", "time", ""}, func(c *CRD, v string) { column(c).Type = v }},
	{"column format", []string{"", "int32", "int16"}, func(c *CRD, v string) { column(c).Format = v }},
	{"column path", []string{".spec.a", ".", "spec.a", ""}, func(c *CRD, v string) { column(c).JSONPath = v }},
	{"scale of spec", []string{".spec.n", ".spec.", ".n", "spec.n", ""}, func(c *CRD, v string) { scaled(c).SpecReplicasPath = v }},
	{"scale of status", []string{".status.n", ".spec.n", ""}, func(c *CRD, v string) { scaled(c).StatusReplicasPath = v }},
	{"scale's selector", []string{"", ".status.s", ".spec.s", ".s"}, func(c *CRD, v string) { scaled(c).LabelSelectorPath = &v }},
	{"conversion", []string{"None", "Webhook", "webhook", ""}, func(c *CRD, v string) {
		conversion(c).Strategy = apiextensionsv1.ConversionStrategyType(v)
	}},
	{"review version", []string{"v1", "v1beta1", "v2", "V1"}, func(c *CRD, v string) {
		w := webhookOf(c)
		w.ConversionReviewVersions = append(w.ConversionReviewVersions, v)
	}},
	{"webhook", []string{"none", "url", "both"}, func(c *CRD, v string) {
		url := "https://hook.example.dev/convert"
		w := webhookOf(c)
		w.ClientConfig = &apiextensionsv1.WebhookClientConfig{}
		if v != "none" {
			w.ClientConfig.URL = &url
		}
		if v == "both" {
			w.ClientConfig.Service = &apiextensionsv1.ServiceReference{Namespace: "a", Name: "b"}
		}
	}},
	{"preserve", []string{"yes", "no"}, func(c *CRD, v string) { c.Spec.PreserveUnknownFields = v == "yes" }},
}

func column(c *CRD) *apiextensionsv1.CustomResourceColumnDefinition {
	v := &c.Spec.Versions[0]
	if len(v.AdditionalPrinterColumns) == 0 {
		v.AdditionalPrinterColumns = []apiextensionsv1.CustomResourceColumnDefinition{{Name: "A", Type: "string", JSONPath: ".spec.a"}}
	}
	return &v.AdditionalPrinterColumns[0]
}

func scaled(c *CRD) *apiextensionsv1.CustomResourceSubresourceScale {
	v := &c.Spec.Versions[0]
	if v.Subresources == nil {
		v.Subresources = &apiextensionsv1.CustomResourceSubresources{Scale: &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.n", StatusReplicasPath: ".status.n"}}
	}
	return v.Subresources.Scale
}

func conversion(c *CRD) *apiextensionsv1.CustomResourceConversion {
	if c.Spec.Conversion == nil {
		c.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}
	}
	return c.Spec.Conversion
}

func webhookOf(c *CRD) *apiextensionsv1.WebhookConversion {
	v := conversion(c)
	if v.Webhook == nil {
		v.Webhook = &apiextensionsv1.WebhookConversion{}
	}
	return v.Webhook
}

// TestRefusedAsUpstream holds the rules here against upstream's whole validation,
// which is linked into no program: each value alone, and any of them together.
func TestRefusedAsUpstream(t *testing.T) {
	base := definition(t, widgets).CRD
	rename := func(c *CRD) *CRD { c.Name = c.Spec.Names.Plural + "." + c.Spec.Group; return c }
	for _, c := range changes {
		for _, v := range c.values {
			crd := base.DeepCopy()
			c.set(crd, v)
			asUpstream(t, c.name+" "+v, rename(crd))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		crd := base.DeepCopy()
		var what []string
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			c := rapid.SampledFrom(changes).Draw(t, "change")
			v := rapid.SampledFrom(c.values).Draw(t, c.name)
			c.set(crd, v)
			what = append(what, c.name+" "+v)
		}
		asUpstream(t, strings.Join(what, ", "), rename(crd))
	})
}

func asUpstream(t interface {
	Errorf(string, ...any)
	Fatal(...any)
}, what string, crd *CRD) {
	crd.APIVersion, crd.Kind = apiextensionsv1.SchemeGroupVersion.String(), "CustomResourceDefinition"
	text, err := kyaml.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	_, findings := ReadDefinitions("crd.yaml", text)
	got := finding.AtLeast(findings, finding.Error)
	want := upstream(t, crd)
	if got != (len(want) > 0) {
		t.Errorf("%s: upstream says %v, the rules here %v", what, want, findings)
	}
}

// What upstream says of the names, and where, is said, too.
func TestRefusedPaths(t *testing.T) {
	all, _ := ReadDefinitions("crd.yaml", []byte(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: sandboxes.apps}
spec:
  group: apps
  scope: Foo
  names: {kind: sandbox_, plural: sandboxes, singular: "Sand Box", shortNames: ["A B"]}
  versions:
  - name: V_1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object}}
`))
	crd := all[0]
	said := map[string]finding.Finding{}
	for _, f := range crd.refused() {
		said[f.Path] = f
		if f.Line == 0 || f.Message == "" || f.Fix == "" {
			t.Errorf("%+v lacks a line, a message or a fix", f)
		}
	}
	for _, e := range upstream(t, crd.CRD) {
		// A listKind made of a kind that is wrong is not in the file, and neither is
		// the version of upstream's internal form, which is that of the first.
		if _, ok := said[e.Field]; !ok && e.Field != "spec.names.listKind" && e.Field != "spec.version" {
			t.Errorf("upstream: %v; here %v", e, said)
		}
	}
	if len(said) != 6 {
		t.Errorf("%d findings, want group, scope, kind, singular, short name and version: %v", len(said), said)
	}
}
