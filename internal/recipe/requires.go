package recipe

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/target"
)

// Unmet says what a rung requires that a target does not have, in words; empty
// when it can be rendered there.
func (r Requires) Unmet(t target.Target) []string {
	var unmet []string
	say := func(format string, args ...any) { unmet = append(unmet, fmt.Sprintf(format, args...)) }
	if len(r.Platforms) > 0 && !slices.Contains(r.Platforms, string(t.Platform)) {
		say("cannot be rendered for %s: only for %s", t.Platform, strings.Join(r.Platforms, ", "))
	}
	if older(t.Kubernetes, r.KubernetesMin) {
		say("needs Kubernetes %s or later, not %s", r.KubernetesMin, t.Kubernetes.Line())
	}
	if newer(t.Kubernetes, r.KubernetesMax) {
		say("needs Kubernetes %s or earlier, not %s", r.KubernetesMax, t.Kubernetes.Line())
	}
	if t.Platform == target.Kops && older(t.Kops, r.KopsMin) {
		say("needs kOps %s or later, not %s", r.KopsMin, t.Kops)
	}
	// kOps chooses etcd's version by itself, and a profile does not tell it.
	if etcd := target.EtcdVersion(t.Kubernetes); t.Platform != target.Kops && etcdOlder(etcd, r.EtcdMin) {
		say("needs etcd %s or later, and Kubernetes %s comes with %s", r.EtcdMin, t.Kubernetes.Line(), etcd)
	}
	for _, gate := range slices.Sorted(maps.Keys(r.FeatureGates)) {
		if why := unmetGate(t.Kubernetes, gate, r.FeatureGates[gate]); why != "" {
			say("%s", why)
		}
	}
	predicates := t.Predicates()
	for _, name := range r.Predicates {
		if !predicates[name] {
			say("needs %s, which does not hold for %s", name, describe(t))
		}
	}
	return unmet
}

func describe(t target.Target) string {
	text := "Kubernetes " + t.Kubernetes.String() + " on " + string(t.Platform)
	if t.Platform == target.Kops {
		text += " " + t.Kops.String()
	}
	return text
}

// stages orders the stages of a feature gate; a gate on its way out counts as
// general.
var stages = map[string]int{target.StageAlpha: 1, target.StageBeta: 2, target.StageGA: 3, target.StageDeprecated: 3}

func unmetGate(kubernetes target.Version, name, least string) string {
	gate, ok := target.FindGate(kubernetes, name)
	switch {
	case !ok:
		return fmt.Sprintf("needs the feature gate %s, which Kubernetes %s does not have", name, kubernetes.Line())
	case stages[gate.Stage] < stages[least]:
		return fmt.Sprintf("needs the feature gate %s at %s, and it is %s in Kubernetes %s", name, least, gate.Stage, kubernetes.Line())
	}
	return ""
}

// older reports whether v is before the minor; an empty minor bounds nothing.
func older(v target.Version, minor string) bool {
	m, err := target.ParseVersion(minor)
	return err == nil && (v.Major < m.Major || v.Major == m.Major && v.Minor < m.Minor)
}

// etcdOlder compares an etcd version or image tag ("3.6.8-0") with a minor.
func etcdOlder(tag, minor string) bool {
	parts := strings.SplitN(tag, ".", 3)
	v, err := target.ParseVersion(strings.Join(parts[:min(2, len(parts))], "."))
	return err == nil && older(v, minor)
}

func newer(v target.Version, minor string) bool {
	m, err := target.ParseVersion(minor)
	return err == nil && (v.Major > m.Major || v.Major == m.Major && v.Minor > m.Minor)
}
