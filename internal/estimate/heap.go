package estimate

import (
	"slices"

	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/target"
)

// amount is bytes of one resource: all of them, and what each axis brings.
// Pods are the one kind that may be on two: stated in the profile's state, and
// derived from nodes. Each axis then counts what it brings, the total the
// larger of the two.
type amount struct{ total, node, state term }

func (a amount) on(axis Axis) term {
	switch axis {
	case Node:
		return a.node
	case State:
		return a.state
	}
	return term{}
}

// computeStored gives every resource the bytes its objects take in a store
// and, decoded, in a watch cache.
func (m *model) computeStored() {
	m.stored, m.cached = map[string]amount{}, map[string]amount{}
	for _, r := range m.resources {
		m.stored[r.id] = m.amountOf(r, "stored", "stored bytes of "+r.label(), "objects × (size + key)",
			func(s stock) term { return times(s.count, plus(s.bytes, keyBytes.term())) })
		if r.GroupResource == grEvents {
			continue // the watch cache is off for events
		}
		m.cached[r.id] = m.amountOf(r, "cached", "watch cache of "+r.label(),
			"estimate: objects × (size × measured heap factor + element); ÷ and × 1.5",
			func(s stock) term { return times(s.count, m.objectHeap(r, s.bytes)).atLeastWithin(1.5) })
	}
	m.computeRBAC()
}

// computeRBAC counts RBAC objects once, though the profile may say how many
// there are both in all and by resource: the larger of the two is taken.
func (m *model) computeRBAC() {
	all := fromProfile("rbacObjects", nonNegative(float64(m.p.State.RBACObjects)), "objects")
	var stored, cached, counts []term
	for _, r := range m.resources {
		if r.Group == rbacGroup {
			stored = append(stored, m.stored[r.id].total)
			cached = append(cached, m.cached[r.id].total)
			counts = append(counts, m.add("resource."+r.id+".count", "objects of "+r.label(), "objects", "as stated", statedCount(r)))
		}
	}
	m.rbacStored = m.add("rbac.stored", "stored bytes of RBAC objects", "bytes", "objects × (size + key), or the sum of their rows",
		largest(times(all, plus(rbacBytes.term(), keyBytes.term())), plus(stored...)))
	m.rbacCached = m.add("rbac.cached", "watch cache of RBAC objects", "bytes", "as other resources, or the sum of their rows",
		largest(times(all, plus(times(rbacBytes.term(), rbacFactor.term()), objectOverhead.term())).atLeastWithin(1.5), plus(cached...)))
	m.rbacFloor = m.add("rbac.authorizer", "RBAC objects in the authorizer's informers", "bytes",
		"a second copy that no cache setting removes; about 0.9 kB an object",
		times(largest(all, plus(counts...)), authorizerBytes.term()))
}

// objectHeap is what one cached object of that stored size takes.
func (m *model) objectHeap(r *resource, bytes term) term {
	return plus(times(bytes, r.factor().term()), objectOverhead.term())
}

// amountOf evaluates one measure of a resource on what was stated and on what
// nodes bring, as figures.
func (m *model) amountOf(r *resource, what, label, source string, f func(stock) term) (a amount) {
	var stated []term
	for _, s := range r.stated {
		stated = append(stated, f(s))
	}
	id := "resource." + r.id + "." + what
	switch {
	case r.GroupResource == grEvents:
		return amount{total: number(0)} // counted over their TTL instead
	case r.derived == nil:
		a.state = m.add(id, label, "bytes", source, largest(stated...))
		a.total = a.state
	case len(stated) == 0 || isLiveness(r.GroupResource):
		a.node = m.add(id, label, "bytes", source, largest(append(stated, f(*r.derived))...))
		a.total = a.node
	default:
		a.state = m.add(id+".state", label+", as stated", "bytes", source, largest(stated...))
		a.node = m.add(id+".node", label+", as nodes bring them", "bytes", source, f(*r.derived))
		a.total = m.add(id, label, "bytes", "the larger of what was stated and what nodes bring", largest(a.state, a.node))
	}
	return a
}

