package estimate

import (
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/profile"
)

// class names a kind of trouble.
type class string

// The classes, in the order in which their rules are tried.
const (
	slowDisk      class = "slow-disk"
	runaway       class = "runaway-controller"
	dataplane     class = "dataplane"
	comfortably   class = "comfortable"
	heartbeat     class = "heartbeat"
	fanOut        class = "fan-out"
	events        class = "events"
	crChurn       class = "cr-churn"
	builtInChurn  class = "builtin-churn"
	crdSchemas    class = "crd-schemas"
	listBurst     class = "list-burst"
	residentState class = "resident-state"
)

// classify names the trouble and what it is about. What no layout can mend
// comes first: a disk slower than etcd's guidance, a controller that makes
// objects in a loop, pods faster than kubelets start them. Below the
// comfortable pressure there is no trouble; above it the binding axis and the
// make-up of its nearest ceiling decide.
func (m *model) classify() (class, string) {
	if setting, slow := m.slowDisk(); slow {
		return slowDisk, setting
	}
	if r, _ := m.runaway(); r != nil {
		return runaway, r.String()
	}
	if m.kubeletBound() && m.worst().Value < 1 {
		return dataplane, "nodes.podChurnPerSecond"
	}
	if m.highest() < Comfortable {
		return comfortably, ""
	}
	nearest := m.ratios[m.binding][0]
	switch m.binding {
	case Churn:
		return m.classifyChurn(&nearest)
	case State:
		return m.classifyState(&nearest)
	}
	return m.classifyNode(&nearest)
}

// classifyNode: nodes are trouble by reporting, or by what they keep. It is
// the second when what they write is not a quarter of the way to a wall of its
// own that the nearest ceiling is.
func (m *model) classifyNode(r *ratio) (class, string) {
	liveness := m.stores[0].history[Node].value / (historyShare.value * m.quota().value)
	for _, x := range m.ratios[Node] {
		if !x.keeps {
			liveness = max(liveness, x.Value)
		}
	}
	if r.keeps && liveness < r.Value/4 {
		var ps []part
		for _, x := range m.resources {
			if a := m.cached[x.id].node; a.text != "" {
				ps = append(ps, part{x, a.value})
			}
		}
		return residentState, nameOf(largestOf(ps).resource)
	}
	if m.stream("liveness.status").rate.value > m.stream("liveness.leases").rate.value {
		return heartbeat, grNodes.String()
	}
	return heartbeat, grLeases.String()
}

// classifyChurn: the kind of writes that makes up most of the nearest ceiling;
// where that is the events sent to watchers, no store is the matter.
func (m *model) classifyChurn(r *ratio) (class, string) {
	if r.ID == fanoutID {
		return fanOut, m.widest().String()
	}
	byClass := map[class]float64{}
	subjects := map[class]part{}
	for i := range m.streams {
		s := &m.streams[i]
		if s.kind.axis() != Churn {
			continue
		}
		c := builtInChurn
		switch s.kind {
		case eventStream:
			c = events
		case customWrites:
			c = crChurn
		}
		w := r.weigh(s)
		byClass[c] += w
		if s := (part{s.resource, w}); w > subjects[c].value || subjects[c].resource == nil {
			subjects[c] = s
		}
	}
	best := events
	for _, c := range []class{crChurn, builtInChurn} {
		if byClass[c] > byClass[best] {
			best = c
		}
	}
	return best, nameOf(subjects[best].resource)
}

// fanoutID is the ceiling that no store, cache or tier moves.
const fanoutID = "pressure.churn.fanout"

// fanoutRatio is how near watch fan-out is to its ceiling.
func (m *model) fanoutRatio() *ratio {
	rs := m.ratios[Churn]
	return &rs[slices.IndexFunc(rs, func(r ratio) bool { return r.ID == fanoutID })]
}

// widest is the stream of the churn axis for which most watch events are sent.
func (m *model) widest() (best *stream) {
	r := m.fanoutRatio()
	for i := range m.streams {
		if s := &m.streams[i]; s.kind.axis() == Churn && (best == nil || r.weigh(s) > r.weigh(best)) {
			best = s
		}
	}
	return best
}

// classifyState: a custom group that is half of the nearest ceiling is custom
// resources' residence, whichever ceiling it is; then schemas, then lists of
// large objects, and what is left is plain resident state.
func (m *model) classifyState(r *ratio) (class, string) {
	if about := r.about; about != nil {
		switch {
		case about.custom():
			return crChurn, about.String()
		case strings.Contains(r.ID, ".lists") || m.listsAreLarge(about):
			return listBurst, about.String()
		}
		return residentState, about.String()
	}
	var total float64
	groups := map[string]float64{}
	for _, p := range r.parts {
		total += p.value
		if p.custom() {
			groups[p.Group] += p.value
		}
	}
	largest := largestOf(r.parts)
	switch {
	case largest.resource == nil:
		return residentState, ""
	case largest.GroupResource == grCRDs && largest.value >= total/2:
		return crdSchemas, grCRDs.String()
	case largest.custom() && groups[largest.Group] >= total/2:
		return crChurn, largest.String()
	case m.listsAreLarge(largest.resource):
		return listBurst, largest.String()
	}
	return residentState, largest.String()
}

