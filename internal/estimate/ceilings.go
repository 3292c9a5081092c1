package estimate

import (
	"slices"
	"strings"
)

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

// nodeDatabase compares everything that nodes put into a store with its quota:
// revisions of leases and status, and nodes, leases and pods themselves.
func (c *ceilings) nodeDatabase() {
	for _, s := range c.m.stores {
		c.add("database."+s.name, "what nodes write and keep in "+s.name+" etcd",
			"revisions of leases and node status, nodes, leases and pods, against the quota",
			over(c.m.nodeBytes(s), c.m.quota())).keeps = true
	}
}

// nodeBytes is what nodes write and keep in a store.
func (m *model) nodeBytes(s *store) term { return plus(s.history[Node], s.live[Node]).within(2) }

// revisions are what the streams of some kinds leave in a store until compaction.
func (m *model) revisions(s *store, kinds ...streamKind) term {
	var ts []term
	for i := range m.streams {
		if x := &m.streams[i]; x.store == s.name && x.history.text != "" && slices.Contains(kinds, x.kind) {
			ts = append(ts, x.history)
		}
	}
	return plus(ts...)
}

const historySource = "history against 0.4 of the quota in main, all of it in a store apart"

// historyQuota is the room for revisions and events: a part of the quota in
// main, where what must not be lost has to fit too, all of it in a store apart,
// whose NOSPACE stops nobody else.
func (m *model) historyQuota(s *store) term {
	if s.name != mainStore {
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
		past := m.revisions(s, part.kinds...)
		if len(past.inputs) == 0 {
			continue
		}
		c.add(part.id+"."+s.name, part.label+" in "+s.name+" etcd",
			historySource,
			over(past.within(2), m.historyQuota(s))).weigh = func(x *stream) float64 {
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
	var most float64
	var rates []term
	for i := range m.streams {
		s := &m.streams[i]
		_, cached := m.rings[s.id]
		if s.kind != builtInWrites && s.kind != customWrites || !cached || m.tierOf(s.resource) >= 0 ||
			slices.Contains(m.l.Uncached, s.GroupResource) {
			continue
		}
		rates = append(rates, s.rate)
		if hottest == nil || s.rate.value > most {
			hottest, most = s.resource, s.rate.value
		}
	}
	c.add("window", "watch window of "+labelOf(hottest), windowCeiling.source, over(largest(rates...), windowCeiling.term())).weigh =
		func(s *stream) float64 {
			if s.resource != hottest {
				return 0
			}
			return s.rate.value
		}
}

func labelOf(r *resource) string {
	if r == nil {
		return "any resource"
	}
	return r.label()
}

func nameOf(r *resource) string {
	if r == nil {
		return "any resource"
	}
	return r.String()
}

// live compares the state axis' objects with the part of the quota that is theirs.
func (c *ceilings) live() {
	for _, s := range c.m.stores {
		if len(c.m.storedOn(s, State)) > 0 {
			c.add("live."+s.name, "live objects in "+s.name+" etcd", "live bytes against 0.6 of the quota",
				over(s.live[State].within(2), times(liveShare.term(), c.m.quota()))).parts = c.m.storedParts(s)
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
		c.add("bytes."+r.id, "stored bytes of "+r.label(), typeBytesCeiling.source,
			over(m.typeBytes(r), typeBytesCeiling.term())).about = r
		if r.builtIn {
			c.add("objects."+r.id, "objects of "+r.label(), typeObjectsCeiling.source,
				over(statedCount(r), typeObjectsCeiling.term())).about = r
		}
	}
}

// statedInMain is of the resources whose size is a matter of state and of the main etcd.
func (m *model) statedInMain(r *resource) bool {
	return len(r.stated) > 0 && m.storeOf(r) == mainStore && !isLiveness(r.GroupResource) && r.GroupResource != grEvents
}

// storedParts are the state axis' objects in a store, by resource.
func (m *model) storedParts(s *store) (ps []part) {
	for _, r := range m.resources {
		if t := m.stored[r.id].state; t.text != "" && m.storeOf(r) == s.name {
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

// lists is the resource whose listers ask for most at once, nil without any.
func (m *model) lists() (worst *resource) {
	var most float64
	for _, r := range m.resources {
		if !m.statedInMain(r) {
			continue
		}
		if n := r.stateBytes() * max(r.listers, 1); worst == nil || n > most {
			worst, most = r, n
		}
	}
	return worst
}

// listBytes is what full lists hold: every resource has one lister at least.
func (m *model) listBytes(r *resource) term {
	return times(fromProfile("listers", max(r.listers, 1), "clients"), m.typeBytes(r), listFactor.term())
}
