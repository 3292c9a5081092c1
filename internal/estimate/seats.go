package estimate

// stockSeats are max-requests-inflight and max-mutating-requests-inflight
// together, which API priority and fairness shares out.
const stockSeats = 600

// computeSeats gives the concurrency that writes occupy, by axis. A write
// holds a seat while it runs, and some for the watchers it wakes.
func (m *model) computeSeats() {
	m.seats = map[Axis]term{}
	for _, a := range []Axis{Node, Churn} {
		ts := []term{}
		for i := range m.streams {
			s := &m.streams[i]
			if s.kind.axis() != a || s.rate.value == 0 {
				continue
			}
			woken := smallest(over(m.reached(s), number(10)), number(10))
			ts = append(ts, m.add(s.name+".seats", "seats of writes for "+s.name, "seats",
				"writes × (time of a write + 5 ms a seat for 10 watchers, at most 10 seats)",
				times(s.rate, plus(writeSeconds.term(), times(woken, watcherSeatSeconds.term())))))
		}
		m.seats[a] = m.add("seats."+string(a), "seats needed, "+string(a)+" axis", "seats",
			"requests a second × time each", plus(ts...))
	}
	m.add("seats.needed", "seats needed", "seats", "requests a second × time each; lists come on top", plus(m.seats[Node], m.seats[Churn]))
	m.seatsEach = input("seatsEach", stockSeats, "seats", "default")
	if m.l.Seats > 0 {
		m.seatsEach = fromLayout("seatsEach", float64(m.l.Seats), "seats")
	}
	m.seatsLayout = m.add("seats.layout", "seats of the general apiservers", "seats",
		"max-requests-inflight + max-mutating-requests-inflight of each",
		times(fromLayout("apiservers", m.apiservers, "processes"), m.seatsEach))
}

// nodeSeats are the seats of the processes that nodes talk to.
func (m *model) nodeSeats() term {
	if m.l.NodeTier > 0 {
		return times(fromLayout("nodeTier", float64(m.l.NodeTier), "processes"), m.seatsEach)
	}
	return m.seatsLayout
}
