package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

// flagTable gives the flags of a process's program; ok is false when they are
// not known.
func (c *checker) flagTable(p *process) (table *target.FlagTable, ok bool) {
	if p.component == target.Etcd {
		return target.EtcdFlags(c.etcdVersion(p))
	}
	return target.Flags(c.versionOf(p), p.component)
}

// etcdVersion is the tag of an etcd's image, or what kubeadm would run.
func (c *checker) etcdVersion(p *process) string {
	tag := p.image[strings.LastIndexByte(p.image, '/')+1:]
	tag, _, _ = strings.Cut(tag, "@")
	if _, version, ok := strings.Cut(tag, ":"); ok && strings.Contains(version, ".") {
		return version
	}
	return target.EtcdVersion(c.version())
}

// unknownFlags says that the flags of a process's program are not known, once
// for each program.
func (c *checker) unknownFlags(p *process) {
	what := p.component + " " + c.version().Line()
	switch {
	case p.component == target.Etcd:
		what = "etcd " + c.etcdVersion(p)
	case c.existing:
		what = "Kubernetes " + c.version().Line() // of old clusters one word is enough
	}
	if c.missing[what] {
		return
	}
	c.missing[what] = true
	c.at(p.doc, p.path, finding.Finding{
		Code: "flags-not-checked", Severity: finding.Warning,
		Message: fmt.Sprintf("the flags of %s are not known here, so that none of its arguments is judged by name or value", what),
	})
}

// judgeFlags judges the arguments of a process one by one.
func (c *checker) judgeFlags(p *process) {
	table, known := c.flagTable(p)
	if !known {
		c.unknownFlags(p)
		return
	}
	seen := map[string]arg{}
	for _, a := range p.args {
		if !a.own {
			seen[a.name] = a
			continue
		}
		f, ok := c.judgeName(p, table, a)
		if !ok {
			continue
		}
		c.judgeValue(p, f, a)
		if first, twice := seen[f.Name]; twice {
			c.judgeRepeated(f, first, a)
		}
		seen[f.Name] = a
	}
}

// judgeName finds the flag an argument means; ok is false when there is none.
func (c *checker) judgeName(p *process, table *target.FlagTable, a arg) (target.Flag, bool) {
	f, ok := table.Find(a.name)
	switch {
	case a.stray:
		c.at(a.doc, a.path, finding.Finding{
			Code: "flag-stray-argument", Severity: finding.Error,
			Message: fmt.Sprintf("%s takes no arguments besides flags and refuses %q", p.component, a.name),
			Fix:     "write --NAME=VALUE in one word",
		})
		return f, false
	case strings.HasPrefix(a.name, "-"):
		c.at(a.doc, a.namePath, finding.Finding{
			Code: "flag-leading-dashes", Severity: finding.Error,
			Message: fmt.Sprintf("the name is written with dashes, which would make it --%s", a.name),
			Fix:     "write " + strings.TrimLeft(a.name, "-"),
			Ref:     "https://github.com/kubernetes/kubeadm/issues/1690",
		})
		return f, false
	case a.name == "":
		return f, false // kubeadm's validation says so
	case !ok:
		c.unknownFlag(p, table, a)
		return f, false
	case f.Deprecated != "":
		c.at(a.doc, a.namePath, finding.Finding{
			Code: "flag-deprecated", Severity: finding.Warning,
			Message: fmt.Sprintf("--%s of %s is deprecated: %s", f.Name, p.component, f.Deprecated),
			Fix:     "remove it",
		})
	}
	return f, true
}

func (c *checker) unknownFlag(p *process, table *target.FlagTable, a arg) {
	f := finding.Finding{
		Code: "flag-unknown", Severity: finding.Error,
		Message: fmt.Sprintf("%s %s has no flag --%s and exits", p.component, c.version().Line(), a.name),
		Fix:     "remove it",
		Ref:     "https://github.com/kubernetes/kubeadm/issues/1690",
	}
	if lines := lines(target.FlagMinors(p.component, a.name)); len(lines) > 0 {
		f.Code = "flag-not-in-version"
		f.Message += fmt.Sprintf("; it is there in Kubernetes %s", strings.Join(lines, ", "))
	} else if near := nearestName(a.name, table.Names()); near != "" {
		f.Fix = "write " + near
	}
	c.at(a.doc, a.namePath, f)
}

func lines(versions []target.Version) []string {
	var out []string
	for _, v := range versions {
		out = append(out, v.Line())
	}
	return out
}

// judgeValue reads the value as the program would.
func (c *checker) judgeValue(p *process, f target.Flag, a arg) {
	value := a.value
	if !a.hasValue {
		if f.NoOptDefault == "" {
			c.at(a.doc, a.path, finding.Finding{
				Code: "flag-value-missing", Severity: finding.Error,
				Message: fmt.Sprintf("--%s needs a value", f.Name), Fix: "write --" + f.Name + "=VALUE",
			})
			return
		}
		value = f.NoOptDefault
	}
	if err := parseValue(f.Type, value); err != nil {
		c.at(a.doc, a.valuePath, finding.Finding{
			Code: "flag-value", Severity: finding.Error,
			Message: fmt.Sprintf("--%s of %s takes %s, not %q: %v", f.Name, p.component, f.Type, value, err),
		})
		return
	}
	if strings.TrimSpace(value) != value {
		c.at(a.doc, a.valuePath, finding.Finding{
			Code: "flag-value-space", Severity: finding.Warning,
			Message: fmt.Sprintf("the value %q of --%s begins or ends with white space, which is part of it", value, f.Name),
			Fix:     fmt.Sprintf("write %q", strings.TrimSpace(value)),
		})
	}
}

// listTypes are the types whose flags may stand several times and add up.
var listTypes = []string{
	"stringSlice", "stringArray", "stringToString", "mapStringBool", "mapStringString", "colonSeparatedMultimapStringString",
	"namedCertKey", "int32Slice", "[]v1.Taint", "reserved-memory",
}

func (c *checker) judgeRepeated(f target.Flag, first, again arg) {
	if slices.Contains(listTypes, f.Type) {
		return
	}
	s := finding.Finding{
		Code: "flag-repeated", Severity: finding.Warning,
		Message: fmt.Sprintf("--%s stands twice, and the last counts", f.Name),
		Fix:     "keep one",
	}
	if first.value != again.value {
		s.Message = fmt.Sprintf("--%s stands twice, and %q counts, not %q", f.Name, again.value, first.value)
	}
	c.at(again.doc, again.path, s)
}
