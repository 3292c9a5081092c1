package estimate

import (
	"cmp"
	"slices"
)

// ratio is one ceiling considered: the figure, and what its demand is made of.
type ratio struct {
	Figure
	// about is the one resource the ceiling is met by, where it is one.
	about *resource
	// weigh gives a stream's part of a churn ratio.
	weigh func(*stream) float64
	// keeps is set on node ratios of what nodes keep, not of what they write.
	keeps bool
	// parts are the parts of a state ratio, by resource; schemas of definitions are under grCRDs.
	parts []part
}

// part is what one resource adds to a ratio.
type part struct {
	*resource
	value float64
}

// ceilings collects the ratios of one axis.
type ceilings struct {
	m      *model
	axis   Axis
	ratios []ratio
}

// add records a ratio; the caller may fill in what it is made of.
func (c *ceilings) add(id, label, source string, t term) *ratio {
	f := t.figure("pressure."+string(c.axis)+"."+id, label, "ratio", source)
	c.ratios = append(c.ratios, ratio{Figure: f})
	return &c.ratios[len(c.ratios)-1]
}

// computePressures divides each axis' own demand by every ceiling it meets.
// The parts of a demand are attributed by cause, so that one axis can be at
// its wall while the others are flat.
func (m *model) computePressures() {
	m.ratios = map[Axis][]ratio{
		Node:  m.nodeCeilings(),
		Churn: m.churnCeilings(),
		State: m.stateCeilings(),
	}
	for _, a := range Axes {
		rs := m.ratios[a]
		slices.SortStableFunc(rs, func(x, y ratio) int {
			return cmp.Or(cmp.Compare(y.Value, x.Value), cmp.Compare(x.ID, y.ID))
		})
		p := Pressure{Axis: a, Limit: rs[0].Label}
		for _, r := range rs {
			p.Value, p.Low, p.High = max(p.Value, r.Value), max(p.Low, r.Low), max(p.High, r.High)
			p.Ratios = append(p.Ratios, r.Figure)
		}
		m.pressures = append(m.pressures, p)
	}
	m.binding = Axes[0]
	for i, p := range m.pressures {
		if p.Value > m.pressures[slices.Index(Axes, m.binding)].Value {
			m.binding = Axes[i]
		}
	}
}

// nodeCeilings: what nodes write, keep and hold by being there.
func (m *model) nodeCeilings() []ratio {
	c := &ceilings{m: m, axis: Node}
	c.commits()
	c.nodeDatabase()
	for _, p := range m.procs {
		if len(p.parts[Node]) > 0 {
			c.add("memory."+p.name, "memory of one "+Words(p.name), "heap that nodes cause, resident, against the host's memory",
				over(m.residentBy(p, Node), m.memory())).keeps = true
		}
	}
	c.add("seats", "request seats", "API priority and fairness: seats taken by liveness writes",
		over(m.seats[Node], m.nodeSeats()))
	return c.ratios
}

// churnCeilings: what is written because work comes and goes.
func (m *model) churnCeilings() []ratio {
	c := &ceilings{m: m, axis: Churn}
	c.commits()
	for _, s := range m.stores {
		m.churnHistory(c, s)
	}
	c.window()
	for _, p := range m.procs {
		if len(p.parts[Churn]) > 0 {
			c.add("memory."+p.name, "memory of one "+Words(p.name)+", watch history",
				"watch history and watches, resident, against half the host's memory",
				over(m.residentBy(p, Churn), m.headroom())).weigh = m.weighRing(p)
		}
	}
	c.add("seats", "request seats", "API priority and fairness: seats taken by writes that churn makes",
		over(m.seats[Churn], m.seatsLayout)).weigh = weighRate
	c.add("fanout", "watch fan-out", fanoutCeiling.source,
		over(m.fanout, times(fromLayout("apiservers", m.apiservers, "processes"), m.cpu(), fanoutCeiling.term()))).weigh =
		func(s *stream) float64 { return s.rate.value * m.reached(s).value }
	return c.ratios
}

// stateCeilings: what is kept, whether or not anything happens to it.
func (m *model) stateCeilings() []ratio {
	c := &ceilings{m: m, axis: State}
	for _, p := range m.procs {
		c.add("memory."+p.name, "memory of one "+Words(p.name),
			"heap of resident objects and schemas, resident, against half the host's memory: a restart needs twice the steady size",
			over(m.residentBy(p, State), m.headroom())).parts = m.memoryParts(p)
	}
	general := m.procs[0]
	if r := m.lists(); r != nil {
		burst := m.add("apiserver.lists", "answers to all listers of "+r.label()+" at once", "bytes", listFactor.source, m.listBytes(r))
		c.add("lists", "memory of one kube-apiserver while "+r.label()+" is listed",
			"resident objects and one full list for each lister, against the host's memory",
			over(plus(m.residentBy(general, State), burst), m.memory())).about = r
	}
	c.live()
	c.types()
	return c.ratios
}

// residentBy is the resident memory of a process that one axis causes.
func (m *model) residentBy(p *process, a Axis) term { return times(p.causes[a], rssFactor.term()) }

// memory and headroom are of one control-plane host.
func (m *model) memory() term {
	g := m.p.ControlPlane.MemoryGiB
	if g <= 0 {
		return input("hostMemory", 16*gib, "bytes", "assumed")
	}
	return fromProfile("hostMemory", g*gib, "bytes")
}

func (m *model) headroom() term { return times(headroomShare.term(), m.memory()) }

func (m *model) cpu() term { return fromProfile("cpu", float64(max(m.p.ControlPlane.CPU, 1)), "CPUs") }
