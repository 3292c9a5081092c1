package estimate

import (
	"slices"

	"github.com/kubeseams/seams/internal/profile"
)

// streamKind says what writes.
type streamKind int

const (
	nodeLeases streamKind = iota
	nodeStatus
	elections
	housekeeping
	eventStream
	builtInWrites
	customWrites
)

// axis is the axis a stream is counted on; what apiservers write for
// themselves is on none.
func (k streamKind) axis() Axis {
	switch k {
	case nodeLeases, nodeStatus:
		return Node
	case housekeeping:
		return ""
	}
	return Churn
}

// stream is writes to one resource from one cause.
type stream struct {
	*resource
	kind  streamKind
	store string
	// name begins the stream's figure IDs.
	name string
	// rate refers to the figure of writes a second, size is the stored bytes
	// of one write, history the bytes that past writes hold in the store.
	rate, size, history term
}

// Names of the stores; an aggregated tier's store has the tier's name.
const (
	mainStore   = "main"
	eventsStore = "events"
	leasesStore = "leases"
)

// storeOf routes as the apiserver does: overrides reach built-in resources
// only, aggregation takes whole groups of custom resources.
func (m *model) storeOf(r *resource) string {
	switch {
	case r.GroupResource == grEvents && m.l.EventsStore:
		return eventsStore
	case r.GroupResource == grLeases && m.l.LeasesStore:
		return leasesStore
	}
	if t := m.tierOf(r); t >= 0 {
		return m.l.Aggregated[t].Name
	}
	return mainStore
}

// tierOf is the index of the aggregated tier that serves the resource, or -1.
func (m *model) tierOf(r *resource) int {
	if r.builtIn {
		return -1
	}
	return slices.IndexFunc(m.l.Aggregated, func(t TierGroups) bool { return slices.Contains(t.Groups, r.Group) })
}

// computeWrites finds every stream of writes and its rate.
func (m *model) computeWrites() {
	m.livenessStreams()
	m.electionStreams()
	m.podAndEventStreams()
	for _, r := range m.resources {
		if r.rate == 0 || r.GroupResource == grPods || r.GroupResource == grEvents {
			continue
		}
		kind := customWrites
		if r.builtIn {
			kind = builtInWrites
		}
		if r.GroupResource == grLeases {
			kind = elections
		}
		m.addStream(r, kind, "resource."+r.id, "writes to "+r.label(), "profile",
			fromProfile("writesPerSecond", r.rate, "writes/s"), r.writeBytes)
	}
	m.resourceTotals()
}

func (m *model) addStream(r *resource, kind streamKind, name, label, source string, rate, size term) {
	m.streams = append(m.streams, stream{resource: r, kind: kind, store: m.storeOf(r), name: name,
		rate: m.add(name+".writes", label, "writes/s", source, rate), size: size})
}

func (m *model) livenessStreams() {
	nodes := nodeCount(m.p)
	m.addStream(m.resource(grLeases), nodeLeases, "liveness.leases", "node lease renewals",
		"kubelet renew interval; GKE 130,000 nodes: 13,000/s, k8s-1m 1,000,000 nodes: 100,000/s",
		over(nodes, times(renewFraction.term(), m.leaseDuration())), leaseBytes.term())
	node := m.resource(grNodes)
	report := fromProfile("reportSeconds", max(float64(m.p.Nodes.ReportSeconds()), 1), "s")
	m.addStream(node, nodeStatus, "liveness.status", "node status reports",
		"kubelet nodeStatusReportFrequency, 5 m unless nodeStatusUpdateFrequency is set (KEP-589, kubelet v1beta1/defaults.go)",
		times(over(nodes, report), statusChanges.term()), node.derived.bytes)
}

func (m *model) leaseDuration() term {
	if m.l.LeaseDurationSeconds > 0 {
		return fromLayout("leaseSeconds", float64(m.l.LeaseDurationSeconds), "s")
	}
	if s := m.p.Nodes.LeaseDurationSeconds; s > 0 {
		return fromProfile("leaseSeconds", float64(s), "s")
	}
	return input("leaseSeconds", 40, "s", "default")
}

