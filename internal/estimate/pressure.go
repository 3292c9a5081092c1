package estimate

import (
	"cmp"
	"slices"
	"strings"
)

// ratio is one ceiling considered: the figure, and what its demand is made of.
type ratio struct {
	Figure
	// about is the one resource the ceiling is met by, where it is one.
	about *resource
	// weigh gives a stream's part of a churn ratio.
	weigh func(*stream) float64
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
	c.nodeHistory()
	c.live(Node, "nodes and their pods")
	for _, p := range m.procs {
		if len(p.parts[Node]) > 0 {
			c.add("memory."+p.name, "memory of one "+processLabel(p), "heap that nodes cause, resident, against the host's memory",
				over(m.residentBy(p, Node), m.memory()))
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
			c.add("memory."+p.name, "memory of one "+processLabel(p)+", watch history",
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
		c.add("memory."+p.name, "memory of one "+processLabel(p),
			"heap of resident objects and schemas, resident, against half the host's memory: a restart needs twice the steady size",
			over(m.residentBy(p, State), m.headroom())).parts = m.memoryParts(p)
	}
	general := m.procs[0]
	if r := m.lists(); r != nil {
		burst := m.add("apiserver.lists", "answers to all listers of "+r.String()+" at once", "bytes", listFactor.source, m.listBytes(r))
		c.add("lists", "memory of one kube-apiserver while "+r.String()+" is listed",
			"resident objects and one full list for each lister, against the host's memory",
			over(plus(m.residentBy(general, State), burst), m.memory())).about = r
	}
	c.live(State, "live objects")
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

// commits compares the axis' commits with what each disk, or an ephemeral
// store's memory, carries. Stores on one disk share its fsync.
func (c *ceilings) commits() {
	byDisk := map[int][]*store{}
	for _, s := range c.m.stores {
		byDisk[s.disk] = append(byDisk[s.disk], s)
	}
	for disk := range len(c.m.stores) {
		stores := byDisk[disk]
		if len(stores) == 0 {
			continue
		}
		var names []string
		var ts []term
		for _, s := range stores {
			names = append(names, s.name)
			ts = append(ts, s.writes[c.axis])
		}
		label := "commits of " + strings.Join(names, ", ") + " etcd"
		if len(names) > 1 {
			label += " on one disk"
		}
		c.add("commits."+stores[0].name, label, "commits a second one etcd on this disk is planned for",
			over(plus(ts...), c.m.diskCeiling())).weigh = weighStores(stores)
	}
	for _, s := range byDisk[-1] {
		c.add("commits."+s.name, "writes of "+s.name+" etcd, in memory", memoryCeiling.source,
			over(s.writes[c.axis], memoryCeiling.term())).weigh = weighStores([]*store{s})
	}
}

// weighRate weighs a stream by its writes.
func weighRate(s *stream) float64 { return s.rate.value }

// weighStores weighs the streams that go to some stores.
func weighStores(stores []*store) func(*stream) float64 {
	return func(s *stream) float64 {
		if slices.ContainsFunc(stores, func(st *store) bool { return st.name == s.store }) {
			return s.rate.value
		}
		return 0
	}
}

// weighRing weighs a stream by its resource's watch history in a process.
func (m *model) weighRing(p *process) func(*stream) float64 {
	return func(s *stream) float64 {
		if !slices.Contains(p.resources, s.resource) {
			return 0
		}
		return m.rings[s.id].value
	}
}

// memoryParts are the objects and schemas that a process keeps.
func (m *model) memoryParts(p *process) (ps []part) {
	if !p.aggregated {
		ps = append(ps, part{&resource{GroupResource: grCRDs, builtIn: true}, m.crds.value})
	}
	for _, r := range p.resources {
		if a := m.cached[r.id]; a.state.text != "" {
			ps = append(ps, part{r, a.state.value})
		}
	}
	return ps
}

// nodeHistory compares revisions of liveness with the part of the quota they may take.
func (c *ceilings) nodeHistory() {
	for _, s := range c.m.stores {
		c.add("history."+s.name, "revisions of leases and node status in "+s.name+" etcd",
			"history against 0.4 of the quota, or all of it in a store of events or leases",
			over(s.history[Node].within(2), c.m.historyQuota(s)))
	}
}

// historyQuota is the room for revisions and events: a part of the quota where
// live state has to fit too, all of it in a store of ephemeral things.
func (m *model) historyQuota(s *store) term {
	if s.name == eventsStore || s.name == leasesStore {
		return m.quota()
	}
	return times(historyShare.term(), m.quota())
}

// churnHistory splits a store's history by who causes it.
func (m *model) churnHistory(c *ceilings, s *store) {
	for _, part := range []struct {
		id, label string
		kinds     []streamKind
	}{
		{"events", "events", []streamKind{eventStream}},
		{"custom", "revisions of custom resources", []streamKind{customWrites}},
		{"builtin", "revisions of built-in resources", []streamKind{builtInWrites, elections}},
	} {
		of := func(x *stream) bool {
			return x.store == s.name && x.history.text != "" && slices.Contains(part.kinds, x.kind)
		}
		var ts []term
		for i := range m.streams {
			if x := &m.streams[i]; of(x) {
				ts = append(ts, x.history)
			}
		}
		if len(ts) == 0 {
			continue
		}
		c.add(part.id+"."+s.name, part.label+" in "+s.name+" etcd",
			"history against 0.4 of the quota, or all of it in a store of events or leases",
			over(plus(ts...).within(2), m.historyQuota(s))).weigh = func(x *stream) float64 {
			if of(x) {
				return x.history.value
			}
			return 0
		}
	}
}

// window compares the hottest resource that the main apiservers serve with
// the rate at which its watch window starts to shrink: watchers that come back
// later than the window list everything again. On an aggregated server that
// hurts nobody else.
func (c *ceilings) window() {
	m := c.m
	var hottest *resource
	var rate term
	for i := range m.streams {
		s := &m.streams[i]
		_, cached := m.rings[s.id]
		if s.kind != builtInWrites && s.kind != customWrites || !cached || m.tierOf(s.resource) >= 0 ||
			slices.Contains(m.l.Uncached, s.GroupResource) {
			continue
		}
		if hottest == nil || s.rate.value > rate.value {
			hottest, rate = s.resource, s.rate
		}
	}
	if hottest == nil {
		rate = number(0)
	}
	c.add("window", "watch window of "+nameOf(hottest), windowCeiling.source, over(rate, windowCeiling.term())).weigh =
		func(s *stream) float64 {
			if s.resource != hottest {
				return 0
			}
			return s.rate.value
		}
}

func nameOf(r *resource) string {
	if r == nil {
		return "any resource"
	}
	return r.String()
}

// live compares an axis' live objects with the part of the quota that is theirs.
func (c *ceilings) live(a Axis, what string) {
	for _, s := range c.m.stores {
		if len(c.m.storedOn(s, a)) > 0 {
			c.add("live."+s.name, what+" in "+s.name+" etcd", "live bytes against 0.6 of the quota",
				over(s.live[a].within(2), times(liveShare.term(), c.m.quota()))).parts = c.m.storedParts(s, a)
		}
	}
}

// types compares the largest single resource in main with the published thresholds.
func (c *ceilings) types() {
	m := c.m
	for _, r := range m.resources {
		if !m.statedInMain(r) {
			continue
		}
		c.add("bytes."+r.id, "stored bytes of "+r.String(), typeBytesCeiling.source,
			over(m.typeBytes(r), typeBytesCeiling.term())).about = r
		if r.builtIn {
			c.add("objects."+r.id, "objects of "+r.String(), typeObjectsCeiling.source,
				over(statedCount(r), typeObjectsCeiling.term())).about = r
		}
	}
}

// statedInMain is of the resources whose size is a matter of state and of the main etcd.
func (m *model) statedInMain(r *resource) bool {
	return len(r.stated) > 0 && m.storeOf(r) == mainStore && !isLiveness(r.GroupResource) && r.GroupResource != grEvents
}

// storedParts are the live objects of one axis in a store.
func (m *model) storedParts(s *store, a Axis) (ps []part) {
	for _, r := range m.resources {
		if t := m.stored[r.id].on(a); t.text != "" && m.storeOf(r) == s.name {
			ps = append(ps, part{r, t.value})
		}
	}
	return ps
}

// typeBytes is the stored size of one resource as it was stated.
func (m *model) typeBytes(r *resource) term {
	var ts []term
	for _, s := range r.stated {
		ts = append(ts, times(s.count, s.bytes))
	}
	return largest(ts...)
}

func statedCount(r *resource) term {
	var ts []term
	for _, s := range r.stated {
		ts = append(ts, s.count)
	}
	return largest(ts...)
}

// lists is the resource whose listers ask for most at once; every resource has one at least.
func (m *model) lists() (worst *resource) {
	for _, r := range m.resources {
		if !m.statedInMain(r) {
			continue
		}
		if worst == nil || m.listBytes(r).value > m.listBytes(worst).value {
			worst = r
		}
	}
	return worst
}

func (m *model) listBytes(r *resource) term {
	return times(fromProfile("listers", max(r.listers, 1), "clients"), m.typeBytes(r), listFactor.term())
}
