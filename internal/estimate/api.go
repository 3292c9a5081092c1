package estimate

import (
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/profile"
)

// Stock is the layout a profile starts from: its apiservers, one etcd cluster, upstream's defaults.
func Stock(p *profile.Profile) Layout { return Layout{Apiservers: p.ControlPlane.Apiservers} }

// model is one estimate in the making: each step reads what the steps before it left.
type model struct {
	sheet
	p          *profile.Profile
	l          Layout
	apiservers float64
	resources  []*resource
	streams    []stream
	stores     []*store
	procs      []*process

	stored, cached                    map[string]amount
	rings                             map[string]term
	rbacStored, rbacCached, rbacFloor term
	crds, resident                    term
	liveness, podLifecycles           term

	nodeWatches, churnWatches, listerWatches, fanout term

	seats                  map[Axis]term
	seatsEach, seatsLayout term

	ratios    map[Axis][]ratio
	pressures []Pressure
	binding   Axis
	measures  map[Axis]map[string]Figure
	class     class
	subject   string
}

// begun has what everything else is computed from: who writes what, and where
// it is stored.
func begun(p *profile.Profile, l Layout) *model {
	m := &model{p: p, l: l, apiservers: float64(max(l.Apiservers, 1)), resources: gather(p)}
	m.figures = make([]Figure, 0, 64+8*len(m.resources))
	m.layoutStores()
	m.computeWrites()
	return m
}

// newModel computes every figure of a profile on a layout.
func newModel(p *profile.Profile, l Layout) *model {
	m := begun(p, l)
	m.computeHistory()
	m.computeStored()
	m.computeStores()
	m.computeRings()
	m.computeWatches()
	m.computeProcesses()
	m.computeSeats()
	m.computePressures()
	m.computeMeasures()
	m.class, m.subject = m.classify()
	return m
}

// Compute estimates a profile on a layout. It reads nothing but its arguments
// and gives the same result for the same ones.
func Compute(p *profile.Profile, l Layout) *Estimate {
	m := newModel(p, l)
	fs := m.advice()
	finding.Sort(fs)
	return &Estimate{Layout: l, Figures: m.figures, Pressures: m.pressures, Binding: m.binding,
		Class: string(m.class), Subject: m.subject, Measures: m.measures, Findings: fs}
}
