package estimate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/profile"
)

// noticeable is the part of a pressure a change must take away to count as relief.
const noticeable = 0.05

// change is one candidate of what-if: the layout after it.
type change struct {
	name, text string
	layout     Layout
}

// WhatIfs estimates each single change to the layout, in a fixed order. A
// change that is already made, or has nothing to act on, is not offered: there
// is no aggregated tier without custom resources.
func WhatIfs(p *profile.Profile, l Layout) []WhatIf {
	before := newModel(p, l)
	var out []WhatIf
	for _, c := range before.changes() {
		out = append(out, before.compare(c, newModel(p, c.layout)))
	}
	return out
}

// changes lists what can be done to the present layout.
func (m *model) changes() (cs []change) {
	l := m.l
	l.Apiservers = int(m.apiservers) + 1
	cs = append(cs, change{"apiserver-plus-one", "one more apiserver", l})
	if !m.l.EventsStore {
		l := m.l
		l.EventsStore = true
		cs = append(cs, change{"events-store", "events on an etcd of their own", l})
	}
	if !m.l.LeasesStore {
		l := m.l
		l.LeasesStore = true
		text := "leases on an etcd of their own"
		// With one disk only a store in memory takes commits off it.
		if m.durableStores() >= max(m.p.ControlPlane.EtcdDisks, 1) {
			l.LeasesEphemeral = true
			text += ", in memory"
		}
		cs = append(cs, change{"leases-store", text, l})
	}
	if r := m.coldest(); r != nil {
		l := m.l
		l.Uncached = append(slices.Clone(l.Uncached), r.GroupResource)
		cs = append(cs, change{"cache-off", r.String() + " off the watch cache", l})
	}
	if group := m.tierCandidate(); group != "" {
		l := m.l
		l.Aggregated = append(slices.Clone(l.Aggregated), TierGroups{Name: m.tierName(group), Groups: []string{group}, Replicas: 2})
		cs = append(cs, change{"aggregated-tier", group + " on an aggregated tier with its own etcd", l})
	}
	if m.leaseDuration().value < longLeaseSeconds {
		l := m.l
		l.LeaseDurationSeconds = longLeaseSeconds
		cs = append(cs, change{"longer-lease", "node leases of 160 s, grace 200 s", l})
	}
	return cs
}

// longLeaseSeconds is renewed every 40 s; it needs a grace period of five
// renewals, 200 s, after which a dead node is noticed.
const longLeaseSeconds = 160

// The resources whose watch cache must stay: many clients watch each of them
// all the time (k8s #51825).
var neverCold = []profile.GroupResource{
	grPods, grNodes, grLeases, grEvents, {Resource: "services"}, {Resource: "endpoints"}, {Resource: "namespaces"},
	{Resource: "serviceaccounts"}, {Group: "discovery.k8s.io", Resource: "endpointslices"},
}

// Limits of what is called cold.
const (
	coldListers = 3
	coldWatches = 2
	coldWrites  = 1.0
)

// coldest is the largest resource that hardly anybody lists, watches or
// writes and that is still on the watch cache of the general apiservers.
func (m *model) coldest() *resource {
	reaches := true
	if t, err := m.p.Target(); err == nil {
		reaches = t.WatchCacheSizesReachCustomResources()
	}
	var ps []part
	for _, r := range m.procs[0].resources {
		if slices.Contains(neverCold, r.GroupResource) || r.custom() && !reaches ||
			r.listers > coldListers || r.watchers > coldWatches || r.rate > coldWrites {
			continue
		}
		if v := m.cached[r.id].total.value; v > 0 {
			ps = append(ps, part{r, v})
		}
	}
	return largestOf(ps).resource
}

// tierCandidate is the group of custom resources still in main that is the
// largest in memory when state binds, and otherwise the one that writes most
// bytes; "" when there is none.
func (m *model) tierCandidate() string {
	weight := map[string]float64{}
	var groups []string
	for _, r := range m.resources {
		if r.builtIn || m.tierOf(r) >= 0 {
			continue
		}
		if _, seen := weight[r.Group]; !seen {
			groups = append(groups, r.Group)
		}
		if m.binding == State {
			weight[r.Group] += m.cached[r.id].total.value
		} else {
			weight[r.Group] += r.rate*(r.writeBytes.value+rowBytes.value) + 1e-9*m.cached[r.id].total.value
		}
	}
	slices.Sort(groups)
	best := ""
	for _, g := range groups {
		if best == "" || weight[g] > weight[best] {
			best = g
		}
	}
	return best
}

// tierName is the first label of the group, made different from the tiers there are.
func (m *model) tierName(group string) string {
	name, _, _ := strings.Cut(group, ".")
	taken := func(n string) bool {
		return n == mainStore || n == eventsStore || n == leasesStore ||
			slices.ContainsFunc(m.l.Aggregated, func(t TierGroups) bool { return t.Name == n })
	}
	for n, i := name, 2; ; i++ {
		if !taken(n) {
			return n
		}
		n = fmt.Sprintf("%s-%d", name, i)
	}
}

// compare says what a change did.
func (m *model) compare(c change, after *model) WhatIf {
	w := WhatIf{Name: c.name, Change: c.text, Pressures: after.pressures}
	w.MainWrites, _ = after.figure("store.main.writes")
	w.HeapPerApiserver, _ = after.figure("apiserver.heap")
	w.ResidentTotal, _ = after.figure("resident.total")
	var helps, hurts []string
	for i, a := range Axes {
		b, n := m.pressures[i].Value, after.pressures[i].Value
		step := fmt.Sprintf("%s %.2f to %.2f", a, b, n)
		switch {
		case b-n >= noticeable*b && b > 0:
			helps = append(helps, step)
			w.Advised = w.Advised || a == m.binding
		case n-b >= noticeable*max(b, n) && n > 0:
			hurts = append(hurts, step)
		}
	}
	w.Verdict = m.verdict(c, after, helps, hurts, w.Advised)
	return w
}

func (m *model) verdict(c change, after *model, helps, hurts []string, advised bool) string {
	var parts []string
	switch {
	case len(helps) > 0 && advised:
		parts = append(parts, "helps "+strings.Join(helps, ", "))
	case len(helps) > 0:
		parts = append(parts, "no relief for "+string(m.binding)+"; lowers "+strings.Join(helps, ", "))
	default:
		parts = append(parts, "no relief for "+string(m.binding))
	}
	if len(hurts) > 0 {
		parts = append(parts, "raises "+strings.Join(hurts, ", "))
	}
	if d := after.resident.value - m.resident.value; d >= 0.01*gib {
		parts = append(parts, fmt.Sprintf("+%.1f GiB resident", d/gib))
	} else if -d >= 0.01*gib {
		parts = append(parts, fmt.Sprintf("-%.1f GiB resident", -d/gib))
	}
	before, _ := m.figure("store.main.writes")
	now, _ := after.figure("store.main.writes")
	if d := before.Value - now.Value; d >= noticeable*before.Value && d > 0 {
		parts = append(parts, fmt.Sprintf("%.0f writes/s off the main etcd", d))
	}
	if c.name == "longer-lease" {
		parts = append(parts, "a dead node is noticed after 200 s")
	}
	return strings.Join(parts, "; ")
}

func (m *model) figure(id string) (Figure, bool) {
	i := slices.IndexFunc(m.figures, func(f Figure) bool { return f.ID == id })
	if i < 0 {
		return Figure{}, false
	}
	return m.figures[i], true
}
