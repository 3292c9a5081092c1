package estimate

import "slices"

// store is one etcd of the layout and what it is asked to do.
type store struct {
	name string
	// ephemeral stores write to memory and wait for no disk.
	ephemeral bool
	// disk numbers the disk the store shares with the others of that number, on every host.
	disk int
	// Of each axis: writes a second, bytes of revisions and events, bytes of live objects.
	writes, history, live map[Axis]term
	commits, db           term
}

// layoutStores lists the stores with main first, and puts them on disks: main
// on the first, then in the order in which a disk of their own helps most; the
// stores that find no free disk share main's.
func (m *model) layoutStores() {
	m.stores = []*store{{name: mainStore}}
	if m.l.LeasesStore {
		m.stores = append(m.stores, &store{name: leasesStore, ephemeral: m.l.LeasesEphemeral})
	}
	if m.l.EventsStore {
		m.stores = append(m.stores, &store{name: eventsStore})
	}
	for _, t := range m.l.Aggregated {
		m.stores = append(m.stores, &store{name: t.Name})
	}
	next := 0
	for _, s := range m.stores {
		if s.ephemeral {
			s.disk = -1
			continue
		}
		if next < max(m.p.ControlPlane.EtcdDisks, 1) {
			s.disk = next
			next++
		}
	}
}

// durableStores counts the stores that wait for a disk.
func (m *model) durableStores() (n int) {
	for _, s := range m.stores {
		if !s.ephemeral {
			n++
		}
	}
	return n
}

// computeStores adds up writes, commits and database bytes of each store.
func (m *model) computeStores() {
	for _, s := range m.stores {
		m.storeWrites(s)
		m.storeBytes(s)
	}
}

func (m *model) storeWrites(s *store) {
	prefix := "store." + s.name
	all := m.add(prefix+".writes", "writes to "+s.name+" etcd", "writes/s", "sum of the resources routed to it",
		plus(m.rates(func(x *stream) bool { return x.store == s.name })...))
	s.writes = map[Axis]term{}
	for _, a := range []Axis{Node, Churn} {
		s.writes[a] = m.add(prefix+".writes."+string(a), "writes to "+s.name+" etcd, "+string(a)+" axis", "writes/s",
			"sum of the resources routed to it",
			plus(m.rates(func(x *stream) bool { return x.store == s.name && x.kind.axis() == a })...))
	}
	// Every write of the API is one etcd transaction and so one Raft entry;
	// the leases of an event TTL add one for a thousand events.
	commits, source := all, "one etcd transaction, so one Raft entry, a write (apiserver storage/etcd3)"
	if s.ephemeral {
		commits, source = number(0), "data in memory: a commit waits for no disk"
	}
	s.commits = m.add(prefix+".commits", "durable commits of "+s.name+" etcd", "commits/s", source, commits)
}

// storeBytes gives the database: live objects, and every revision that
// compaction has not yet removed.
func (m *model) storeBytes(s *store) {
	prefix := "store." + s.name
	s.live, s.history = map[Axis]term{}, map[Axis]term{}
	var live []term
	for _, r := range m.resources {
		if m.storeOf(r) == s.name && r.Group != rbacGroup {
			live = append(live, m.stored[r.id].total)
		}
	}
	if s.name == mainStore {
		live = append(live, m.rbacStored)
	}
	all := m.add(prefix+".live", "live objects in "+s.name+" etcd", "bytes", "stored sizes and keys", plus(live...))
	history := m.historyOf(s, Node, Churn, "")
	past := m.add(prefix+".history", "revisions and events in "+s.name+" etcd", "bytes",
		"MVCC: each write stays until the compaction after next; events stay for their TTL, too", history)
	for _, a := range []Axis{Node, Churn} {
		s.history[a] = m.add(prefix+".history."+string(a), "revisions and events in "+s.name+" etcd, "+string(a)+" axis", "bytes",
			"as the store's history", m.historyOf(s, a))
	}
	for _, a := range []Axis{Node, State} {
		s.live[a] = m.add(prefix+".live."+string(a), "live objects in "+s.name+" etcd, "+string(a)+" axis", "bytes",
			"stored sizes and keys", plus(m.storedOn(s, a)...))
	}
	s.db = m.add(prefix+".db", "database of "+s.name+" etcd", "bytes",
		"live objects with the history; ÷ and × 2 (anchors: 1.3 GB at 5,000 nodes, 28 GiB at 1,000,000 without compaction)",
		plus(all, past).within(2))
}

