package recipe

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

// unknownNames finds the flags and feature gates in a rung's moves that no
// supported version of their program has: a name that is only wrong when files
// are rendered is found too late.
func (e *entry) unknownNames() []finding.Finding {
	moves := map[string]any(e.rung.Moves)
	var found []finding.Finding
	report := func(code, path, message, fix string) {
		found = append(found, finding.Finding{Code: code, Severity: finding.Error, File: e.file, Line: e.line,
			Path: path, Message: e.rung.ID + ": " + message, Fix: fix})
	}
	flags := func(path, component string, v any) {
		m, _ := v.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if len(target.FlagMinors(component, name)) == 0 {
				fix := ""
				if near := nearest(name, allFlags(component)); near != "" {
					fix = fmt.Sprintf("did you mean %s?", near)
				}
				report("rung-unknown-flag", path+"."+name, fmt.Sprintf("no supported %s has a flag --%s", component, name), fix)
			}
		}
	}
	for field, component := range map[string]string{"apiserver": target.KubeAPIServer,
		"controllerManager": target.KubeControllerManager, "scheduler": target.KubeScheduler} {
		m, _ := moves[field].(map[string]any)
		flags("moves."+field+".flags", component, m["flags"])
		gates, _ := m["featureGates"].(map[string]any)
		for _, gate := range slices.Sorted(maps.Keys(gates)) {
			if len(target.GateMinors(gate)) == 0 {
				report("rung-unknown-flag", "moves."+field+".featureGates."+gate, "no supported Kubernetes has the feature gate "+gate, "")
			}
		}
	}
	tier, _ := moves["nodeTier"].(map[string]any)
	flags("moves.nodeTier.flags", target.KubeAPIServer, tier["flags"])
	tiers, _ := moves["consumerTiers"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(tiers)) {
		tier, _ := tiers[name].(map[string]any)
		flags("moves.consumerTiers."+name+".flags", target.KubeAPIServer, tier["flags"])
	}
	finding.Sort(found)
	return found
}

// allFlags are the flags of a program in the newest version that is known.
func allFlags(component string) []string {
	minors := target.Minors()
	t, ok := target.Flags(minors[len(minors)-1], component)
	if !ok {
		return nil
	}
	return t.Names()
}
