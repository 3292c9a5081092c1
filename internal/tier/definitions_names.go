package tier

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

// refusal is what every apiserver refuses, and what to write instead. The rules
// are those of apiextensions-apiserver's pkg/apis/apiextensions/validation, which
// would bring CEL into the program; a test holds them against it.
type refusal struct {
	*field.Error
	fix string
}

// refusals collects what the rules find.
type refusals []refusal

func (r *refusals) add(e *field.Error, fix string) { *r = append(*r, refusal{e, fix}) }

// label is the rule of most names: DNS labels that begin with a letter.
func (r *refusals) label(at *field.Path, value, shown, fix string) {
	if errs := validation.IsDNS1035Label(value); len(errs) > 0 {
		r.add(field.Invalid(at, shown, strings.Join(errs, ", ")), fix)
	}
}

// refused are the rules that take no CEL, on the definition as a server
// defaults it. That its name is made of its plural and group, and that one
// version is stored, is judged with every file that has definitions.
func (d Definition) refused() []finding.Finding {
	crd := d.DeepCopy()
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	var r refusals
	r.meta(crd)
	r.group(crd)
	r.scope(crd.Spec.Scope)
	r.names(d.Spec.Names, crd.Spec.Names)
	r.versions(crd.Spec.Versions)
	r.conversion(crd.Spec.Conversion)
	if crd.Spec.PreserveUnknownFields {
		r.add(field.Invalid(field.NewPath("spec", "preserveUnknownFields"), true, "cannot be true in apiextensions.k8s.io/v1"),
			"set x-kubernetes-preserve-unknown-fields: true in the schema, where fields are to be kept")
	}
	var findings []finding.Finding
	for _, x := range r {
		findings = append(findings, d.at(finding.Finding{
			Code: "tier-crd-invalid", Severity: finding.Error, Path: x.Field, Message: x.ErrorBody(), Fix: x.fix,
			Ref: "k8s.io/apiextensions-apiserver pkg/apis/apiextensions/validation",
		}))
	}
	return append(findings, d.builtIn()...)
}

// meta is upstream's validation of what all objects have. A namespace is taken
// away by the server and is no matter.
func (r *refusals) meta(crd *CRD) {
	meta := crd.ObjectMeta.DeepCopy()
	meta.Namespace = ""
	for _, e := range metavalidation.ValidateObjectMeta(meta, false, metavalidation.NameIsDNSSubdomain, field.NewPath("metadata")) {
		r.add(e, "")
	}
}

// group has a dot: those without are kube-apiserver's own. The community's need
// a word that they were approved, or were not.
func (r *refusals) group(crd *CRD) {
	at, group := field.NewPath("spec", "group"), crd.Spec.Group
	const fix = "take a domain of yours in lower case, such as example.dev"
	if errs := validation.IsDNS1123Subdomain(group); len(errs) > 0 {
		r.add(field.Invalid(at, group, strings.Join(errs, ", ")), fix)
	} else if !strings.Contains(group, ".") {
		r.add(field.Invalid(at, group, "should be a domain with at least one dot"), fix)
	}
	if !apihelpers.IsProtectedCommunityGroup(group) {
		return
	}
	at = field.NewPath("metadata", "annotations").Key(apiextensionsv1.KubeAPIApprovedAnnotation)
	const approve = "take a group outside k8s.io and kubernetes.io, or annotate it with the address of the approval, or with unapproved and why"
	switch state, why := apihelpers.GetAPIApprovalState(crd.Annotations); state {
	case apihelpers.APIApproved, apihelpers.APIApprovalBypassed:
	case apihelpers.APIApprovalMissing:
		r.add(field.Required(at, why), approve)
	default:
		r.add(field.Invalid(at, crd.Annotations[apiextensionsv1.KubeAPIApprovedAnnotation], why), approve)
	}
}

// builtIn are groups that kube-apiserver serves itself: a definition there is
// taken, and served by nobody.
func (d Definition) builtIn() []finding.Finding {
	own := func(r target.Resource) bool { return r.Group == d.Spec.Group && strings.Contains(r.Group, ".") }
	if !slices.ContainsFunc(target.BuiltIns(target.Version{}), own) {
		return nil
	}
	return []finding.Finding{d.at(finding.Finding{
		Code: "tier-group-builtin", Severity: finding.Error, Path: "spec.group",
		Message: fmt.Sprintf("%s is a group of kube-apiserver itself", d.Spec.Group), Fix: "take another group",
	})}
}

func (r *refusals) scope(scope apiextensionsv1.ResourceScope) {
	at, all := field.NewPath("spec", "scope"), []string{string(apiextensionsv1.ClusterScoped), string(apiextensionsv1.NamespaceScoped)}
	fix := "write " + strings.Join(all, " or ")
	switch {
	case scope == "":
		r.add(field.Required(at, "objects are in namespaces, or of the cluster"), fix)
	case !slices.Contains(all, string(scope)):
		r.add(field.NotSupported(at, scope, all), fix)
	}
}

// names judges those that are written, and those that a server makes of the
// kind where the kind itself is right.
func (r *refusals) names(written, names apiextensionsv1.CustomResourceDefinitionNames) {
	at := field.NewPath("spec", "names")
	const lower = "write it in lower case, with letters, digits and -"
	r.label(at.Child("plural"), names.Plural, names.Plural, lower)
	before := len(*r)
	const mixed = "write it in letters and digits, such as Sandbox"
	r.label(at.Child("kind"), strings.ToLower(names.Kind), names.Kind, mixed)
	if right := len(*r) == before; right || written.Singular != "" {
		r.label(at.Child("singular"), names.Singular, names.Singular, lower)
	}
	if right := len(*r) == before; right || written.ListKind != "" {
		r.label(at.Child("listKind"), strings.ToLower(names.ListKind), names.ListKind, mixed)
	}
	for i, name := range names.ShortNames {
		r.label(at.Child("shortNames").Index(i), name, name, lower)
	}
	for i, name := range names.Categories {
		r.label(at.Child("categories").Index(i), name, name, lower)
	}
	if names.Kind == names.ListKind {
		r.add(field.Invalid(at.Child("listKind"), names.ListKind, "kind and listKind may not be the same"), "leave listKind out")
	}
}
