package kops

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubeseams/seams/generators"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/yamltext"
)

// Merge puts the plan into a user's own documents, such as "kops get all -o
// yaml" writes. It sets the fields that the plan wants, adds the etcd clusters
// and the instance group that are missing, and leaves every other byte as it is:
// fields, comments, order and layout. With nothing to change the documents come
// back unchanged, and so does what Merge itself returned.
//
// Each change is a finding, and so is each that cannot be made, such as one
// behind an alias. additional is the second stream, of objects that "kops replace"
// does not take; plans have none so far. An error means that the documents
// cannot be read as kOps reads them, or have no Cluster.
func Merge(existing []byte, p *plan.Plan) (merged, additional []byte, findings []finding.Finding, err error) {
	s, err := readStream(existing, p)
	if err != nil {
		return nil, nil, nil, err
	}
	m := &merger{stream: s, existing: existing}
	m.look(p)
	if merged, err = m.apply(); err != nil {
		return nil, nil, nil, err
	}
	finding.Sort(m.findings)
	return merged, nil, m.findings, nil
}

// merger is one merge.
type merger struct {
	*stream
	existing []byte
	plan     *plan.Plan
	wanted   wanted
	findings []finding.Finding
}

func (m *merger) say(f finding.Finding) { m.findings = append(m.findings, f) }

func (m *merger) clusterSpec() map[string]any { return m.documents[m.cluster].spec() }

// look reads what the plan wants for the cloud and version the documents are of,
// and says where the two disagree.
func (m *merger) look(p *plan.Plan) {
	own := *p
	m.plan = &own
	spec := m.clusterSpec()
	if cloud := strings.ToLower(str(spec, "cloudProvider")); cloud != "" && cloud != own.Target.Cloud {
		m.say(finding.Finding{
			Code: "kops-cloud-differs", Severity: finding.Info, Path: "spec.cloudProvider",
			Message: fmt.Sprintf("the plan is for %s and the Cluster on %s: the Cluster's cloud decides", own.Target.Cloud, cloud),
		})
		own.Target.Cloud = cloud
	}
	if dns := str(sub(spec, "topology", "dns"), "type"); dns != "" {
		own.Target.DNSNone = strings.EqualFold(dns, "None")
	}
	if v := strings.TrimPrefix(str(spec, "kubernetesVersion"), "v"); v != "" && !strings.HasPrefix(v+".", own.Target.Kubernetes.Line()+".") {
		m.say(finding.Finding{
			Code: "kops-kubernetes-differs", Severity: finding.Warning, Path: "spec.kubernetesVersion",
			Message: fmt.Sprintf("the Cluster runs Kubernetes %s and the plan is for %s: its flags and gates may differ", v, own.Target.Kubernetes),
			Fix:     "set the profile's kubernetes to the Cluster's version",
		})
	}
	var fs []finding.Finding
	m.wanted, fs = wants(m.plan)
	m.findings = append(m.findings, fs...)
	if have := len(m.withRole("Master", "ControlPlane")); have > 0 && have != len(controlPlanes(m.plan)) {
		m.say(finding.Finding{
			Code: "kops-control-plane-count", Severity: finding.Info, Path: "spec.etcdClusters",
			Message: fmt.Sprintf("the plan counts %d control-plane machines and the documents have %d instance groups of them: those stay", len(controlPlanes(m.plan)), have),
		})
	}
	m.groupOverrides()
}

// groupOverrides finds instance groups whose own kubelet settings hide the Cluster's.
func (m *merger) groupOverrides() {
	want, _ := m.wanted.spec["kubelet"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		hides := func(where string, have map[string]any) {
			if v, ok := have[name]; ok && !yamltext.Satisfied(v, want[name]) {
				m.say(finding.Finding{
					Code: "kops-kubelet-hidden", Severity: finding.Warning, Path: where + "." + name,
					Message: fmt.Sprintf("this value (%v) hides the Cluster's, which the plan wants to be %v", v, want[name]),
					Fix:     "remove it, or see that it is meant",
				})
			}
		}
		hides("spec.masterKubelet", sub(m.clusterSpec(), "masterKubelet"))
		for _, g := range m.groups() {
			hides("InstanceGroup "+g.name()+" spec.kubelet", sub(g.spec(), "kubelet"))
		}
	}
}

