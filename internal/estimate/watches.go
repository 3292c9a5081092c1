package estimate

import "github.com/kubeseams/seams/internal/profile"

// recipientsOf is how many watchers one change of the resource reaches.
func recipientsOf(c profile.ChurnResource) term {
	w := nonNegative(float64(c.Watchers))
	switch {
	case w == 0:
		return number(0)
	case c.Scope == "node" || c.Scope == "single":
		return number(1) // each object has its one watcher
	case c.Scope == "namespace":
		return largest(number(1), times(fromProfile("watchers", w, "watchers"), namespaceShare.term()))
	}
	return fromProfile("watchers", w, "watchers")
}

// reached is how many watchers one change reaches, with the control loops
// that watch every busy built-in, and the kubelet of a pod.
func (m *model) reached(s *stream) term {
	switch {
	case s.kind == eventStream || s.kind == nodeLeases || s.kind == housekeeping:
		return largest(number(1), s.recipients)
	case s.custom():
		return largest(number(1), s.recipients)
	case s.GroupResource == grPods:
		return largest(plus(controlLoops.term(), number(1)), s.recipients)
	}
	return largest(controlLoops.term(), s.recipients)
}

// computeWatches counts connections, and the events sent over them.
func (m *model) computeWatches() {
	m.nodeWatches = m.add("watches.node", "watches that nodes hold", "connections",
		"k8s-1m: 18 watches a node, of kubelet and kube-proxy",
		times(nodeCount(m.p), fromProfile("watchesPerNode", nonNegative(float64(m.p.Nodes.WatchesPerNode)), "watches")))
	var churn, listers float64
	for _, r := range m.resources {
		churn += r.watchers
		listers += r.listers
	}
	m.churnWatches = m.add("watches.churn", "watches of the churn rows", "connections", "profile",
		fromProfile("watchers", churn, "watches"))
	m.listerWatches = m.add("watches.listers", "watches of clients that hold a whole resource", "connections", "profile",
		fromProfile("listers", listers, "watches"))
	m.add("watches.connections", "watch connections over all apiservers", "connections",
		"one a watch; kube-apiserver's own are not counted", plus(m.nodeWatches, m.churnWatches, m.listerWatches))

	var churnSent, all []term
	for i := range m.streams {
		s := &m.streams[i]
		if s.rate.value == 0 || s.name == "apiservers.masterleases" {
			continue
		}
		t := m.add(s.name+".fanout", "watch events sent for "+s.name, "events/s", "writes × watchers that a change reaches",
			times(s.rate, m.reached(s)))
		all = append(all, t)
		if s.kind.axis() == Churn {
			churnSent = append(churnSent, t)
		}
	}
	m.add("watches.fanout", "watch events sent by all apiservers", "events/s", "sum over resources", plus(all...))
	m.fanout = m.add("watches.fanout.churn", "watch events sent by all apiservers, churn axis", "events/s", "sum over resources",
		plus(churnSent...))
}
