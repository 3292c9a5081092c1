package kops

import (
	"fmt"
	"strings"

	kyaml "sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/yamltext"
)

// stream is a user's documents: read, for what the plan depends on, and never
// written back from what was read.
type stream struct {
	documents []document
	// cluster is the index of the Cluster that the plan is for.
	cluster int
}

// document is one of them with its decoded value.
type document struct {
	text  yamltext.Document
	kind  string
	value map[string]any
}

// sub reads a nested mapping; absent or of another type it reads as empty.
func sub(m map[string]any, names ...string) map[string]any {
	for _, name := range names {
		m, _ = m[name].(map[string]any)
	}
	return m
}

// str reads a string; absent or of another type it reads as "".
func str(m map[string]any, name string) string {
	s, _ := m[name].(string)
	return s
}

// mappings reads a list of mappings.
func mappings(m map[string]any, name string) []map[string]any {
	list, _ := m[name].([]any)
	var out []map[string]any
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// texts reads a list of strings.
func texts(m map[string]any, name string) []string {
	list, _ := m[name].([]any)
	var out []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func (d document) spec() map[string]any { return sub(d.value, "spec") }
func (d document) name() string         { return str(sub(d.value, "metadata"), "name") }

// readStream splits and decodes the documents, and finds the Cluster: the only
// one, or the one with the plan's name.
func readStream(existing []byte, p *plan.Plan) (*stream, error) {
	s := &stream{cluster: -1}
	var clusters []string
	for _, text := range yamltext.Split(existing) {
		d := document{text: text}
		if !text.Blank() {
			if err := kyaml.Unmarshal(text.Text, &d.value); err != nil {
				return nil, fmt.Errorf("the document that begins on line %d: %w", text.Line, err)
			}
		}
		group, version, _ := strings.Cut(str(d.value, "apiVersion"), "/")
		if group == "kops.k8s.io" || group == "kops" {
			d.kind = str(d.value, "kind")
		}
		if d.kind == "Cluster" {
			if version != "v1alpha2" {
				return nil, fmt.Errorf("line %d: the Cluster is of %s, and kOps stores and writes v1alpha2", text.Line, version)
			}
			clusters = append(clusters, d.name())
			if s.cluster < 0 || d.name() == p.Name || d.name() == p.KopsClusterName() {
				s.cluster = len(s.documents)
			}
		}
		s.documents = append(s.documents, d)
	}
	switch {
	case s.cluster < 0:
		return nil, fmt.Errorf("there is no Cluster of kops.k8s.io among the documents")
	case len(clusters) > 1 && s.documents[s.cluster].name() != p.Name && s.documents[s.cluster].name() != p.KopsClusterName():
		return nil, fmt.Errorf("there are several Clusters (%s), and none is named %s as the plan is", strings.Join(clusters, ", "), p.Name)
	}
	return s, nil
}

// ClusterName is the name of the Cluster that a plan of the given name is for:
// the only one of the documents, or the one called so. An error means that the
// documents cannot be read, or that none can be told.
func ClusterName(existing []byte, name string) (string, error) {
	s, err := readStream(existing, &plan.Plan{Name: name})
	if err != nil {
		return "", err
	}
	if found := s.documents[s.cluster].name(); found != "" {
		return found, nil
	}
	return "", fmt.Errorf("line %d: the Cluster has no metadata.name", s.documents[s.cluster].text.Line)
}

// groups are the InstanceGroups of the Cluster.
func (s *stream) groups() []document {
	var out []document
	for _, d := range s.documents {
		label := str(sub(d.value, "metadata", "labels"), clusterLabel)
		if d.kind == "InstanceGroup" && (label == "" || label == s.documents[s.cluster].name()) {
			out = append(out, d)
		}
	}
	return out
}

// withRole are the Cluster's groups of a role.
func (s *stream) withRole(roles ...string) []document {
	var out []document
	for _, g := range s.groups() {
		for _, role := range roles {
			if str(g.spec(), "role") == role {
				out = append(out, g)
			}
		}
	}
	return out
}