// computeRings gives each resource's watch history: the last 75 s of its
// changes, at most 102,400, each slot holding an object.
func (m *model) computeRings() {
	m.rings = map[string]term{}
	for _, r := range m.resources {
		var rates []term
		size := r.writeBytes
		for i := range m.streams {
			s := &m.streams[i]
			if s.resource == r && s.rate.value > 0 && s.name != "apiservers.masterleases" {
				rates = append(rates, s.rate)
			}
		}
		if len(rates) == 0 || r.GroupResource == grEvents {
			continue
		}
		slots := smallest(times(plus(rates...), historyWindow.term()), historyRing.term())
		m.rings[r.id] = m.add("resource."+r.id+".ring", "watch history of "+r.label(), "bytes",
			"estimate: min(writes × 75 s, 102,400) × heap of an object; ÷ and × 1.5",
			times(slots, m.objectHeap(r, size)).atLeastWithin(1.5))
	}
}

// process is one kind of API server: its parts by axis, its heap and resident memory.
type process struct {
	name string
	// count is how many of them run.
	count term
	// parts are the live heap by the axis that causes it.
	parts     map[Axis][]term
	total     []term
	heap, rss term
	// causes are each axis' share of the heap.
	causes map[Axis]term
	// lists are what whole lists of the resources off the watch cache take,
	// decoded, until they are collected.
	lists []term
	// resources are on the process' watch cache.
	resources []*resource
	// aggregated servers are not kube-apiservers.
	aggregated bool
}

// put adds a part of the heap that one axis causes.
func (p *process) put(a Axis, t term) {
	p.parts[a] = append(p.parts[a], t)
	p.total = append(p.total, t)
}

// putResource adds a resource's cache and history.
func (p *process) putResource(m *model, r *resource, share func(term) term) {
	p.resources = append(p.resources, r)
	if share == nil {
		share = func(t term) term { return t }
	}
	if a, ok := m.cached[r.id]; ok && r.Group != rbacGroup {
		if a.node.text != "" {
			p.parts[Node] = append(p.parts[Node], share(a.node))
		}
		if a.state.text != "" {
			p.parts[State] = append(p.parts[State], share(a.state))
		}
		p.total = append(p.total, share(a.total))
	}
	if ring, ok := m.rings[r.id]; ok {
		axis := Churn
		if isLiveness(r.GroupResource) {
			axis = Node
		}
		p.put(axis, share(ring))
	}
}

// list adds what a whole list of a resource off the watch cache leaves on the
// heap: etcd's answer is decoded, all of it, for each client that asks. Events
// are never in the cache, and are little of what is listed.
func (p *process) list(m *model, r *resource) {
	if a, ok := m.cached[r.id]; ok {
		p.lists = append(p.lists, times(a.total, listGarbage.term()))
	}
}

// computeProcesses estimates every kind of API server in the layout.
func (m *model) computeProcesses() {
	m.crds = m.add("crds.heap", "schemas of custom resource definitions", "bytes", crdHeap.source,
		times(fromProfile("crds", nonNegative(float64(m.p.State.CRDs)), "CRDs"), crdHeap.term()))
	general := m.kubeAPIServer("apiserver", fromLayout("apiservers", m.apiservers, "processes"), m.l.Uncached, nil)
	m.generalWatches(general)
	m.procs = append(m.procs, general)
	if n := m.l.NodeTier; n > 0 {
		tier := m.kubeAPIServer("nodetier", fromLayout("nodeTier", float64(n), "processes"), m.l.UncachedNodeTier, nil)
		tier.put(Node, m.add("nodetier.watches", "watches of nodes on one process of the node tier", "bytes", watchHeap.source,
			smallest(times(over(m.nodeWatches, tier.count), tierShare.term(), watchHeap.term()), times(m.nodeWatches, watchHeap.term()))))
		m.procs = append(m.procs, tier)
	}
	if n := m.l.ConsumerTiers; n > 0 {
		count := fromLayout("consumerTiers", float64(n), "processes")
		share := func(t term) term { return smallest(times(over(t, count), consumerShare.term()), t) }
		m.procs = append(m.procs, m.kubeAPIServer("consumertier", count, nil, share))
	}
	for i, t := range m.l.Aggregated {
		m.procs = append(m.procs, m.aggregatedServer(i, t))
	}
	var all []term
	for _, p := range m.procs {
		m.finishProcess(p)
		all = append(all, times(p.rss, p.count))
	}
	m.resident = m.add("resident.total", "resident memory of all API servers", "bytes", "each process × its count", plus(all...))
}

