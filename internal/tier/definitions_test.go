package tier

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeseams/seams/internal/finding"
)

func TestReadDefinitions(t *testing.T) {
	for _, c := range []struct {
		name, text string
		crds       int
		want       []string // line, severity and code
	}{
		{"one", widgets, 1, nil},
		{"two, and another object", widgets + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n---\n" + widgets, 2, []string{"14 info tier-not-crd"}},
		{"nothing", "# nothing\n", 0, []string{"0 error tier-no-crd"}},
		{"old", strings.Replace(widgets, "k8s.io/v1", "k8s.io/v1beta1", 1), 0, []string{"1 error tier-crd-version"}},
		{"a misspelt field", strings.Replace(widgets, "    served: true", "    served: true\n    storged: true", 1), 1, []string{"11 error unknown-field"}},
		{"a misspelt field of the second", widgets + "---\n" + strings.Replace(widgets, "    served: true", "    served: true\n    storged: true", 1), 2, []string{"24 error unknown-field"}},
		{"a wrong type", strings.Replace(widgets, "served: true", "served: yes please", 1), 0, []string{"8 error wrong-type"}},
		{"a wrong name", strings.Replace(widgets, "widgets.hot", "widget.hot", 1), 1, []string{"3 error object-invalid"}},
		{"no group", strings.Replace(widgets, "  group: hot.example.dev\n", "", 1), 1, []string{"3 error object-invalid", "4 error tier-crd-incomplete"}},
		{"not served", strings.Replace(widgets, "served: true", "served: false", 1), 1, []string{"8 error tier-crd-unserved"}},
		{"two stored", widgets + strings.Replace(laterVersion, "storage: false", "storage: true", 1), 1, []string{"8 error object-invalid"}},
		{"no schema", strings.Replace(widgets, "    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}\n", "", 1), 1, []string{"9 error tier-crd-schema"}},
		{"not structural", strings.Replace(widgets, "x-kubernetes-preserve-unknown-fields: true", "properties: {a: {}}", 1), 1, []string{"12 error tier-crd-schema"}},
		{"a group of kube-apiserver", strings.NewReplacer("hot.example.dev}", "storage.k8s.io, annotations: {api-approved.kubernetes.io: unapproved}}", "hot.example.dev", "storage.k8s.io").Replace(widgets), 1, []string{"5 error tier-group-builtin"}},
		{"a group without a dot", strings.ReplaceAll(widgets, "hot.example.dev", "apps"), 1, []string{"5 error tier-crd-invalid"}},
		{"a group of the community's", strings.ReplaceAll(widgets, "hot.example.dev", "hot.x-k8s.io.k8s.io"), 1, []string{"3 error tier-crd-invalid"}},
		{"no scope", strings.Replace(widgets, "  scope: Namespaced\n", "", 1), 1, []string{"4 error tier-crd-invalid"}},
		{"no YAML", "a: [\n", 0, []string{"1 error yaml-syntax"}},
		{"too deep", "a: " + strings.Repeat("[", 2000) + "\n", 0, []string{"1 error tier-crd-unreadable"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, findings := ReadDefinitions("crds.yaml", []byte(c.text))
			if len(all) != c.crds {
				t.Errorf("%d definitions, want %d", len(all), c.crds)
			}
			var got []string
			for _, f := range findings {
				if f.File != "crds.yaml" {
					t.Errorf("%v is in no file", f)
				}
				got = append(got, strings.Join([]string{strconv.Itoa(f.Line), f.Severity.String(), f.Code}, " "))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("findings: %s\n%v", diff, findings)
			}
		})
	}
}

func TestTwice(t *testing.T) {
	d := definition(t, widgets)
	if got := Twice([]Definition{d}); len(got) != 0 {
		t.Error(got)
	}
	if got := Twice([]Definition{d, d}); len(got) != 1 || got[0].Code != "tier-crd-twice" || got[0].Line == 0 {
		t.Error(got)
	}
}

// Whatever a file holds, reading it ends, and what is no definition is said.
func FuzzReadDefinitions(f *testing.F) {
	for _, seed := range []string{widgets, widgets + "---\n" + widgets, "a: &a [*a]\n", "{}", "kind: CustomResourceDefinition\n", "\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, findings := ReadDefinitions("x.yaml", data)
		if len(all) == 0 && !finding.AtLeast(findings, finding.Error) {
			t.Error("nothing was read, and nothing said")
		}
		planCRDs(hot, usable(all, findings), seenIn(nil, nil), true)
	})
}

// usable are definitions that would go on.
func usable(all []Definition, findings []finding.Finding) []Definition {
	if finding.AtLeast(findings, finding.Error) {
		return nil
	}
	return all
}