func (m *model) electionStreams() {
	leases := m.resource(grLeases)
	m.addStream(leases, elections, "elections", "leader election renewals", "component-base leader election",
		times(fromProfile("leaderElections", nonNegative(float64(m.p.Churn.LeaderElections)), "components"), electionWrites.term()),
		leaseBytes.term())
	m.addStream(leases, housekeeping, "apiservers.identity", "apiserver identity leases",
		"kube-apiserver identity leases", times(m.processes(), identityWrites.term()), leaseBytes.term())
	// Masterleases are no resource of the API: they stay in main whatever is routed away.
	rate := m.add("apiservers.masterleases.writes", "masterleases", "writes/s", "kube-apiserver endpoint lease reconciler",
		times(m.processes(), masterLeaseWrites.term()))
	m.streams = append(m.streams, stream{resource: m.resource(grNodes), kind: housekeeping, store: mainStore,
		name: "apiservers.masterleases", rate: rate, size: number(0)})
}

// processes counts every kube-apiserver, of all tiers.
func (m *model) processes() term {
	ts := []term{fromLayout("apiservers", m.apiservers, "processes")}
	if m.l.NodeTier > 0 {
		ts = append(ts, fromLayout("nodeTier", float64(m.l.NodeTier), "processes"))
	}
	if m.l.ConsumerTiers > 0 {
		ts = append(ts, fromLayout("consumerTiers", float64(m.l.ConsumerTiers), "processes"))
	}
	return plus(ts...)
}

// podAndEventStreams derive pods' writes from their lifecycles and events
// from pods, and let what the profile says of either stand.
func (m *model) podAndEventStreams() {
	pods := m.resource(grPods)
	lifecycles := fromProfile("podChurn", nonNegative(m.p.Nodes.PodChurnPerSecond), "pods/s")
	writes := times(lifecycles, podWrites.term())
	if pods.rate > 0 {
		writes = largest(fromProfile("writesPerSecond", pods.rate, "writes/s"), writes)
		lifecycles = largest(fromProfile("podCreates", pods.creates, "pods/s"), lifecycles)
	}
	m.addStream(pods, builtInWrites, "resource.pods", "writes to pods",
		"pod lifecycle: 6-9 writes (k8s #4432)", writes, pods.writeBytes)
	m.podLifecycles = lifecycles

	events := m.resource(grEvents)
	rate, source := times(lifecycles, podEvents.term()), "2.9 events a pod created and deleted (k8s #141022)"
	if m.p.Churn.Events.PerSecond > 0 {
		rate, source = fromProfile("eventsPerSecond", m.p.Churn.Events.PerSecond, "events/s"), "profile"
	}
	if events.rate > 0 {
		rate = largest(rate, fromProfile("writesPerSecond", events.rate, "writes/s"))
	}
	size := fromProfile("eventBytes", nonNegative(float64(m.p.Churn.Events.Bytes)), "bytes")
	m.addStream(events, eventStream, "resource.events", "writes of events", source, rate, size)
}

// resourceTotals adds up the liveness rate that rungs and people ask for.
func (m *model) resourceTotals() {
	m.liveness = m.add("liveness.writes", "liveness writes", "writes/s", "node leases and node status",
		plus(m.rates(func(s *stream) bool { return s.kind.axis() == Node })...))
}

// rates are the rates of the streams that satisfy a condition.
func (m *model) rates(want func(*stream) bool) (ts []term) {
	for i := range m.streams {
		if s := &m.streams[i]; want(s) {
			ts = append(ts, s.rate)
		}
	}
	return ts
}

// resource returns a kind that gather always makes.
func (m *model) resource(gr profile.GroupResource) *resource {
	for _, r := range m.resources {
		if r.GroupResource == gr {
			return r
		}
	}
	return nil
}
