package check

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

// judgeGateFlag judges the value of a --feature-gates flag.
func (c *checker) judgeGateFlag(p *process) {
	for _, a := range p.args {
		if !a.own || strings.ReplaceAll(a.name, "_", "-") != "feature-gates" {
			continue
		}
		for pair := range strings.SplitSeq(a.value, ",") {
			c.judgePair(p, a, strings.TrimSpace(pair))
		}
	}
}

// judgePair judges one GATE=VALUE of the flag. A program with several versions
// in it takes COMPONENT:GATE=VALUE too, where only kube is known here.
func (c *checker) judgePair(p *process, a arg, pair string) {
	name, value, ok := strings.Cut(pair, "=")
	if component, rest, scoped := strings.Cut(name, ":"); scoped {
		if component != "kube" {
			return
		}
		name = rest
	}
	on, err := strconv.ParseBool(value)
	switch {
	case pair == "":
	case !ok || err != nil:
		c.at(a.doc, a.valuePath, finding.Finding{
			Code: "flag-value", Severity: finding.Error,
			Message: fmt.Sprintf("--feature-gates has %q, which is not NAME=true or NAME=false", pair),
		})
	case p.component == target.Etcd:
		c.judgeEtcdGate(p, a, name)
	default:
		c.judgeGate(a.doc, a.valuePath, p.component, name, on)
	}
}

// judgeEtcdGate wants a gate to be one that the etcd of the pod has.
func (c *checker) judgeEtcdGate(p *process, a arg, name string) {
	version := c.etcdVersion(p)
	gates, ok := target.EtcdGates(version)
	if !ok {
		return // said of its flags
	}
	if _, ok := gates[name]; ok {
		return
	}
	f := finding.Finding{
		Code: "gate-unknown", Severity: finding.Error,
		Message: fmt.Sprintf("etcd %s has no feature gate %s and exits", version, name),
		Fix:     "remove it",
	}
	if near := nearestName(name, sortedKeys(gates)); near != "" {
		f.Fix = "write " + near
	}
	c.at(a.doc, a.valuePath, f)
}

// judgeGate judges one gate of a component.
func (c *checker) judgeGate(d *document, fieldPath, component, name string, on bool) {
	g, ok := target.FindGate(c.version(), name)
	def := g.DefaultIn(component)
	switch {
	case !ok || !g.In(component):
		c.at(d, fieldPath, c.unknownGate(component, name, ok))
	case g.Locked && on != def:
		c.at(d, fieldPath, finding.Finding{
			Code: "gate-locked", Severity: finding.Error,
			Message: fmt.Sprintf("%s is %s in Kubernetes %s and locked to %t: %s refuses to start with %t", name, g.Stage, c.version().Line(), def, component, on),
			Fix:     "remove it",
		})
	case g.Locked:
		c.at(d, fieldPath, finding.Finding{
			Code: "gate-no-effect", Severity: finding.Info,
			Message: fmt.Sprintf("%s is locked to %t in Kubernetes %s, and will be unknown in a later one", name, def, c.version().Line()),
			Fix:     "remove it",
		})
	case g.Stage == target.StageDeprecated:
		c.at(d, fieldPath, finding.Finding{
			Code: "gate-deprecated", Severity: finding.Warning,
			Message: fmt.Sprintf("%s is deprecated in Kubernetes %s", name, c.version().Line()),
			Fix:     "remove it before it is gone",
		})
	case g.Stage == target.StageAlpha && on:
		c.at(d, fieldPath, finding.Finding{
			Code: "gate-alpha", Severity: finding.Info,
			Message: fmt.Sprintf("%s is alpha in Kubernetes %s: it may change or go without notice", name, c.version().Line()),
		})
	}
}

func (c *checker) unknownGate(component, name string, elsewhere bool) finding.Finding {
	f := finding.Finding{
		Code: "gate-unknown", Severity: finding.Error,
		Message: fmt.Sprintf("%s %s has no feature gate %s and exits", component, c.version().Line(), name),
		Fix:     "remove it",
	}
	if elsewhere {
		f.Message += "; other components have it"
		return f
	}
	if minors := lines(target.GateMinors(name)); len(minors) > 0 {
		f.Code = "gate-not-in-version"
		f.Message += fmt.Sprintf("; it is there in Kubernetes %s", strings.Join(minors, ", "))
		return f
	}
	var names []string
	for _, g := range target.Gates(c.version()) {
		names = append(names, g.Name)
	}
	if near := nearestName(name, names); near != "" {
		f.Fix = "write " + near
	}
	return f
}
