package measure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/pattern"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/quantity"
	"github.com/kubeseams/seams/internal/target"
)

// leastRate is the write rate from which a kind is listed as churning.
const leastRate = 0.02

func (m *maker) churn(nodes int) {
	c := m.root.object("churn")
	m.churning(c)
	e, k := c.object("events"), m.o.look("", "events")
	if m.o.Seconds > 0 {
		e.set("perSecond", m.rate(k.Creates+k.Updates), fmt.Sprintf("%s created and %s updated in the window", quantity.Count(k.Creates), quantity.Count(k.Updates)))
	} else {
		e.remark(m.missed("churn.events.perSecond", "one look tells no rates", "look twice"))
	}
	m.size(e, "churn.events.bytes", "", "events")
	if ttl := m.o.EventTTLSeconds; ttl > 0 {
		e.set("ttlSeconds", ttl, "--event-ttl of kube-apiserver")
	} else if !m.o.Live || m.refused("the flags of the control plane") {
		e.remark(m.missed("churn.events.ttlSeconds", "the flags of kube-apiserver were not seen", "write --event-ttl where it is set"))
	}
	from := "leases that are neither of a node nor of an apiserver"
	if n, ok := m.elections(); ok {
		c.set("leaderElections", min(n, 100_000), from)
	} else {
		c.remark(m.missed("churn.leaderElections", "the number of leases was not told", "count the components that elect a leader"))
	}
}

func (m *maker) refused(what string) bool {
	return slices.ContainsFunc(m.o.Refused, func(r Refusal) bool { return r.What == what })
}

// served tells resources of the API from what apiservers keep in etcd for
// themselves, such as their addresses, which metrics name likewise.
func (m *maker) served(gr profile.GroupResource) bool {
	version, _ := target.ParseVersion(m.o.Kubernetes)
	return plural().MatchString(gr.Resource) && (strings.Contains(gr.Group, ".") || target.BuiltIn(version, gr.Group, gr.Resource))
}

var plural = pattern.Of(`^[a-z][-a-z0-9]*$`)

// counted are the kinds that the profile counts by nodes, pods and events.
func counted(gr profile.GroupResource) bool {
	switch gr.String() {
	case "/nodes", "/pods", "/events", "coordination.k8s.io/leases":
		return true
	}
	return false
}

func (m *maker) churning(c *node) {
	list := c.list("resources", "kinds that are written at all; nodes, pods, events and leases are counted by the fields for them")
	for _, gr := range m.o.sorted() {
		k := m.o.Kinds[gr]
		if m.o.Seconds <= 0 || counted(gr) || !m.served(gr) || k.Writes()/m.o.Seconds < leastRate {
			continue
		}
		r := list.item(fmt.Sprintf("%s writes in the window", quantity.Count(k.Writes())))
		m.name(r, gr)
		for _, x := range []struct {
			key string
			n   float64
		}{{"createsPerSecond", k.Creates}, {"updatesPerSecond", k.Updates}, {"deletesPerSecond", k.Deletes}} {
			if x.n > 0 {
				r.set(x.key, m.rate(x.n))
			}
		}
		m.bytes(r, "objectBytes", gr, k)
		r.set("live", whole(k.Objects, mostObjects))
		watchers, scope := watching(k)
		r.set("watchers", whole(watchers, mostWatchers))
		r.set("scope", scope)
		shape(r, k)
	}
}

func (m *maker) name(r *node, gr profile.GroupResource) {
	if gr.Group != "" {
		r.set("group", gr.Group)
	}
	r.set("resource", gr.Resource)
}

// mostObjects is what a profile takes of one kind.
const mostObjects = 100_000_000

// mostWatchers is what a profile takes of watchers, and of those that list.
const mostWatchers = 10_000_000

// assumedBytes stands for a size that nobody tells.
const assumedBytes = 2000

func (m *maker) bytes(r *node, key string, gr profile.GroupResource, k *Kind) {
	if k.Bytes > 0 {
		r.set(key, objectBytes(k.Bytes), k.BytesFrom)
		return
	}
	r.set(key, assumedBytes, "assumed: no size was told or read")
	if !slices.Contains(m.unseen, gr.String()) {
		m.unseen = append(m.unseen, gr.String())
	}
}

// watching is how many clients watch a kind, and the scope that most of them have.
func watching(k *Kind) (n float64, scope string) {
	scope, most := "all", 0.0
	for _, s := range []struct{ of, is string }{{"cluster", "all"}, {"namespace", "namespace"}, {"resource", "single"}} {
		v := k.Watchers[s.of]
		n += v
		if v > most {
			scope, most = s.is, v
		}
	}
	return n, scope
}

// mostlyLong is the share of long texts from which a kind is called opaque.
const mostlyLong = 0.6

func shape(r *node, k *Kind) {
	if k.Opaque >= mostlyLong {
		r.set("shape", "opaque", fmt.Sprintf("%.0f %% of what was read is in long texts", k.Opaque*100))
	}
}
