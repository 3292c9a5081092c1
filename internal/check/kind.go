package check

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
	"github.com/kubeseams/seams/internal/yamltext"
)

const refKindMerge = "sigs.k8s.io/kind pkg/internal/patch/kubeadm_merge.go"

// kindVersions are the API versions of the kubeadm documents that kind patches.
var kindVersions = map[string]string{
	"ClusterConfiguration":   "kubeadm.k8s.io/v1beta4",
	"InitConfiguration":      "kubeadm.k8s.io/v1beta4",
	"JoinConfiguration":      "kubeadm.k8s.io/v1beta4",
	"KubeletConfiguration":   kubeletGroup + "/v1beta1",
	"KubeProxyConfiguration": kubeProxyGroup + "/v1alpha1",
}

// judgeKind judges a kind Cluster: decoded as strictly as kind does, and its
// patches held against the documents that kind writes for the nodes' version.
func (c *checker) judgeKind(d *document) {
	if d.apiVersion != "kind.x-k8s.io/v1alpha4" || d.kind != "Cluster" {
		c.unjudged(d)
		return
	}
	cluster := &v1alpha4.Cluster{}
	decoder := yaml.NewDecoder(bytes.NewReader(d.text.Text))
	decoder.KnownFields(true)
	if err := decoder.Decode(cluster); err != nil {
		c.kindDecode(d, err)
		return
	}
	c.kindCluster(d, cluster)
	version := c.kindNodeVersion(d, cluster)
	file := &kubeadmFile{name: d.file, partial: true}
	patches := d.field("kubeadmConfigPatches")
	c.kindPatches(file, d, "kubeadmConfigPatches", patches, version)
	if nodes := d.field("nodes"); nodes != nil {
		for i, node := range nodes.Content {
			at := fmt.Sprintf("nodes[%d].kubeadmConfigPatches", i)
			c.kindPatches(file, d, at, yamltext.Child(node, "kubeadmConfigPatches"), version)
		}
	}
	for _, name := range []string{"kubeadmConfigPatchesJSON6902", "containerdConfigPatches", "containerdConfigPatchesJSON6902"} {
		if d.field(name) != nil {
			c.at(d, name, finding.Finding{Code: "unjudged-field", Severity: finding.Warning, Message: name + " is not judged"})
		}
	}
	c.validateInit(file)
	c.addCluster(file)
}

// kindDecode places each of the decoder's errors.
func (c *checker) kindDecode(d *document, err error) {
	texts := []string{err.Error()}
	var typeError *yaml.TypeError
	if errors.As(err, &typeError) {
		texts = typeError.Errors
	}
	for _, text := range texts {
		f := finding.Finding{
			Code: "not-decodable", Severity: finding.Error, File: d.file,
			Line: d.text.Line - 1 + yamlLine(errors.New(text)), Message: linePattern().ReplaceAllString(text, ""),
		}
		switch {
		case strings.Contains(text, "not found in type"):
			f.Code = "unknown-field"
		case strings.Contains(text, "already defined") || strings.Contains(text, "already set"):
			f.Code = "duplicate-field"
		case strings.Contains(text, "cannot unmarshal"):
			f.Code = "wrong-type"
		}
		c.add(f)
	}
}

// kindCluster judges what kind validates before it makes a cluster.
func (c *checker) kindCluster(d *document, cluster *v1alpha4.Cluster) {
	invalid := func(fieldPath, format string, args ...any) {
		c.at(d, fieldPath, finding.Finding{
			Code: "kind-invalid", Severity: finding.Error, Message: fmt.Sprintf(format, args...),
			Ref: "sigs.k8s.io/kind pkg/internal/apis/config/validate.go",
		})
	}
	controlPlanes := 0
	for i, n := range cluster.Nodes {
		at := fmt.Sprintf("nodes[%d]", i)
		switch n.Role {
		case v1alpha4.ControlPlaneRole, "":
			controlPlanes++
		case v1alpha4.WorkerRole:
		default:
			invalid(at+".role", "%q is no role of a node", n.Role)
		}
		for j, m := range n.ExtraMounts {
			c.kindMount(d, fmt.Sprintf("%s.extraMounts[%d]", at, j), m)
		}
	}
	c.kindControlPlanes += max(controlPlanes, 1)
	if controlPlanes == 0 && len(cluster.Nodes) > 0 {
		invalid("nodes", "there must be at least one control-plane node")
	}
	for _, subnet := range []struct{ path, text string }{
		{"networking.podSubnet", cluster.Networking.PodSubnet}, {"networking.serviceSubnet", cluster.Networking.ServiceSubnet},
	} {
		for text := range strings.SplitSeq(subnet.text, ",") {
			if _, err := netip.ParsePrefix(text); err != nil && text != "" {
				invalid(subnet.path, "%q is no address range", text)
			}
		}
	}
}

