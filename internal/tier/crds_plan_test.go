package tier

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeseams/seams/internal/finding"
)

const widgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.hot.example.dev}
spec:
  group: hot.example.dev
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

const laterVersion = `  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object}}
`

var hot = Target{Namespace: "seams-system", Service: "hot", Port: 9443, CA: []byte("PEM")}

// definition reads one CRD that has to be right, with some of its text replaced.
func definition(t *testing.T, text string, replace ...string) Definition {
	t.Helper()
	all, findings := ReadDefinitions("crd.yaml", []byte(strings.NewReplacer(replace...).Replace(text)))
	if len(all) != 1 || finding.AtLeast(findings, finding.Error) {
		t.Fatalf("%d definitions, %v", len(all), findings)
	}
	return all[0]
}

// service is an APIService that leads to a tier, or to main without one.
func service(version, to string) apiService {
	a := apiService{}
	a.Name = version + ".hot.example.dev"
	a.Spec.Group, a.Spec.Version = "hot.example.dev", version
	if to != "" {
		a.Spec.Service = &serviceReference{"seams-system", to, 9443}
	}
	return a
}

func stored(d Definition, versions ...string) *CRD {
	c := hot.marked(d.CRD)
	c.Status.StoredVersions = versions
	return c
}

func seenIn(tier, main []*CRD, services ...apiService) crdsSeen {
	s := crdsSeen{tier: map[string]*CRD{}, main: map[string]*CRD{}, objects: map[string]bool{}, services: map[string]map[string]apiService{"hot.example.dev": {}}}
	for _, c := range tier {
		s.tier[c.Name] = c
	}
	for _, c := range main {
		s.main[c.Name] = c
	}
	for _, a := range services {
		s.services["hot.example.dev"][a.Spec.Version] = a
	}
	return s
}

func TestPlanCRDs(t *testing.T) {
	one := definition(t, widgets)
	two := definition(t, widgets+laterVersion)
	gadget := definition(t, widgets, "widgets", "gadgets", "widget", "gadget", "Widget", "Gadget")
	onlyV2 := definition(t, widgets, "name: v1", "name: v2")
	builtIn := service("v1", "")
	builtIn.Labels = map[string]string{automanaged: "onstart"}
	occupied := seenIn(nil, []*CRD{one.CRD}, service("v1", ""))
	occupied.objects[one.Name] = true
	for _, c := range []struct {
		name   string
		wanted []Definition
		seen   crdsSeen
		keep   bool
		steps  []string
		codes  []string
	}{
		{"new", []Definition{one}, seenIn(nil, nil), false, []string{
			"widgets.hot.example.dev: define in the tier (new)", "v1.hot.example.dev: lead to the tier"}, nil},
		{"new and kept", []Definition{one}, seenIn(nil, nil), true, []string{
			"widgets.hot.example.dev: define in the tier (new)", "v1.hot.example.dev: lead to the tier", "widgets.hot.example.dev: define in the main server"}, nil},
		{"in main without objects", []Definition{one}, seenIn(nil, []*CRD{one.CRD}, service("v1", "")), false, []string{
			"widgets.hot.example.dev: define in the tier (new)", "v1.hot.example.dev: lead to the tier (served by the main server until now)",
			"widgets.hot.example.dev: define in the main server"}, nil},
		{"again", []Definition{one}, seenIn([]*CRD{stored(one, "v1")}, nil, service("v1", "hot")), false, []string{
			"widgets.hot.example.dev: define in the tier (unchanged)", "v1.hot.example.dev: lead to the tier"}, nil},
		{"a version more", []Definition{two}, seenIn([]*CRD{stored(one, "v1")}, nil, service("v1", "hot")), false, []string{
			"widgets.hot.example.dev: define in the tier", "v1.hot.example.dev: lead to the tier", "v2.hot.example.dev: lead to the tier"}, nil},
		{"a version less", []Definition{one}, seenIn([]*CRD{stored(two, "v1")}, nil, service("v1", "hot"), service("v2", "hot")), false, []string{
			"widgets.hot.example.dev: define in the tier", "v1.hot.example.dev: lead to the tier", "v2.hot.example.dev: lead nowhere (no definition serves it any more)"}, nil},
		{"a version that another kind has", []Definition{onlyV2}, seenIn([]*CRD{stored(two, "v2"), stored(gadget, "v1")}, nil, service("v1", "hot"), service("v2", "hot")), false, []string{
			"widgets.hot.example.dev: define in the tier", "v1.hot.example.dev: lead to the tier", "v2.hot.example.dev: lead to the tier"}, []string{"tier-storage-version-changed"}},
		{"a stored version less", []Definition{onlyV2}, seenIn([]*CRD{stored(two, "v1", "v2")}, nil), false, nil,
			[]string{"tier-stored-version-dropped", "tier-storage-version-changed"}},
		{"another scope", []Definition{definition(t, widgets, "Namespaced", "Cluster")}, seenIn([]*CRD{stored(one, "v1")}, nil), false, nil, []string{"tier-scope-changed"}},
		{"another kind", []Definition{definition(t, widgets, "kind: Widget,", "kind: Gizmo,")}, seenIn([]*CRD{stored(one, "v1")}, nil), false, nil, []string{"tier-kind-changed"}},
		{"objects in main", []Definition{one}, occupied, false, nil, []string{"tier-has-objects"}},
		{"a kind left behind", []Definition{one}, seenIn(nil, []*CRD{gadget.CRD}, service("v1", "")), false, nil, []string{"tier-group-split"}},
		{"both kinds", []Definition{one, gadget}, seenIn(nil, []*CRD{gadget.CRD}, service("v1", "")), false, []string{
			"widgets.hot.example.dev: define in the tier (new)", "gadgets.hot.example.dev: define in the tier (new)",
			"v1.hot.example.dev: lead to the tier (served by the main server until now)", "gadgets.hot.example.dev: define in the main server"}, nil},
		{"built in", []Definition{one}, seenIn(nil, nil, builtIn), false, nil, []string{"tier-group-builtin"}},
		{"another tier's", []Definition{one}, seenIn(nil, nil, service("v1", "cold")), false, nil, []string{"tier-group-elsewhere"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			actions, findings := planCRDs(hot, c.wanted, c.seen, c.keep)
			var steps, codes []string
			for _, a := range actions {
				steps = append(steps, a.String())
			}
			for _, f := range findings {
				codes = append(codes, f.Code)
				if f.Line == 0 || f.File == "" {
					t.Errorf("%s has no place: %v", f.Code, f)
				}
			}
			if diff := cmp.Diff(c.codes, codes); diff != "" {
				t.Errorf("findings: %s", diff)
			}
			if c.steps != nil {
				if diff := cmp.Diff(c.steps, steps); diff != "" {
					t.Errorf("steps: %s", diff)
				}
			}
		})
	}
}

