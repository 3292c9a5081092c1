package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// kinds are the kinds whose schemas are used, with the file each is kept in.
var kinds = []struct{ kind, file string }{
	{"Cluster", "clusters.yaml"},
	{"InstanceGroup", "instancegroups.yaml"},
}

// schema is the part of a structural schema that kOps' definitions use.
type schema struct {
	Type                 string             `json:"type,omitempty"`
	Format               string             `json:"format,omitempty"`
	Pattern              string             `json:"pattern,omitempty"`
	Default              any                `json:"default,omitempty"`
	Required             []string           `json:"required,omitempty"`
	Properties           map[string]*schema `json:"properties,omitempty"`
	AdditionalProperties *schema            `json:"additionalProperties,omitempty"`
	Items                *schema            `json:"items,omitempty"`
	AnyOf                []*schema          `json:"anyOf,omitempty"`
	IntOrString          bool               `json:"x-kubernetes-int-or-string,omitempty"`
	ListType             string             `json:"x-kubernetes-list-type,omitempty"`
	MapType              string             `json:"x-kubernetes-map-type,omitempty"`
	// Description is read so that it can be left out.
	Description string `json:"description,omitempty"`
}

// release is one kOps release and the schemas of its kinds.
type release struct {
	// version is X.Y.Z.
	version string
	schemas map[string]*schema
}

// packageName is vX_Y, which names the CUE package and the data file.
func (r release) packageName() string {
	parts := strings.SplitN(r.version, ".", 3)
	return "v" + parts[0] + "_" + parts[1]
}

// readReleases reads the copies kept in dir, oldest release first.
func readReleases(dir string) ([]release, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var releases []release
	for _, e := range entries {
		r := release{version: strings.TrimPrefix(e.Name(), "v"), schemas: map[string]*schema{}}
		for _, k := range kinds {
			path := filepath.Join(dir, e.Name(), k.file+".gz")
			packed, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			text, err := unpack(packed)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			if r.schemas[k.kind], err = parseCRD(text, k.kind); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		releases = append(releases, r)
	}
	return releases, nil
}

// parseCRD takes the v1alpha2 schema out of a definition. A construct that is
// not known here is an error, so that none is dropped in silence.
func parseCRD(text []byte, kind string) (*schema, error) {
	var crd struct {
		Spec struct {
			Names    struct{ Kind string }
			Versions []struct {
				Name   string
				Schema struct{ OpenAPIV3Schema json.RawMessage }
			}
		}
	}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return nil, err
	}
	if crd.Spec.Names.Kind != kind {
		return nil, fmt.Errorf("defines %q, want %s", crd.Spec.Names.Kind, kind)
	}
	for _, v := range crd.Spec.Versions {
		if v.Name != "v1alpha2" {
			continue
		}
		var s schema
		decoder := json.NewDecoder(bytes.NewReader(v.Schema.OpenAPIV3Schema))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&s); err != nil {
			return nil, fmt.Errorf("schema of v1alpha2: %w", err)
		}
		s.stripDescriptions()
		return &s, nil
	}
	return nil, fmt.Errorf("has no version v1alpha2")
}

func (s *schema) stripDescriptions() {
	if s == nil {
		return
	}
	s.Description = ""
	s.Items.stripDescriptions()
	s.AdditionalProperties.stripDescriptions()
	for _, p := range s.Properties {
		p.stripDescriptions()
	}
}

// importCRDs keeps compressed copies of the definitions below from.
func importCRDs(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		for _, k := range kinds {
			text, err := os.ReadFile(filepath.Join(from, e.Name(), k.file))
			if err != nil {
				return err
			}
			if _, err := parseCRD(text, k.kind); err != nil {
				return fmt.Errorf("%s/%s: %w", e.Name(), k.file, err)
			}
			packed, err := pack(text)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(filepath.Join(to, e.Name()), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(to, e.Name(), k.file+".gz"), packed, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// compact is the form the checker embeds: both schemas in one compressed JSON object.
func (r release) compact() ([]byte, error) {
	data, err := json.Marshal(struct {
		Version string             `json:"version"`
		Schemas map[string]*schema `json:"schemas"`
	}{r.version, r.schemas})
	if err != nil {
		return nil, err
	}
	return pack(data)
}

// pack compresses without a name or a time, so that the same data gives the same bytes.
func pack(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
