package tier

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// versions judges the versions without their schemas.
func (r *refusals) versions(all []apiextensionsv1.CustomResourceDefinitionVersion) {
	at := field.NewPath("spec", "versions")
	seen := map[string]bool{}
	for i, v := range all {
		at := at.Index(i)
		r.label(at.Child("name"), v.Name, v.Name, "name it as v1, v1beta1 and the like")
		if seen[v.Name] {
			r.add(field.Duplicate(at.Child("name"), v.Name), "keep one")
		}
		seen[v.Name] = true
		r.warning(at.Child("deprecationWarning"), v.Deprecated, v.DeprecationWarning)
		for j, c := range v.AdditionalPrinterColumns {
			r.column(at.Child("additionalPrinterColumns").Index(j), c)
		}
		if v.Subresources != nil && v.Subresources.Scale != nil {
			r.scale(at.Child("subresources", "scale"), v.Subresources.Scale)
		}
	}
}

// warning is the text that users of a deprecated version see, in one header.
func (r *refusals) warning(at *field.Path, deprecated bool, text *string) {
	unprintable := func(c rune) bool { return !unicode.IsPrint(c) }
	switch {
	case text == nil:
	case !deprecated:
		r.add(field.Invalid(at, *text, "can only be set for deprecated versions"), "set deprecated: true, or leave it out")
	case *text == "" || len(*text) > 256 || strings.ContainsFunc(*text, unprintable):
		r.add(field.Invalid(at, *text, "must be 1 to 256 printable characters"), "leave it out, and users see one that names the version")
	}
}

// What upstream's printer knows to print.
var (
	columnTypes   = []string{"boolean", "date", "integer", "number", "string"}
	columnFormats = []string{"byte", "date", "date-time", "double", "float", "int32", "int64", "password"}
)

func (r *refusals) column(at *field.Path, c apiextensionsv1.CustomResourceColumnDefinition) {
	if c.Name == "" {
		r.add(field.Required(at.Child("name"), "a column has a name"), "write one")
	}
	if !slices.Contains(columnTypes, c.Type) {
		r.add(field.NotSupported(at.Child("type"), c.Type, columnTypes), "take one of them")
	}
	if c.Format != "" && !slices.Contains(columnFormats, c.Format) {
		r.add(field.NotSupported(at.Child("format"), c.Format, columnFormats), "take one of them, or none")
	}
	r.path(at.Child("jsonPath"), c.JSONPath, "")
}

// path is a simple JSON path, below one of some fields where they are given.
func (r *refusals) path(at *field.Path, path string, below ...string) {
	if !strings.HasPrefix(path, ".") || !slices.ContainsFunc(below, func(b string) bool { return strings.HasPrefix(path, b) }) {
		want := strings.Trim(strings.Join(below, " or "), " ")
		if want == "" {
			want = "."
		}
		r.add(field.Invalid(at, path, "must be a JSON path that begins with "+want), fmt.Sprintf("write it as %sname", strings.Split(want, " ")[0]))
	}
}

func (r *refusals) scale(at *field.Path, s *apiextensionsv1.CustomResourceSubresourceScale) {
	r.path(at.Child("specReplicasPath"), s.SpecReplicasPath, ".spec.")
	r.path(at.Child("statusReplicasPath"), s.StatusReplicasPath, ".status.")
	if s.LabelSelectorPath != nil && *s.LabelSelectorPath != "" {
		r.path(at.Child("labelSelectorPath"), *s.LabelSelectorPath, ".spec.", ".status.")
	}
}

// reviewVersions are of the ConversionReviews that apiservers send.
var reviewVersions = []string{"v1", "v1beta1"}

// conversion judges how versions are made of one another. How a webhook's address
// has to look is left to the tier.
func (r *refusals) conversion(c *apiextensionsv1.CustomResourceConversion) {
	at := field.NewPath("spec", "conversion")
	switch c.Strategy {
	case apiextensionsv1.NoneConverter:
		if c.Webhook != nil && (c.Webhook.ClientConfig != nil || len(c.Webhook.ConversionReviewVersions) > 0) {
			r.add(field.Forbidden(at.Child("webhook"), "should not be set when strategy is not Webhook"), "leave it out, or write strategy: Webhook")
		}
	case apiextensionsv1.WebhookConverter:
		r.webhook(at.Child("webhook"), c.Webhook)
	default:
		all := []string{string(apiextensionsv1.NoneConverter), string(apiextensionsv1.WebhookConverter)}
		r.add(field.NotSupported(at.Child("strategy"), c.Strategy, all), "take one of them")
	}
}

func (r *refusals) webhook(at *field.Path, w *apiextensionsv1.WebhookConversion) {
	if w == nil || w.ClientConfig == nil {
		r.add(field.Required(at.Child("clientConfig"), "required when strategy is Webhook"), "name the service that converts")
	} else if (w.ClientConfig.URL == nil) == (w.ClientConfig.Service == nil) {
		r.add(field.Required(at.Child("clientConfig"), "exactly one of url or service is required"), "keep one")
	}
	if w == nil {
		return
	}
	at = at.Child("conversionReviewVersions")
	known := func(v string) bool { return slices.Contains(reviewVersions, v) }
	if !slices.ContainsFunc(w.ConversionReviewVersions, known) {
		r.add(field.Invalid(at, w.ConversionReviewVersions, "must include one of "+strings.Join(reviewVersions, ", ")), "write [v1]")
	}
	seen := map[string]bool{}
	for i, v := range w.ConversionReviewVersions {
		r.label(at.Index(i), v, v, "write v1")
		if seen[v] {
			r.add(field.Duplicate(at.Index(i), v), "keep one")
		}
		seen[v] = true
	}
}