func (m *model) historyOf(s *store, axes ...Axis) term {
	var ts []term
	for i := range m.streams {
		x := &m.streams[i]
		if x.store == s.name && x.history.text != "" && slices.Contains(axes, x.kind.axis()) {
			ts = append(ts, x.history)
		}
	}
	return plus(ts...)
}

// storedOn are the stored bytes of one axis' resources in a store.
func (m *model) storedOn(s *store, a Axis) (ts []term) {
	for _, r := range m.resources {
		if m.storeOf(r) != s.name || r.Group == rbacGroup {
			continue
		}
		if t := m.stored[r.id].on(a); t.text != "" {
			ts = append(ts, t)
		}
	}
	if a == State && s.name == mainStore {
		ts = append(ts, m.rbacStored)
	}
	return ts
}

// computeHistory gives each stream the bytes its past writes hold.
func (m *model) computeHistory() {
	kept := times(compactions.term(), m.compaction())
	for i := range m.streams {
		s := &m.streams[i]
		row := plus(s.size, rowBytes.term())
		switch {
		case s.kind == eventStream:
			s.history = m.add(s.name+".history", "events and their revisions", "bytes",
				"events × (TTL + 1 to 2 compaction intervals)", m.eventBytes(s, row, kept))
		case s.rate.value > 0:
			s.history = m.add(s.name+".history", "revisions of "+s.label()+" ("+s.name+")", "bytes",
				"writes × (value + row) × 1 to 2 compaction intervals", times(s.rate, row, kept))
		}
	}
}

// eventBytes counts events while they live and until compaction; a stated stock of them may be larger.
func (m *model) eventBytes(s *stream, row, kept term) term {
	ts := []term{times(s.rate, row, plus(m.eventTTL(), kept))}
	for _, st := range s.stated {
		ts = append(ts, times(st.count, plus(st.bytes, rowBytes.term())))
	}
	return largest(ts...)
}

func (m *model) compaction() term {
	if m.l.CompactionSeconds > 0 {
		return fromLayout("compactionSeconds", float64(m.l.CompactionSeconds), "s")
	}
	return input("compactionSeconds", 300, "s", "default")
}

func (m *model) eventTTL() term {
	ttl := float64(m.p.Churn.Events.TTLSeconds)
	if ttl <= 0 {
		return input("eventTTL", noEventTTLSeconds, "s", "no TTL, counted over 30 days")
	}
	return fromProfile("eventTTL", ttl, "s")
}

// quota is of every store: one size is what rungs and installers give them.
func (m *model) quota() term {
	switch {
	case m.l.QuotaGiB > 0:
		return fromLayout("quota", m.l.QuotaGiB*gib, "bytes")
	case m.p.ControlPlane.EtcdQuotaGiB > 0:
		return fromProfile("quota", m.p.ControlPlane.EtcdQuotaGiB*gib, "bytes")
	}
	return input("quota", 2*gib, "bytes", "default")
}

// diskCeiling is how many commits a second one disk carries.
func (m *model) diskCeiling() term {
	cp := &m.p.ControlPlane
	c := etcdCeiling
	switch {
	case cp.FsyncP99Ms > 0:
		slow := largest(fromProfile("fsyncMs", cp.FsyncP99Ms, "ms"), goodFsyncMs.term())
		return over(times(etcdCeiling.term(), goodFsyncMs.term()), slow)
	case cp.Disk == "network":
		c = networkDiskCeiling
	case cp.Disk == "hdd":
		c = hddCeiling
	}
	return c.term()
}
