package estimate

import (
	"math"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/quantity"
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

// Compare estimates one layout, under a name and in words, against the one the
// profile starts from.
func Compare(p *profile.Profile, name, text string, l Layout) WhatIf {
	return newModel(p, Stock(p)).compare(change{name, text, l}, newModel(p, l))
}

// changes lists what can be done to the present layout.
func (m *model) changes() (cs []change) {
	l := m.l
	l.Apiservers = int(m.apiservers) + 1
	cs = append(cs, change{"apiserver-plus-one", "one more apiserver", l})
	if m.quota().value < suggestedQuotaGiB*gib && strings.HasSuffix(m.ratios[m.binding][0].ID, "."+mainStore) &&
		!strings.Contains(m.ratios[m.binding][0].ID, ".commits.") {
		l := m.l
		l.QuotaGiB = suggestedQuotaGiB
		cs = append(cs, change{"quota-8gib", "etcd's quota raised to 8 GiB", l})
	}
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
		cs = append(cs, change{"cache-off", r.label() + " off the watch cache", l})
	}
	if group := m.tierCandidate(); group != "" {
		l := m.l
		l.Aggregated = append(slices.Clone(l.Aggregated), TierGroups{Name: tierName(group), Groups: []string{group}, Replicas: 2})
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

// The resources whose watch cache must stay: every node or every controller
// watches them all the time (k8s #51825); kubelets watch each secret and
// config map that their pods mount.
var neverCold = []profile.GroupResource{
	grPods, grNodes, grLeases, grEvents, {Resource: "services"}, {Resource: "endpoints"}, {Resource: "namespaces"},
	{Resource: "serviceaccounts"}, {Resource: "secrets"}, {Resource: "configmaps"}, {Group: "storage.k8s.io", Resource: "csinodes"}, {Group: "discovery.k8s.io", Resource: "endpointslices"},
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
		if r.builtIn || m.tierOf(r) >= 0 || slices.Contains(bootstrapGroups, r.Group) {
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

// bootstrapGroups are of pod networks: what is served before the first pod has
// an address cannot wait for a tier that may itself need one.
var bootstrapGroups = []string{"cilium.io", "crd.projectcalico.org", "projectcalico.org"}

// tierName is the group with dashes, as stores and pods may be called.
func tierName(group string) string { return strings.ReplaceAll(group, ".", "-") }

// compare says what a change did.
func (m *model) compare(c change, after *model) WhatIf {
	w := WhatIf{Name: c.name, Change: c.text, Pressures: after.pressures}
	w.MainWrites, _ = after.figure("store.main.writes")
	w.HeapPerApiserver, _ = after.figure("apiserver.heap")
	w.ResidentTotal, _ = after.figure("resident.total")
	relief := m.relief(after)
	w.Advised = relief && m.wantsLayout()
	w.Verdict = m.verdict(c, after, relief)
	return w
}

// relief reports whether the binding axis' pressure falls noticeably.
func (m *model) relief(after *model) bool {
	b, n := m.worst().Value, after.pressures[slices.Index(Axes, m.binding)].Value
	return b > 0 && b-n >= noticeable*b
}

// wantsLayout is false where no change of layout is called for: where there is
// no trouble, or one that no layout mends.
func (m *model) wantsLayout() bool {
	switch m.class {
	case comfortably, slowDisk, runaway, dataplane:
		return false
	}
	return true
}

// verdict says in a few words what a change does: to the binding axis, to the
// others, to memory and to the main etcd.
func (m *model) verdict(c change, after *model, relief bool) string {
	parts := []string{m.onBinding(after, relief)}
	for i, a := range Axes {
		b, n := m.pressures[i].Value, after.pressures[i].Value
		if a == m.binding || max(b, n) < worthSaying {
			continue
		}
		switch {
		case b-n >= noticeable*b:
			parts = append(parts, "lowers "+string(a)+" "+fromTo(b, n))
		case n-b >= noticeable*n:
			parts = append(parts, "raises "+string(a)+" "+fromTo(b, n))
		}
	}
	if d := after.resident.value - m.resident.value; math.Abs(d) >= 0.05*gib {
		parts = append(parts, signed(d)+" resident")
	}
	before, _ := m.figure("store.main.writes")
	now, _ := after.figure("store.main.writes")
	if d := before.Value - now.Value; d >= 1 && d >= noticeable*before.Value {
		parts = append(parts, quantity.With(d, "writes/s")+" off the main etcd")
	}
	switch c.name {
	case "longer-lease":
		parts = append(parts, "a dead node is noticed after 200 s")
	case "quota-8gib":
		parts = append(parts, "a member with 8 GiB needs about a minute to start")
	}
	return strings.Join(parts, "; ")
}

// fromTo writes a pressure before and after.
func fromTo(before, after float64) string {
	return quantity.Ratio(before) + " to " + quantity.Ratio(after)
}

// signed writes a difference in bytes.
func signed(d float64) string {
	if d > 0 {
		return "+" + quantity.Bytes(d)
	}
	return quantity.Bytes(d)
}

// worthSaying is the pressure below which an axis' change is not worth words.
const worthSaying = 0.1

// onBinding is the part of a verdict about the binding axis. Where its nearest
// ceiling stays, a ceiling behind it may still fall.
func (m *model) onBinding(after *model, relief bool) string {
	i := slices.Index(Axes, m.binding)
	b, n := m.pressures[i], after.pressures[i]
	switch {
	case relief && m.wantsLayout():
		return "helps " + string(m.binding) + " " + fromTo(b.Value, n.Value)
	case relief:
		return "not called for (" + string(m.binding) + " " + fromTo(b.Value, n.Value) + ")"
	case n.Value-b.Value >= noticeable*b.Value && n.Value >= worthSaying:
		return "no relief: raises " + string(m.binding) + " " + fromTo(b.Value, n.Value)
	}
	text := "no relief for " + string(m.binding)
	for i, r := range b.Ratios {
		if r.Value < worthSaying {
			break
		}
		j := slices.IndexFunc(n.Ratios, func(x Figure) bool { return x.ID == r.ID })
		if j < 0 || r.Value-n.Ratios[j].Value < noticeable*r.Value {
			continue
		}
		behind := r.Label + " " + fromTo(r.Value, n.Ratios[j].Value)
		if i == 0 {
			return text + " (" + behind + ", but " + n.Limit + " at " + quantity.Ratio(n.Value) + ")"
		}
		return text + " (" + b.Limit + " stays; " + behind + ")"
	}
	return text
}

func (m *model) figure(id string) (Figure, bool) {
	i := slices.IndexFunc(m.figures, func(f Figure) bool { return f.ID == id })
	if i < 0 {
		return Figure{}, false
	}
	return m.figures[i], true
}