// apply edits the Cluster's text and puts what is new after the last document.
func (m *merger) apply() ([]byte, error) {
	spec := maps.Clone(m.wanted.spec)
	m.keepCapacities(spec)
	if etcd, ok := m.etcd(); ok {
		spec["etcdClusters"] = etcd
	}
	if own := m.ownOverrides(); len(own.Items) > 0 {
		block := map[string]any{}
		if b, ok := spec[apiserver.block].(map[string]any); ok {
			block = maps.Clone(b)
		}
		block["etcdServersOverrides"] = own
		spec[apiserver.block] = block
	}
	doc := m.documents[m.cluster].text
	result, err := doc.Apply(map[string]any{"spec": spec})
	if err != nil {
		return nil, fmt.Errorf("the Cluster that begins on line %d: %w", doc.Line, err)
	}
	m.report(result)
	out := slices.Concat(m.existing[:doc.Offset], result.Text, m.existing[doc.Offset+len(doc.Text):])
	group, err := m.apiserverGroup()
	if err != nil || group == nil {
		return out, err
	}
	return m.append(out, group), nil
}

// report turns the edit's changes and refusals into findings.
func (m *merger) report(r yamltext.Result) {
	for _, c := range r.Changes {
		f := finding.Finding{Code: "kops-changed", Severity: finding.Info, Line: c.Line, Path: c.Path}
		if f.Message = fmt.Sprintf("is now %s; it was %s", brief(c.New), brief(c.Old)); c.Old == nil {
			f.Message = "is new: " + brief(c.New)
		}
		if now, ok := number(c.New); ok {
			if was, ok := number(c.Old); ok && was > now {
				f.Code, f.Severity = "kops-lowered", finding.Warning
				f.Fix = "see that it is meant, and that nothing depends on the former value"
			}
		}
		m.say(f)
	}
	for _, refused := range r.Refused {
		m.say(finding.Finding{
			Code: "kops-merge-refused", Severity: finding.Error, Line: refused.Line, Path: refused.Path,
			Message: "left as it is: " + refused.Reason,
			Fix:     "write the value out where it stands, and merge again",
		})
	}
}

// brief writes a value on one line that a message can carry.
func brief(v any) string {
	if m, ok := v.(map[string]any); ok && m["etcdMembers"] != nil {
		return fmt.Sprintf("the etcd cluster %v", m["name"])
	}
	if text := yamltext.Inline(v); len(text) <= 80 {
		return text
	}
	return fmt.Sprintf("%.77s...", yamltext.Inline(v))
}

// apiserverGroup is the instance group to add for apiservers on machines of
// their own; nil when there is one already, or none is wanted.
func (m *merger) apiserverGroup() ([]byte, error) {
	if m.wanted.apiservers == 0 || len(m.withRole("APIServer")) > 0 {
		return nil, nil
	}
	n := m.wanted.apiservers
	spec := groupSpec{MaxSize: n, MinSize: n, Role: "APIServer"}
	for _, g := range m.withRole("Master", "ControlPlane") {
		spec.MachineType = str(g.spec(), "machineType")
		spec.Image = str(g.spec(), "image")
		spec.RootVolumeType = str(g.spec(), "rootVolumeType")
		spec.Subnets = append(spec.Subnets, texts(g.spec(), "subnets")...)
		spec.Zones = append(spec.Zones, texts(g.spec(), "zones")...)
	}
	if len(spec.Subnets) == 0 {
		for _, s := range mappings(m.clusterSpec(), "subnets") {
			if str(s, "type") != "Utility" {
				spec.Subnets = append(spec.Subnets, str(s, "name"))
			}
		}
	}
	slices.Sort(spec.Subnets)
	slices.Sort(spec.Zones)
	spec.Subnets, spec.Zones = slices.Compact(spec.Subnets), slices.Compact(spec.Zones)
	name := "apiservers"
	for i := 2; slices.ContainsFunc(m.groups(), func(g document) bool { return g.name() == name }); i++ {
		name = fmt.Sprintf("apiservers-%d", i)
	}
	m.say(finding.Finding{
		Code: "kops-changed", Severity: finding.Info, Path: "InstanceGroup " + name,
		Message: fmt.Sprintf("is new: %d apiservers on machines of their own, like those of the control plane", n),
	})
	return generators.Objects(instanceGroup(m.documents[m.cluster].name(), name, spec))
}

// append puts a document after the last one, with the stream's line breaks.
func (m *merger) append(stream, doc []byte) []byte {
	newline := []byte("\n")
	if bytes.Contains(stream, []byte("\r\n")) {
		newline = []byte("\r\n")
		doc = bytes.ReplaceAll(doc, []byte("\n"), newline)
	}
	if len(stream) > 0 && stream[len(stream)-1] != '\n' {
		stream = append(stream, newline...)
	}
	if last := m.documents[len(m.documents)-1]; !last.text.Blank() || len(last.text.Text) > 0 {
		stream = slices.Concat(stream, []byte("---"), newline)
	}
	return append(stream, doc...)
}
