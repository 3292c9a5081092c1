package lint

import (
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/finding"
)

// linted are the API groups whose documents check must know.
var linted = []string{"kubeadm.k8s.io", ".config.k8s.io", "kops.k8s.io", "kind.x-k8s.io"}

// settle makes a finding about something that is to be rendered one about what
// is there already; ok is false where that is none.
func settle(f finding.Finding) (settled finding.Finding, ok bool) {
	switch f.Code {
	case "unjudged-document":
		// Check wants every document judged; here those of other kinds are left alone.
		return f, slices.ContainsFunc(linted, func(group string) bool { return strings.Contains(f.Message, group) })
	case "kops-additional-object":
		return f, false
	case "unknown-field":
		// kubeadm's documents are no objects, and metadata in them does nothing.
		if f.Path == "metadata" && strings.Contains(f.Ref, "kubeadm") {
			f.Severity = finding.Warning
			f.Fix = "remove it: the document is no object of the API"
		}
	}
	return f, true
}
