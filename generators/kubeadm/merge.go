package kubeadm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	kyaml "sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/generators"
	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/pattern"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/yamltext"
)

// Merge puts the plan into the configuration of a cluster that runs, and leaves
// every other byte as it is: fields, arguments, comments, order. Arguments,
// variables and volumes are told apart by their name; the plan's win, except
// where a capacity of the cluster's is larger. What kubeadm decides once, such as
// version, endpoint and networks, stays. Each change is a finding, and a value of
// the cluster's that is replaced or kept is one with both values.
//
// An error means that a document cannot be edited.
func (p *Present) Merge(pl *plan.Plan) ([]byte, []finding.Finding, error) {
	m := &merger{present: p, plan: pl}
	m.compare()
	wants, err := m.wants()
	if err != nil {
		return nil, nil, err
	}
	texts := make([][]byte, len(p.documents))
	for i, d := range p.documents {
		texts[i] = d.text.Text
		if want := wants[d.kind]; len(want) > 0 {
			result, err := d.text.Apply(want)
			if err != nil {
				return nil, nil, fmt.Errorf("the %s: %w", d.kind, err)
			}
			m.report(d.kind, result)
			texts[i] = result.Text
		}
	}
	finding.Sort(m.findings)
	return yamltext.Join(texts), m.findings, nil
}

// merger is one merge.
type merger struct {
	present  *Present
	plan     *plan.Plan
	findings []finding.Finding
}

func (m *merger) say(f finding.Finding) { m.findings = append(m.findings, f) }

// wants gives what the plan wants of each kind of document.
func (m *merger) wants() (map[string]map[string]any, error) {
	cluster, err := asWanted(ClusterConfiguration(m.plan))
	if err != nil {
		return nil, err
	}
	for _, once := range []string{"kubernetesVersion", "controlPlaneEndpoint", "networking"} {
		delete(cluster, once)
	}
	m.etcd(cluster)
	for _, component := range []string{"apiServer", "controllerManager", "scheduler"} {
		m.component(cluster, component)
	}
	prune(cluster)
	wants := map[string]map[string]any{"ClusterConfiguration": cluster}
	config := controlplane.KubeletConfig(m.plan)
	if config == nil {
		return wants, nil
	}
	if m.present.find("KubeletConfiguration") == nil {
		m.say(finding.Finding{
			Code: "kubeadm-kubelet-missing", Severity: finding.Warning, Path: "KubeletConfiguration",
			Message: "the plan changes the kubelets, and there is no KubeletConfiguration among the documents, so none is merged",
			Fix:     "add the one from the ConfigMap kubelet-config in kube-system",
		})
		return wants, nil
	}
	kubelet, err := asWanted(config)
	if err != nil {
		return nil, err
	}
	m.keepCapacities("KubeletConfiguration", kubelet, m.present.find("KubeletConfiguration").value)
	for name, value := range kubelet {
		if text, ok := value.(string); ok {
			if _, err := time.ParseDuration(text); err == nil {
				kubelet[name] = yamltext.Duration(text)
			}
		}
	}
	prune(kubelet)
	wants["KubeletConfiguration"] = kubelet
	return wants, nil
}

// asWanted turns a configuration of ours into wanted values: what it leaves
// unset is not wanted, and its lists add to those that are there.
func asWanted(config any) (map[string]any, error) {
	data, err := generators.Configs(config)
	if err != nil {
		return nil, err
	}
	var value map[string]any
	if err := kyaml.Unmarshal(data, &value); err != nil {
		return nil, err
	}
	delete(value, "apiVersion")
	delete(value, "kind")
	return wanted(value).(map[string]any), nil
}

func wanted(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = wanted(value)
		}
	case []any:
		named := yamltext.Keyed{Key: "name"}
		var set yamltext.Set
		for _, item := range v {
			if text, ok := item.(string); ok {
				set.Items = append(set.Items, text)
			} else if entry, ok := item.(map[string]any); ok {
				named.Items = append(named.Items, wanted(entry).(map[string]any))
			}
		}
		if len(set.Items) > 0 {
			return set
		}
		return named
	case float64:
		return int64(v)
	}
	return v
}

// prune takes out what became empty, which would be written as such.
func prune(want map[string]any) {
	for key, value := range want {
		empty := false
		switch v := value.(type) {
		case map[string]any:
			prune(v)
			empty = len(v) == 0
		case yamltext.Keyed:
			empty = len(v.Items) == 0
		case yamltext.Set:
			empty = len(v.Items) == 0
		}
		if empty {
			delete(want, key)
		}
	}
}

// report turns the edit's changes and refusals into findings.
func (m *merger) report(kind string, r yamltext.Result) {
	for _, c := range r.Changes {
		f := finding.Finding{
			Code: "kubeadm-changed", Severity: finding.Info, Path: kind + "." + m.present.named(kind, c.Path),
			Message: "is new: " + brief(c.New),
		}
		switch {
		case unset(c.Old):
		case extends(c.New, c.Old):
			f.Message = fmt.Sprintf("is now %s; it was %s", brief(c.New), brief(c.Old))
		default:
			f.Code, f.Severity = "kubeadm-replaced", finding.Warning
			f.Message = fmt.Sprintf("is now %s; your own value was %s", brief(c.New), brief(c.Old))
			f.Fix = "see that nothing depends on the former value"
		}
		m.say(f)
	}
	for _, refused := range r.Refused {
		m.say(finding.Finding{
			Code: "kubeadm-merge-refused", Severity: finding.Error, Path: kind + "." + refused.Path,
			Message: "left as it is: " + refused.Reason,
			Fix:     "write the value out where it stands, and merge again",
		})
	}
}

// unset reports whether a value reads as not given: kubeadm writes the kubelet's
// durations as 0s where nobody set them.
func unset(v any) bool { return v == nil || v == "" || v == "0s" || v == float64(0) }

// extends reports whether a list argument has all entries that it had.
func extends(now, old any) bool {
	n, ok := now.(string)
	o, was := old.(string)
	if !ok || !was {
		return false
	}
	entries := strings.Split(n, ",")
	for entry := range strings.SplitSeq(o, ",") {
		if !slices.Contains(entries, entry) {
			return false
		}
	}
	return true
}

// entryPath is the path of an entry's value in a list of named entries.
var entryPath = pattern.Of(`^(.+)\[([0-9]+)\]\.value$`)

// named writes the path of a named entry's value with the name for the index.
func (p *Present) named(kind, path string) string {
	match := entryPath().FindStringSubmatch(path)
	if match == nil {
		return path
	}
	var value any = p.find(kind).value
	for step := range strings.SplitSeq(match[1], ".") {
		m, _ := value.(map[string]any)
		value = m[step]
	}
	list, _ := value.([]any)
	if i, err := strconv.Atoi(match[2]); err == nil && i < len(list) {
		entry, _ := list[i].(map[string]any)
		return fmt.Sprintf("%s[%v]", match[1], entry["name"])
	}
	return path
}

func brief(v any) string {
	if m, ok := v.(map[string]any); ok && m["name"] != nil && m["value"] != nil {
		return fmt.Sprintf("%v=%v", m["name"], m["value"])
	}
	text := yamltext.Inline(v)
	if len(text) > 120 {
		return strings.ToValidUTF8(text[:117], "") + "..."
	}
	return text
}