// No definition is in the main server before its group leads to the tier, and
// nothing leads to the tier before it is served there, whatever is to be done.
func TestOrder(t *testing.T) {
	one, gadget := definition(t, widgets+laterVersion), definition(t, widgets, "widgets", "gadgets", "widget", "gadget", "Widget", "Gadget")
	actions, _ := planCRDs(hot, []Definition{one, gadget}, seenIn(nil, []*CRD{one.CRD}, service("v1", ""), service("v0", "hot")), true)
	rank := []verb{defineInTier, pointToTier, defineInMain, dropService}
	last, seen := 0, map[verb]bool{}
	for _, a := range actions {
		at := slices.Index(rank, a.verb)
		if at < last {
			t.Errorf("%s comes too late", a)
		}
		last, seen[a.verb] = at, true
	}
	if len(seen) != len(rank) {
		t.Errorf("only %v are planned", seen)
	}
}

func TestMarks(t *testing.T) {
	crd := definition(t, widgets, "listKind: WidgetList", "listKind: WidgetList, categories: [all]").CRD
	other := Target{Namespace: "seams-system", Service: "cold", Port: 9443}
	marked := hot.marked(other.marked(crd))
	if want := []string{"all", "seams-tier-hot"}; !slices.Equal(marked.Spec.Names.Categories, want) {
		t.Errorf("categories %v, want %v", marked.Spec.Names.Categories, want)
	}
	if !slices.Equal(crd.Spec.Names.Categories, []string{"all"}) {
		t.Error("marking has changed the definition itself")
	}
	if !slices.Equal(unmarked(marked).Spec.Names.Categories, []string{"all"}) || !sameSpec(marked, crd) {
		t.Error("marks do not come off")
	}
	if sameSpec(crd, definition(t, widgets).CRD) {
		t.Error("a category of the user's is no difference")
	}
}

func TestParseService(t *testing.T) {
	got, err := ParseService("seams-system/hot:9443")
	if err != nil || got.Name() != "hot" || got.DNSName() != "hot.seams-system.svc" || got.Port != 9443 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "hot", "hot:9443", "/hot:9443", "seams-system/:9443", "seams-system/hot", "seams-system/hot:0", "seams-system/hot:65536", "seams-system/hot:https"} {
		if _, err := ParseService(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
