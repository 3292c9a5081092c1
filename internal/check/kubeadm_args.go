package check

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubeseams/seams/internal/finding"
)

// argsMapFinding is about arguments written as a mapping, which was the form
// until v1beta3. The fix is the list that is meant.
func argsMapFinding(d *document, fieldPath string) finding.Finding {
	f := finding.Finding{
		Code: "kubeadm-args-map", Severity: finding.Error,
		Message: "v1beta4 takes arguments as a list of name and value, not as a mapping",
		Fix:     "write - {name: NAME, value: VALUE} for each",
		Ref:     "https://github.com/kubernetes/kubeadm/issues/1601",
	}
	n := d.field(strings.Split(fieldPath, ".")...)
	if n == nil || n.Kind != yaml.MappingNode {
		return f
	}
	var list []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		list = append(list, fmt.Sprintf("- {name: %s, value: %q}", n.Content[i].Value, n.Content[i+1].Value))
	}
	if len(list) > 0 {
		f.Fix = "write " + strings.Join(list, " ")
	}
	return f
}

// kubeadmListFlags are the flags whose base value of kubeadm is a list that an
// argument of the same name replaces whole.
var kubeadmListFlags = []string{"enable-admission-plugins", "controllers", "kubelet-preferred-address-types", "requestheader-allowed-names"}

// judgeReplaced says where an argument replaces one that kubeadm sets itself.
func (c *checker) judgeReplaced(p *process) {
	for _, a := range p.args {
		was, ok := p.base[a.name]
		if !a.own || !ok || was == a.value {
			continue
		}
		f := finding.Finding{
			Code: "kubeadm-replaces-own", Severity: finding.Warning,
			Message: fmt.Sprintf("replaces kubeadm's --%s=%s", a.name, was),
			Fix:     "leave it out unless kubeadm's value is wrong here",
			Ref:     "kubernetes cmd/kubeadm/app/util/arguments.go, ArgumentsToCommand",
		}
		switch {
		case a.name == "etcd-servers":
			f.Code, f.Severity = "kubeadm-etcd-servers", finding.Error
			f.Fix = "set etcd.external.endpoints instead, which also sets the certificates"
		case a.name == "authorization-mode":
			continue // kubeadm merges it itself
		case slices.Contains(kubeadmListFlags, a.name):
			missing := missingItems(was, a.value)
			if len(missing) == 0 {
				continue
			}
			f.Message += ", without " + strings.Join(missing, ", ")
			f.Fix = fmt.Sprintf("write %q", strings.Join(append(missing, a.value), ","))
		}
		c.at(a.doc, a.valuePath, f)
	}
}

// controllerAliases are the names that kubeadm still uses for two controllers
// (kubernetes cmd/kube-controller-manager/names).
var controllerAliases = map[string]string{
	"bootstrapsigner": "bootstrap-signer-controller",
	"tokencleaner":    "token-cleaner-controller",
}

// missingItems are the items of a list that another has neither as they are nor with a minus before them.
func missingItems(was, is string) []string {
	now := strings.Split(is, ",")
	has := func(item string) bool { return slices.Contains(now, item) || slices.Contains(now, "-"+item) }
	return slices.DeleteFunc(strings.Split(was, ","), func(item string) bool {
		return has(item) || has(controllerAliases[item])
	})
}

// judgeMerged: an argument with a merge method joins kubeadm's own of the same
// name, and is dropped where kubeadm sets none.
func (c *checker) judgeMerged(d *document, user userArgs, base map[string]string) {
	for i, a := range user.list {
		if _, ok := base[a.Name]; a.MergeMethod == "" || ok || d == nil {
			continue
		}
		c.at(d, fmt.Sprintf("%s[%d].mergeMethod", user.path, i), finding.Finding{
			Code: "kubeadm-merge-ignored", Severity: finding.Error,
			Message: fmt.Sprintf("kubeadm sets no --%s that the value could be merged with, and drops the argument", a.Name),
			Fix:     "leave mergeMethod out",
			Ref:     "kubernetes cmd/kubeadm/app/util/arguments.go, ArgumentsToCommand",
		})
	}
}
