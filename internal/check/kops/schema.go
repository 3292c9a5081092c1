package kops

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"github.com/kubeseams/seams/internal/target"
)

//go:embed data/*.json.gz
var data embed.FS

// The minors of kOps whose schemas are kept, in data/ and in schemas/kops.
const (
	oldest = 34
	newest = 36
)

// kindSchema is one kind's schema in the two forms upstream's code works on.
type kindSchema struct {
	structural *structural.Structural
	validator  *validate.SchemaValidator
}

// schemas are read once, and only those of the minors that are asked for. They
// are never changed afterwards.
var schemas = func() map[int]func() (map[string]kindSchema, error) {
	m := map[int]func() (map[string]kindSchema, error){}
	for minor := oldest; minor <= newest; minor++ {
		m[minor] = sync.OnceValues(func() (map[string]kindSchema, error) { return readSchemas(minor) })
	}
	return m
}()

// minorFor is the minor whose schemas a kOps version is held against: its own,
// or the nearest that is kept. The zero version means the newest.
func minorFor(v target.Version) int {
	if v.IsZero() {
		return newest
	}
	return min(max(v.Minor, oldest), newest)
}

// compact is a schema as data/ keeps it: what kOps' definitions use of a
// structural schema, under the names of OpenAPI.
type compact struct {
	Type                 string              `json:"type"`
	Format               string              `json:"format"`
	Pattern              string              `json:"pattern"`
	Default              any                 `json:"default"`
	Required             []string            `json:"required"`
	Properties           map[string]*compact `json:"properties"`
	AdditionalProperties *compact            `json:"additionalProperties"`
	Items                *compact            `json:"items"`
	AnyOf                []*compact          `json:"anyOf"`
	IntOrString          bool                `json:"x-kubernetes-int-or-string"`
	ListType             *string             `json:"x-kubernetes-list-type"`
	MapType              *string             `json:"x-kubernetes-map-type"`
}

// structural builds what upstream's NewStructural builds from the same
// definition, without the detour over two of its API types, which would take
// three times as long; a test holds the two against each other.
func (c *compact) structural() *structural.Structural {
	if c == nil {
		return nil
	}
	s := &structural.Structural{
		Generic:    structural.Generic{Type: c.Type, Default: structural.JSON{Object: c.Default}},
		Extensions: structural.Extensions{XIntOrString: c.IntOrString, XListType: c.ListType, XMapType: c.MapType},
		Items:      c.Items.structural(),
		ValueValidation: &structural.ValueValidation{
			Format: c.Format, Pattern: c.Pattern, Required: c.Required,
		},
	}
	for _, option := range c.AnyOf {
		s.ValueValidation.AnyOf = append(s.ValueValidation.AnyOf, structural.NestedValueValidation{
			ForbiddenGenerics: structural.Generic{Type: option.Type},
		})
	}
	if len(c.Properties) > 0 {
		s.Properties = make(map[string]structural.Structural, len(c.Properties))
		for name, p := range c.Properties {
			s.Properties[name] = *p.structural()
		}
	}
	if c.AdditionalProperties != nil {
		s.AdditionalProperties = &structural.StructuralOrBool{Structural: c.AdditionalProperties.structural(), Bool: true}
	}
	return s
}

func readSchemas(minor int) (map[string]kindSchema, error) {
	packed, err := data.ReadFile(fmt.Sprintf("data/v1_%d.json.gz", minor))
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	var doc struct {
		Schemas map[string]*compact `json:"schemas"`
	}
	if err := json.NewDecoder(r).Decode(&doc); err != nil {
		return nil, err
	}
	out := map[string]kindSchema{}
	for kind, c := range doc.Schemas {
		s := c.structural()
		out[kind] = kindSchema{s, validate.NewSchemaValidator(s.ToKubeOpenAPI(), nil, "", strfmt.Default)}
	}
	return out, nil
}

// FieldType gives the type that a field of a kind has in the kOps minor nearest
// to the version: string, boolean, int32, int64, integer, number, array, object
// or quantity. The path is dotted and leaves indices out:
// "spec.etcdClusters.etcdMembers.volumeIops". ok is false when kOps has no such
// field and would drop it.
func FieldType(version target.Version, kind, path string) (typ string, ok bool) {
	all, err := schemas[minorFor(version)]()
	if err != nil {
		panic(err) // embedded data, read by the tests
	}
	k, ok := all[kind]
	if !ok {
		return "", false
	}
	s := k.structural
	for name := range strings.SplitSeq(path, ".") {
		if s = child(s, name); s == nil {
			return "", false
		}
	}
	switch {
	case s.XIntOrString:
		return "quantity", true
	case s.ValueValidation != nil && (s.ValueValidation.Format == "int32" || s.ValueValidation.Format == "int64"):
		return s.ValueValidation.Format, true
	}
	return s.Type, true
}

// child steps from a schema to that of a field, through a list's items; nil
// when there is none.
func child(s *structural.Structural, name string) *structural.Structural {
	for s.Items != nil {
		s = s.Items
	}
	if p, ok := s.Properties[name]; ok {
		return &p
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Structural
	}
	return nil
}

// at walks a path as upstream reports it ("spec.etcdClusters[0].name") and gives
// the schema it ends at; nil when there is none.
func at(s *structural.Structural, path string) *structural.Structural {
	for _, step := range steps(path) {
		if s == nil {
			return nil
		}
		if _, isIndex := index(step); isIndex {
			s = s.Items
			continue
		}
		s = child(s, step)
	}
	return s
}

// steps splits a path into field names and bracketed indices.
func steps(path string) []string {
	var out []string
	for part := range strings.SplitSeq(path, ".") {
		for i := strings.IndexByte(part, '['); i >= 0; i = strings.IndexByte(part, '[') {
			if i > 0 {
				out = append(out, part[:i])
			}
			end := strings.IndexByte(part, ']')
			if end < i {
				break
			}
			out = append(out, part[i:end+1])
			part = part[end+1:]
		}
		if part != "" {
			out = append(out, part)
		}
	}
	return out
}

// index reads a step of the form [3].
func index(step string) (int, bool) {
	if !strings.HasPrefix(step, "[") || !strings.HasSuffix(step, "]") {
		return 0, false
	}
	n, err := strconv.Atoi(step[1 : len(step)-1])
	return n, err == nil && n >= 0
}
