package kubeadm

import (
	"errors"
	"fmt"

	kyaml "sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/internal/yamltext"
)

// Present is the configuration of a cluster that runs, as kubeadm keeps it.
type Present struct {
	documents []present
	// Version is the ClusterConfiguration's kubernetesVersion, such as "v1.36.1".
	Version string
}

// present is one document with its decoded value.
type present struct {
	text  yamltext.Document
	kind  string
	value map[string]any
}

// ReadPresent reads what kubeadm keeps of a cluster: a ClusterConfiguration and
// a KubeletConfiguration, or the ConfigMaps kubeadm-config and kubelet-config
// that hold them, in one stream. An error means that they cannot be read, that
// one is there twice, or that there is no ClusterConfiguration of v1beta4.
func ReadPresent(stream []byte) (*Present, error) {
	p := &Present{}
	for _, text := range yamltext.Split(stream) {
		if text.Blank() {
			continue
		}
		if err := p.add(text); err != nil {
			return nil, fmt.Errorf("the document that begins on line %d: %w", text.Line, err)
		}
	}
	cluster := p.find("ClusterConfiguration")
	if cluster == nil {
		return nil, errors.New("there is no ClusterConfiguration among the documents: take it from the ConfigMap kubeadm-config in kube-system")
	}
	p.Version, _ = cluster.value["kubernetesVersion"].(string)
	return p, nil
}

// add takes a document in, or those that a ConfigMap holds.
func (p *Present) add(text yamltext.Document) error {
	d := present{text: text}
	if err := kyaml.UnmarshalStrict(text.Text, &d.value); err != nil {
		return err
	}
	d.kind, _ = d.value["kind"].(string)
	version, _ := d.value["apiVersion"].(string)
	switch {
	case d.kind == "List" && version == "v1":
		items, _ := d.value["items"].([]any)
		for _, item := range items {
			config, _ := item.(map[string]any)
			if err := p.unwrap(config); err != nil {
				return err
			}
		}
		return nil
	case d.kind == "ConfigMap" && version == "v1":
		return p.unwrap(d.value)
	case d.kind == "ClusterConfiguration" && version != typeMeta("").APIVersion:
		return fmt.Errorf("the ClusterConfiguration is of %s: bring it to %s with \"kubeadm config migrate\"", version, typeMeta("").APIVersion)
	}
	if p.find(d.kind) != nil {
		return fmt.Errorf("there is a second %s", d.kind)
	}
	p.documents = append(p.documents, d)
	return nil
}

// unwrap takes in the documents that one of kubeadm's ConfigMaps holds.
func (p *Present) unwrap(config map[string]any) error {
	data, _ := config["data"].(map[string]any)
	found := false
	for _, key := range []string{"ClusterConfiguration", "kubelet"} {
		text, ok := data[key].(string)
		if !ok {
			continue
		}
		found = true
		if err := p.add(yamltext.Document{Text: []byte(text), Line: 1}); err != nil {
			return fmt.Errorf("data.%s: %w", key, err)
		}
	}
	if !found {
		return errors.New("the ConfigMap holds neither data.ClusterConfiguration nor data.kubelet")
	}
	return nil
}

func (p *Present) find(kind string) *present {
	for i := range p.documents {
		if p.documents[i].kind == kind {
			return &p.documents[i]
		}
	}
	return nil
}

// Documents are the cluster's documents as Merge would write them with nothing
// to merge: those of ConfigMaps taken out.
func (p *Present) Documents() []byte {
	texts := make([][]byte, len(p.documents))
	for i, d := range p.documents {
		texts[i] = d.text.Text
	}
	return yamltext.Join(texts)
}
