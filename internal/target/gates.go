package target

import (
	"cmp"
	"maps"
	"slices"
)

// The stages of a feature gate.
const (
	StageAlpha      = "ALPHA"
	StageBeta       = "BETA"
	StageGA         = "GA"
	StageDeprecated = "DEPRECATED"
)

// Gate is a feature gate as it stands in one Kubernetes minor.
type Gate struct {
	Name string `json:"name"`
	// Stage is ALPHA, BETA, GA or DEPRECATED.
	Stage   string `json:"stage"`
	Default bool   `json:"default"`
	// Locked gates cannot be set to anything but their default.
	Locked bool `json:"locked"`
	// Since is the minor from which this stage and default hold, "1.36"; empty
	// where upstream's list does not have the gate.
	Since string `json:"since"`
	// NotIn are the programs that do not know the gate.
	NotIn []string `json:"notIn"`
	// FlippedIn are the programs that begin with the other default.
	FlippedIn []string `json:"flippedIn"`
}

// DefaultIn is whether the gate is on in a program that is told nothing of it.
func (g Gate) DefaultIn(component string) bool {
	return g.Default != slices.Contains(g.FlippedIn, component)
}

// In reports whether a program knows the gate.
func (g Gate) In(component string) bool { return !slices.Contains(g.NotIn, component) }

func newGateTable(list []Gate) map[string]Gate {
	t := make(map[string]Gate, len(list))
	for _, g := range list {
		t[g.Name] = g
	}
	return t
}

// FindGate finds a feature gate of the Kubernetes components; ok is false when
// this version has none of that name and a component would refuse to start.
// AllAlpha and AllBeta, which stand for many, are found too.
func FindGate(kubernetes Version, name string) (g Gate, ok bool) {
	switch name {
	case "AllAlpha":
		return Gate{Name: name, Stage: StageAlpha}, true
	case "AllBeta":
		return Gate{Name: name, Stage: StageBeta}, true
	}
	g, ok = tablesOf(kubernetes).gates()[name]
	return g, ok
}

// Gates lists the feature gates of this version by name.
func Gates(kubernetes Version) []Gate {
	return slices.SortedFunc(maps.Values(tablesOf(kubernetes).gates()), func(a, b Gate) int {
		return cmp.Compare(a.Name, b.Name)
	})
}

// GateMinors lists the supported minors that have the gate, oldest first, so
// that a message can say when it came or went.
func GateMinors(name string) []Version {
	var have []Version
	for _, v := range Minors() {
		if _, ok := FindGate(v, name); ok {
			have = append(have, v)
		}
	}
	return have
}
