package estimate

// computeMeasures gives the demands that rung envelopes limit. Every profile
// has all of them; those of one axis count what that axis causes.
func (m *model) computeMeasures() {
	m.measures = map[Axis]map[string]Figure{Node: {}, Churn: {}, State: {}}
	m.nodeMeasures()
	m.churnMeasures()
	m.stateMeasures()
}

func (m *model) measure(a Axis, name, label, unit, source string, t term) {
	m.measures[a][name] = t.figure(string(a)+"."+name, label, unit, source)
}

func (m *model) nodeMeasures() {
	m.measure(Node, "nodes", "nodes to size for", "nodes", "the larger of count and target", nodeCount(m.p))
	m.measure(Node, "livenessWritesPerSecond", "liveness writes", "writes/s", "node leases and node status", m.liveness)
	var ts []term
	for _, p := range m.procs {
		if !p.aggregated {
			ts = append(ts, over(m.residentBy(p, Node), m.memory()))
		}
	}
	var stores []term
	for _, st := range m.stores {
		if st.name == mainStore || st.name == leasesStore {
			stores = append(stores, m.nodeBytes(st))
		}
	}
	m.measure(Node, "databaseRatio", "what nodes write and keep in one etcd, of its quota", "ratio",
		"revisions of leases and node status, nodes, leases and pods; the etcd that has most", over(largest(stores...), m.quota()))
	m.measure(Node, "memoryRatio", "memory that nodes cause in one kube-apiserver", "ratio",
		"resident, against the host's memory; the process that holds most", largest(ts...))
}

func (m *model) churnMeasures() {
	rate := func(name, label string, want func(*stream) bool) {
		m.measure(Churn, name, label, "writes/s", "sum over resources", plus(m.rates(want)...))
	}
	rate("eventWritesPerSecond", "writes of events", func(s *stream) bool { return s.kind == eventStream })
	rate("leaderElectionWritesPerSecond", "leader election writes", func(s *stream) bool { return s.kind == elections })
	rate("builtinWritesPerSecond", "writes to built-in resources", func(s *stream) bool { return s.kind == builtInWrites })
	rate("customWritesPerSecond", "writes to custom resources", func(s *stream) bool { return s.kind == customWrites })
	var servers, bytes []term
	for _, st := range m.stores {
		servers = append(servers, plus(m.rates(func(s *stream) bool { return s.kind == customWrites && s.store == st.name })...))
	}
	m.measure(Churn, "customServerWritesPerSecond", "custom writes of the busiest server and store", "writes/s",
		"main, or one aggregated tier", largest(servers...))
	for i := range m.streams {
		if s := &m.streams[i]; s.kind == customWrites && s.store == mainStore {
			bytes = append(bytes, m.add(s.name+".written", "bytes written to "+s.label(), "bytes/s", "writes × stored size",
				times(s.rate, s.size)))
		}
	}
	m.measure(Churn, "customBytesPerSecond", "bytes of custom writes that the main etcd takes", "bytes/s",
		"writes × stored size", plus(bytes...))
	m.measure(Churn, "eventDatabaseRatio", "events, of the quota of the etcd they are in", "ratio",
		"events over their TTL and until compaction", over(m.stream("resource.events").history.within(2), m.quota()))
	m.measure(Churn, "databaseRatio", "revisions of objects in main etcd, of its quota", "ratio",
		"writes of built-in and custom resources, without events, until compaction",
		over(m.revisions(m.stores[0], builtInWrites, elections, customWrites).within(2), m.quota()))
	var tiers []term
	for _, p := range m.procs {
		if p.aggregated {
			tiers = append(tiers, over(m.residentBy(p, Churn), m.memory()))
		}
	}
	m.measure(Churn, "tierMemoryRatio", "memory that churn causes in the largest aggregated server", "ratio",
		"watch history, resident, against the host's memory; 0 without one", largest(tiers...))
	m.measure(Churn, "seatsRatio", "seats that churn needs, of the layout's", "ratio",
		"API priority and fairness", over(m.seats[Churn], m.seatsLayout))
}

func (m *model) stateMeasures() {
	var kube, tiers, bytes, objects []term
	for _, p := range m.procs {
		t := over(m.residentBy(p, State), m.memory())
		if p.aggregated {
			tiers = append(tiers, t)
		} else {
			kube = append(kube, t)
		}
	}
	m.measure(State, "memoryRatio", "memory that state causes in one kube-apiserver", "ratio",
		"resident, against the host's memory; the process that holds most", largest(kube...))
	m.measure(State, "tierMemoryRatio", "memory that state causes in the largest aggregated server", "ratio",
		"objects and base, resident, against the host's memory; 0 without one", largest(tiers...))
	m.measure(State, "databaseRatio", "what is kept in main etcd, of its quota", "ratio",
		"live objects, without what nodes bring", over(m.stores[0].live[State].within(2), m.quota()))
	for _, r := range m.resources {
		if !m.statedInMain(r) {
			continue
		}
		bytes = append(bytes, m.add("resource."+r.id+".bytes", "values of "+r.label(), "bytes", "objects × size, as stated", m.typeBytes(r)))
		objects = append(objects, m.add("resource."+r.id+".objects", "objects of "+r.label(), "objects", "as stated", statedCount(r)))
	}
	m.measure(State, "typeBytes", "stored bytes of the largest resource in main", "bytes", "objects × size, as stated", largest(bytes...))
	m.measure(State, "typeObjects", "objects of the most numerous resource in main", "objects", "as stated", largest(objects...))
}
