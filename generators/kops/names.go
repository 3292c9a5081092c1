package kops

import (
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/finding"
)

// FlagOf is the program and flag that kOps makes of a field of the Cluster's
// spec, such as kubeAPIServer.maxRequestsInflight; ok is false for a field that
// is none of a component's, or of no flag that a plan sets.
func FlagOf(block, name string) (program, flag string, ok bool) {
	for _, c := range []struct {
		component
		program string
	}{{apiserver, "kube-apiserver"}, {controllerManager, "kube-controller-manager"}, {scheduler, "kube-scheduler"}} {
		if c.block != block {
			continue
		}
		if i := slices.IndexFunc(c.fields, func(f field) bool { return f.name == name }); i >= 0 {
			return c.program, c.fields[i].flag, true
		}
		return c.program, "", false
	}
	return "", "", false
}

// FeatureFlags are the values of KOPS_FEATURE_FLAGS that a merge's findings ask
// for, such as +APIServerNodes.
func FeatureFlags(findings []finding.Finding) []string {
	var flags []string
	for _, f := range findings {
		if f.Code != "kops-feature-flags" {
			continue
		}
		if _, value, ok := strings.Cut(f.Fix, "KOPS_FEATURE_FLAGS="); ok && !slices.Contains(flags, value) {
			flags = append(flags, value)
		}
	}
	return flags
}

// internalNames are the fields a plan sets whose name within kOps, which --set
// takes, is not that of v1alpha2 (kubernetes/kops pkg/apis/kops/componentconfig.go).
var internalNames = map[string]string{"concurrentRcSyncs": "concurrentRCSyncs"}

// InternalName is a field's name as "kops edit cluster --set" wants it.
func InternalName(name string) string {
	if internal, ok := internalNames[name]; ok {
		return internal
	}
	return name
}
