package check

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/internal/finding"
)

// argsFields are the fields of kubeadm's configuration that hold arguments.
var argsFields = []string{
	"apiServer.extraArgs", "controllerManager.extraArgs", "scheduler.extraArgs", "etcd.local.extraArgs",
	"nodeRegistration.kubeletExtraArgs",
}

// newInV1Beta4 are fields that v1beta3 has not, and movedInV1Beta4 those that
// v1beta4 has elsewhere, so that converting them is not worth it.
var (
	newInV1Beta4 = []string{
		"apiServer.extraEnvs", "controllerManager.extraEnvs", "scheduler.extraEnvs", "etcd.local.extraEnvs", "dns.disabled",
		"proxy", "certificateValidityPeriod", "caCertificateValidityPeriod", "encryptionAlgorithm", "timeouts", "dryRun",
		"nodeRegistration.imagePullSerial", "etcd.external.httpEndpoints",
	}
	movedInV1Beta4 = []string{"apiServer.timeoutForControlPlane", "discovery.timeout"}
)

// convertV1Beta3 makes a v1beta4 document of a v1beta3 one, for which this
// program's kubeadm has no codec: arguments become lists. It reports whether
// there is a document to go on with.
func (c *checker) convertV1Beta3(f *kubeadmFile, d *document) bool {
	f.mapping = true
	if _, err := kyaml.YAMLToJSON(d.bytes()); err != nil {
		c.typeFinding(d, err.Error())
		return false
	}
	budget := maxClone
	root := clone(d.node(), 0, &budget)
	whole := &document{root: root, parsed: true}
	for _, twice := range d.text.Duplicates(d.node()) {
		c.duplicate(d, twice.Path, twice.Line)
	}
	for _, field := range newInV1Beta4 {
		if whole.field(strings.Split(field, ".")...) != nil {
			c.at(d, field, finding.Finding{
				Code: "unknown-field", Severity: finding.Error,
				Message: "v1beta3 has no field " + field, Fix: "use v1beta4",
			})
		}
	}
	for _, field := range movedInV1Beta4 {
		remove(whole, field)
	}
	ok := true
	for _, field := range argsFields {
		n := whole.field(strings.Split(field, ".")...)
		switch {
		case n == nil:
		case n.Kind != yaml.MappingNode:
			ok = false
			c.at(d, field, finding.Finding{
				Code: "kubeadm-args-list", Severity: finding.Error,
				Message: "v1beta3 takes arguments as a mapping of name to value, not as a list",
				Fix:     "write NAME: VALUE for each, or use v1beta4",
			})
		default:
			listArgs(n)
		}
	}
	return ok && c.convertTo(d, root)
}

// convertTo gives the document a converted form in v1beta4 to decode.
func (c *checker) convertTo(d *document, root *yaml.Node) bool {
	root.Content = append([]*yaml.Node{text("apiVersion"), text(kubeadmGroup + "/v1beta4")}, withoutKey(root, "apiVersion")...)
	data, err := yaml.Marshal(root)
	if err != nil {
		c.at(d, "", finding.Finding{Code: "not-decodable", Severity: finding.Error, Message: fmt.Sprintf("cannot be converted to v1beta4: %v", err)})
		return false
	}
	d.data, d.decodable, d.apiVersion = data, nil, kubeadmGroup+"/v1beta4"
	return true
}

func text(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

// withoutKey is a mapping's content without a key.
func withoutKey(n *yaml.Node, key string) []*yaml.Node {
	var kept []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != key {
			kept = append(kept, n.Content[i], n.Content[i+1])
		}
	}
	return kept
}

func remove(d *document, field string) {
	parts := strings.Split(field, ".")
	if parent := d.field(parts[:len(parts)-1]...); parent != nil && parent.Kind == yaml.MappingNode {
		parent.Content = withoutKey(parent, parts[len(parts)-1])
	}
}

// listArgs turns a mapping of arguments into a list of names and values.
func listArgs(n *yaml.Node) {
	var items []*yaml.Node
	for pair := range slices.Chunk(n.Content, 2) {
		if len(pair) < 2 {
			break
		}
		items = append(items, &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{text("name"), text(pair[0].Value), text("value"), pair[1]}})
	}
	*n = yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: items}
}

// maxClone and maxDepth bound a copy in nodes and in levels: aliases may stand
// for ever more of them.
const (
	maxClone = 100_000
	maxDepth = 100
)

// clone copies a node tree, with what aliases stand for in their place. What
// is beyond the bounds is left out.
func clone(n *yaml.Node, depth int, budget *int) *yaml.Node {
	if *budget--; n == nil || *budget < 0 || depth > maxDepth {
		return text("")
	}
	if n.Kind == yaml.AliasNode {
		return clone(n.Alias, depth+1, budget)
	}
	copied := *n
	copied.Anchor, copied.Alias, copied.Content = "", nil, nil
	for _, child := range n.Content {
		if *budget < 0 {
			break
		}
		copied.Content = append(copied.Content, clone(child, depth+1, budget))
	}
	if copied.Kind == yaml.MappingNode && len(copied.Content)%2 == 1 {
		copied.Content = append(copied.Content, text(""))
	}
	return &copied
}
