package kops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/pattern"
)

// Setting is a value of the Cluster that changes.
type Setting struct {
	// Path is the field, with an entry of a list by its name in brackets.
	Path string
	// Entry is the item of a list of texts that changes.
	Entry    string
	Old, New any
}

var (
	memberEnv = pattern.Of(`^spec\.etcdClusters\[([^\]]+)\]\.manager\.env\[([^\]]+)\]$`)
	entryOf   = pattern.Of(`^(spec\.[A-Za-z]+\.(?:featureGates|runtimeConfig))\.(.+)$`)
)

// Set writes a change as the value of "kops edit cluster --set", whose fields
// have kOps' internal names, or says why that cannot be. spec is the present
// Cluster's. --set knows texts, numbers, durations and one entry of a map or of
// a list, to which it appends (kubernetes/kops util/pkg/reflectutils/access.go).
func Set(spec map[string]any, s Setting) (set, why string) {
	value := fmt.Sprint(s.New)
	if f, ok := s.New.(float64); ok {
		value = fmt.Sprintf("%.0f", f)
	}
	_, isMap := s.New.(map[string]any)
	match := memberEnv().FindStringSubmatch(s.Path)
	entry := entryOf().FindStringSubmatch(s.Path)
	switch {
	case s.New == nil:
		return "", "nothing is taken away with --set"
	case strings.Contains(value, ","):
		return "", "--set takes a comma for the end of a value"
	case match != nil && s.Old != nil, s.Entry != "" && s.Old != nil:
		return "", "--set adds to a list and does not replace what is in it"
	case match != nil:
		i := slices.IndexFunc(mappings(spec, "etcdClusters"), func(e map[string]any) bool { return str(e, "name") == match[1] })
		return fmt.Sprintf("spec.etcdClusters[%d].manager.env=%s=%s", i, match[2], value), ""
	case strings.HasPrefix(s.Path, "spec.etcdClusters["):
		return "", "--set adds no etcd cluster"
	case entry != nil:
		return entry[1] + "=" + entry[2] + "=" + value, ""
	case isMap || strings.Contains(s.Path, "["):
		return "", "--set does not know values of this kind"
	case s.Entry != "":
		return s.Path + "=" + value, ""
	}
	steps := strings.Split(s.Path, ".")
	last := len(steps) - 1
	steps[last] = InternalName(steps[last])
	return strings.Join(steps, ".") + "=" + value, ""
}