// listsAreLarge is of a resource with very large objects, or of which one
// full list exceeds what the etcd client accepts.
func (m *model) listsAreLarge(r *resource) bool {
	if r.custom() || len(r.stated) == 0 {
		return false
	}
	total, count := r.stateBytes(), r.stateCount()
	return total > listLimitBytes || count > 0 && total/count >= largeObjectBytes && total >= 0.1*typeBytesCeiling.value
}

// slowDisk reports the setting by which the disk is slower than etcd's
// guidance: a measured fsync, or a spinning disk that nobody measured.
func (m *model) slowDisk() (setting string, slow bool) {
	cp := &m.p.ControlPlane
	switch {
	case cp.FsyncP99Ms > goodFsyncMs.value:
		return "controlPlane.fsyncP99Ms", true
	case cp.FsyncP99Ms == 0 && cp.Disk == "hdd":
		return "controlPlane.disk", true
	}
	return "", false
}

// podsPerNodeSecond is how many pods each kubelet starts a second.
func (m *model) podsPerNodeSecond() float64 {
	return m.podLifecycles.value / float64(max(m.p.Nodes.Demand(), 1))
}

// kubeletBound reports whether pods are asked for faster than kubelets and
// their runtimes start and stop them.
func (m *model) kubeletBound() bool {
	return m.podLifecycles.value > 0 && m.podsPerNodeSecond() >= kubeletPodsPerSecond
}

// worst is the pressure of the binding axis, highest the largest high end of all.
func (m *model) worst() Pressure { return m.pressures[slices.Index(Axes, m.binding)] }

func (m *model) highest() (h float64) {
	for _, p := range m.pressures {
		h = max(h, p.High)
	}
	return h
}

func (m *model) stream(name string) *stream {
	i := slices.IndexFunc(m.streams, func(s stream) bool { return s.name == name })
	return &m.streams[i]
}

// requestsOf says for which kind of object a controller makes another kind by
// itself, a few for each. Besides these, "<kind>requests" belong to "<kind>s"
// of the same group.
var requestsOf = map[profile.GroupResource]profile.GroupResource{
	{Group: "acme.cert-manager.io", Resource: "orders"}:                    {Group: "cert-manager.io", Resource: "certificates"},
	{Group: "acme.cert-manager.io", Resource: "challenges"}:                {Group: "cert-manager.io", Resource: "certificates"},
	{Group: "certificates.k8s.io", Resource: "certificatesigningrequests"}: grNodes,
	{Group: "apps", Resource: "replicasets"}:                               {Group: "apps", Resource: "deployments"},
	{Group: "operators.coreos.com", Resource: "installplans"}:              {Group: "operators.coreos.com", Resource: "subscriptions"},
	{Group: "cluster.x-k8s.io", Resource: "machinesets"}:                   {Group: "cluster.x-k8s.io", Resource: "machinedeployments"},
	{Group: "serving.knative.dev", Resource: "revisions"}:                  {Group: "serving.knative.dev", Resource: "configurations"},
	{Group: "snapshot.storage.k8s.io", Resource: "volumesnapshotcontents"}: {Group: "snapshot.storage.k8s.io", Resource: "volumesnapshots"},
}

// runaway finds the resource that a controller makes or rewrites in a loop,
// and says why it is taken for one: requests that outnumber what they are for
// by more than a hundred to one, or objects that are rewritten more than once
// a second each while none comes or goes. The worst is taken.
func (m *model) runaway() (worst *resource, why string) {
	var most float64
	for _, r := range m.resources {
		if n, text := m.piledUp(r); n > most {
			worst, why, most = r, text, n
		}
	}
	if worst != nil {
		return worst, why
	}
	for _, r := range m.resources {
		if isLiveness(r.GroupResource) || r.turnsOver || r.live == 0 || r.updates < hotLoopWrites {
			continue
		}
		if n := r.updates / r.live; n >= hotLoopPerObject && n > most {
			worst, most = r, n
			why = num(r.live) + " objects are each rewritten " + num(n) + " times a second, and none is created or deleted"
		}
	}
	return worst, why
}

// piledUp gives how many times too many requests there are, 0 when there are not.
func (m *model) piledUp(r *resource) (float64, string) {
	count := r.stateCount()
	if count < runawayObjects {
		return 0, ""
	}
	gr, known := requestsOf[r.GroupResource]
	if stem, ok := strings.CutSuffix(r.Resource, "requests"); ok && !known {
		gr, known = profile.GroupResource{Group: r.Group, Resource: stem + "s"}, true
	}
	if !known {
		return 0, ""
	}
	parent := m.resource(gr)
	if parent == nil {
		return 0, ""
	}
	parents := parent.stateCount()
	if gr == grNodes {
		parents = max(parents, nodeCount(m.p).value)
	}
	ratio := count / max(parents, 1)
	if ratio < requestsPerParent {
		return 0, ""
	}
	return ratio, num(count) + " objects for " + num(parents) + " " + gr.Resource
}

// largestOf picks the part with the largest value, by name where equal.
func largestOf(ps []part) (best part) {
	for _, p := range ps {
		if best.resource == nil || p.value > best.value {
			best = p
		}
	}
	return best
}