// kindMount wants a file that a relative path names to be among the files.
func (c *checker) kindMount(d *document, at string, m v1alpha4.Mount) {
	if m.HostPath == "" || m.ContainerPath == "" {
		c.at(d, at, finding.Finding{Code: "kind-invalid", Severity: finding.Error, Message: "a mount needs hostPath and containerPath"})
		return
	}
	if path.IsAbs(m.HostPath) || c.existing {
		return
	}
	name := path.Join(path.Dir(d.file), m.HostPath)
	if !slices.ContainsFunc(c.names, func(n string) bool { return n == name || isBelow(n, name) }) {
		c.at(d, at+".hostPath", finding.Finding{
			Code: "kind-mount-missing", Severity: finding.Error,
			Message: fmt.Sprintf("%s is not among the files; Docker would make an empty directory of that name", m.HostPath),
		})
	}
}

// kindNodeVersion is the nodes' Kubernetes version, by the tag of their image
// where one is given.
func (c *checker) kindNodeVersion(d *document, cluster *v1alpha4.Cluster) target.Target {
	t := c.target
	for i, n := range cluster.Nodes {
		_, tag, ok := strings.Cut(n.Image, ":")
		if !ok {
			continue
		}
		tag, _, _ = strings.Cut(tag, "@")
		v, err := target.ParseVersion(tag)
		if err != nil {
			continue
		}
		t.Kubernetes = v
		if v.Line() != c.version().Line() {
			c.at(d, fmt.Sprintf("nodes[%d].image", i), finding.Finding{
				Code: "kind-image-version", Severity: finding.Warning,
				Message: fmt.Sprintf("the image has Kubernetes %s, and the files are judged for %s", v.Line(), c.version().Line()),
			})
		}
	}
	return t
}

// kindPatches judges a list of patches for kubeadm's documents.
func (c *checker) kindPatches(file *kubeadmFile, d *document, at string, list *yaml.Node, t target.Target) {
	if list == nil || list.Kind != yaml.SequenceNode {
		return
	}
	for i, n := range list.Content {
		if p := c.embedded(d, fmt.Sprintf("%s[%d]", at, i), n); p != nil {
			c.kindPatch(file, p, t)
		}
	}
}

// kindPatch judges one patch. kind gives a patch to the documents of its kind,
// and leaves one that fits none unused without a word.
func (c *checker) kindPatch(file *kubeadmFile, p *document, t target.Target) {
	version, ok := kindVersions[p.kind]
	if ok && strings.HasPrefix(version, kubeadmGroup) && !t.KindWritesV1Beta4() {
		version = kubeadmGroup + "/v1beta3"
	}
	switch {
	case !ok:
		c.at(p, "kind", finding.Finding{
			Code: "kind-patch-unused", Severity: finding.Error,
			Message: fmt.Sprintf("kind writes no document of kind %q, so that the patch is silently unused", p.kind),
			Fix:     "use one of " + strings.Join(sortedKeys(kindVersions), ", "), Ref: "sigs.k8s.io/kind pkg/internal/patch/resource.go",
		})
		return
	case p.apiVersion != "" && p.apiVersion != version:
		c.at(p, "apiVersion", finding.Finding{
			Code: "kind-patch-unused", Severity: finding.Error,
			Message: fmt.Sprintf("kind writes %s for nodes of Kubernetes %s, so that a patch for %s is silently unused", version, t.Kubernetes.Line(), p.apiVersion),
			Fix:     "leave apiVersion out", Ref: "sigs.k8s.io/kind pkg/internal/patch/resource.go",
		})
		return
	}
	c.kindDuplicates(p)
	switch {
	case strings.HasSuffix(version, "v1beta3"):
		if !c.convertV1Beta3(file, p) {
			return
		}
	case p.apiVersion == "" && hasMapArgs(p):
		// kind makes lists of mappings when a patch names no version.
		if !c.convertV1Beta3(file, p) {
			return
		}
	case p.apiVersion == "":
		p.decodable = nil
		p.apiVersion, p.data = version, append([]byte("apiVersion: "+version+"\n"), p.text.Text...)
	}
	if p.group() == kubeadmGroup {
		c.judgeKubeadmDocument(file, p)
		return
	}
	c.judgeDocument(p)
}

// hasMapArgs reports whether a patch gives arguments as a mapping.
func hasMapArgs(p *document) bool {
	return slices.ContainsFunc(argsFields, func(field string) bool {
		n := p.field(strings.Split(field, ".")...)
		return n != nil && n.Kind == yaml.MappingNode
	})
}

// kindDuplicates: kind merges arguments by name, so that of two with one name
// only the last is left.
func (c *checker) kindDuplicates(p *document) {
	for _, field := range argsFields {
		n := p.field(strings.Split(field, ".")...)
		if n == nil || n.Kind != yaml.SequenceNode {
			continue
		}
		seen := map[string]bool{}
		for i, item := range n.Content {
			name := yamltext.Scalar(yamltext.Child(item, "name"))
			if seen[name] {
				c.at(p, fmt.Sprintf("%s[%d]", field, i), finding.Finding{
					Code: "kind-duplicate-args", Severity: finding.Error,
					Message: fmt.Sprintf("kind keeps only the last of several arguments named %s", name),
					Fix:     "join the values with a comma in one argument", Ref: refKindMerge,
				})
			}
			seen[name] = true
		}
	}
}