// kubeAPIServer is a process of vanilla kube-apiserver, which caches every
// resource of the main API that is not taken off. Share, where given, is what
// part of the rows' caches the process needs to keep.
func (m *model) kubeAPIServer(name string, count term, uncached []profile.GroupResource, share func(term) term) *process {
	p := &process{name: name, count: count, parts: map[Axis][]term{}}
	p.put(State, baseHeap.term())
	p.put(State, m.crds)
	p.put(State, m.rbacFloor)
	p.put(State, m.rbacCachedWithout(uncached))
	for _, r := range m.resources {
		if m.tierOf(r) >= 0 {
			continue
		}
		if slices.Contains(uncached, r.GroupResource) {
			p.list(m, r)
			continue
		}
		if r.derived != nil {
			p.putResource(m, r, nil) // every controller needs pods and nodes
			continue
		}
		p.putResource(m, r, share)
	}
	return p
}

// rbacCachedWithout is all of RBAC's watch cache, or, where some of its
// resources are off it, that of the rows that are not.
func (m *model) rbacCachedWithout(uncached []profile.GroupResource) term {
	if !slices.ContainsFunc(uncached, func(gr profile.GroupResource) bool { return gr.Group == rbacGroup }) {
		return m.rbacCached
	}
	var ts []term
	for _, r := range m.resources {
		if r.Group == rbacGroup && !slices.Contains(uncached, r.GroupResource) {
			ts = append(ts, m.cached[r.id].total)
		}
	}
	return plus(ts...)
}

// generalWatches puts clients' watches on the general apiservers; nodes' go
// to the node tier where there is one.
func (m *model) generalWatches(p *process) {
	held := func(n term) term { return times(n, busiestShare.term(), watchHeap.term()) }
	if m.l.NodeTier == 0 {
		p.put(Node, m.add("apiserver.watches.node", "watches of nodes on the busiest apiserver", "bytes", watchHeap.source, held(m.nodeWatches)))
	}
	p.put(Churn, m.add("apiserver.watches.churn", "watches of churn rows on the busiest apiserver", "bytes", watchHeap.source, held(m.churnWatches)))
	p.put(State, m.add("apiserver.watches.state", "watches of listers on the busiest apiserver", "bytes", watchHeap.source, held(m.listerWatches)))
}

// aggregatedServer is a server that holds the custom resources of its groups
// only, and, as the general apiservers, not those that are off the cache.
func (m *model) aggregatedServer(i int, t TierGroups) *process {
	p := &process{name: "tier." + t.Name, aggregated: true, parts: map[Axis][]term{},
		count: fromLayout("tier."+t.Name+".replicas", float64(max(t.Replicas, 1)), "processes")}
	if m.p.ControlPlane.Tiers.Server == target.KubeAPIServer {
		p.put(State, baseHeap.term())
	} else {
		p.put(State, aggregatedBaseHeap.term())
	}
	for _, r := range m.resources {
		switch {
		case m.tierOf(r) != i:
		case slices.Contains(m.l.Uncached, r.GroupResource):
			p.list(m, r)
		default:
			p.putResource(m, r, nil)
		}
	}
	return p
}

// finishProcess adds the parts up.
func (m *model) finishProcess(p *process) {
	p.heap = m.add(p.name+".heap", "live heap of one "+Words(p.name), "bytes",
		"estimate: sum of base, schemas, caches, watch history and watches; compare 23 GB resident at 5,000 nodes (KEP-4988)",
		plus(p.total...))
	p.causes = map[Axis]term{}
	for _, a := range Axes {
		p.causes[a] = m.add(p.name+".heap."+string(a), "live heap of one "+Words(p.name)+" that the "+string(a)+" axis causes",
			"bytes", "part of "+p.name+".heap", plus(p.parts[a]...))
	}
	p.rss = m.add(p.name+".rss", "resident memory of one "+Words(p.name), "bytes", rssFactor.source,
		plus(append([]term{times(p.heap, rssFactor.term())}, p.lists...)...))
}
