package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/quantity"
)

// topology is which API servers use which stores, as an SVG: servers to the
// left, stores to the right.
type topology struct {
	ID, Title, Desc string
	Width, Height   float64
	Servers, Stores []nodeView
	Edges           []edgeView
	Aggregates      bool
}

// nodeView is one box: what it is, whom it serves, two figures.
type nodeView struct {
	box
	Class, Name, Full string
	Lines             []string
}

// edgeView is a line from a server to a store, or to a tier behind it.
type edgeView struct{ Path, Class string }

const (
	nodeHeight, nodeGap    = 76.0, 16.0
	serverLeft, serverWide = 16.0, 152.0
	storeLeft, storeWide   = 208.0, 150.0
	// lineLetters is what fits into a box at its size of letters, in the widest of usual fonts.
	lineLetters = 21
)

// newTopology draws a layout with the figures of its estimate.
func newTopology(id, title string, e *estimate.Estimate) topology {
	t := topology{ID: id, Title: title, Width: chartWidth}
	kube := kubeServers(e)
	stores := kubeStores(e)
	rows := max(len(kube), len(stores))
	for i := range kube {
		kube[i].place(serverLeft, serverWide, i)
	}
	for i := range stores {
		stores[i].place(storeLeft, storeWide, i)
	}
	for _, s := range kube {
		for _, st := range stores {
			t.Edges = append(t.Edges, edgeView{Path: link(s, st), Class: "edge"})
		}
	}
	for i, tier := range e.Layout.Aggregated {
		server, store := tierNodes(e, tier)
		server.place(serverLeft, serverWide, rows+i)
		store.place(storeLeft, storeWide, rows+i)
		t.Edges = append(t.Edges, edgeView{Path: link(server, store), Class: "edge"},
			edgeView{Path: bracket(kube[0], server), Class: "edge proxied"})
		kube, stores = append(kube, server), append(stores, store)
		t.Aggregates = true
	}
	t.Servers, t.Stores = kube, stores
	t.Height = float64(rows+len(e.Layout.Aggregated))*(nodeHeight+nodeGap) - nodeGap + 4
	for _, n := range slices.Concat(kube, stores) {
		t.Desc += n.Full + ": " + strings.Join(n.Lines, ", ") + ". "
	}
	return t
}

func (n *nodeView) place(x, w float64, row int) {
	n.box = box{x, 2 + float64(row)*(nodeHeight+nodeGap), w, nodeHeight}
}

// link is a curve from a server's right side to a store's left one.
func link(a, b nodeView) string {
	x1, y1, x2, y2 := a.X+a.W, a.Y+a.H/2, b.X, b.Y+b.H/2
	m := (x1 + x2) / 2
	return fmt.Sprintf("M%.0f %.0fC%.0f %.0f %.0f %.0f %.0f %.0f", x1, y1, m, y1, m, y2, x2, y2)
}

// bracket leads around the left side, from the general apiservers to a tier behind them.
func bracket(a, b nodeView) string {
	return fmt.Sprintf("M%.0f %.0fH5V%.0fH%.0f", a.X, a.Y+a.H/2, b.Y+b.H/2, b.X)
}

// kubeServers are the kinds of kube-apiserver.
func kubeServers(e *estimate.Estimate) []nodeView {
	l := e.Layout
	audience := "for every client"
	switch {
	case l.NodeTier > 0 && l.ConsumerTiers > 0:
		audience = "for the other clients"
	case l.NodeTier > 0:
		audience = "for all but nodes"
	}
	nodes := []nodeView{server(e, "apiserver", "kube-apiserver", max(l.Apiservers, 1), audience, len(l.Uncached))}
	if l.NodeTier > 0 {
		nodes = append(nodes, server(e, "nodetier", "node tier", l.NodeTier, "for nodes alone", len(l.UncachedNodeTier)))
	}
	if l.ConsumerTiers > 0 {
		nodes = append(nodes, server(e, "consumertier", "consumer tier", l.ConsumerTiers, "for one kind of client", 0))
	}
	return nodes
}

func server(e *estimate.Estimate, process, name string, count int, audience string, uncached int) nodeView {
	n := nodeView{Class: "server", Name: fmt.Sprintf("%s × %s", name, quantity.Count(float64(count)))}
	n.Full = n.Name
	rss, _ := e.Figure(process + ".rss")
	n.Lines = []string{audience, quantity.Bytes(rss.Value) + " each"}
	if uncached > 0 {
		n.Lines = append(n.Lines, quantity.With(float64(uncached), "kinds")+" uncached")
	} else {
		n.Lines = append(n.Lines, quantity.Bytes(rss.Value*float64(count))+" in all")
	}
	return n
}

// kubeStores are the etcds that kube-apiservers use.
func kubeStores(e *estimate.Estimate) []nodeView {
	l := e.Layout
	rest := "everything"
	if l.EventsStore || l.LeasesStore {
		rest = "everything else"
	}
	nodes := []nodeView{store(e, "main", rest, false)}
	if l.LeasesStore {
		what := "leases"
		if l.LeasesEphemeral {
			what += ", in memory"
		}
		nodes = append(nodes, store(e, "leases", what, l.LeasesEphemeral))
	}
	if l.EventsStore {
		nodes = append(nodes, store(e, "events", "events", false))
	}
	return nodes
}

func store(e *estimate.Estimate, name, what string, ephemeral bool) nodeView {
	n := nodeView{Class: "store", Name: clip(name, lineLetters-8) + " etcd", Full: name + " etcd"}
	if ephemeral {
		n.Class += " ephemeral"
	}
	writes, _ := e.Figure("store." + name + ".writes")
	db, _ := e.Figure("store." + name + ".db")
	n.Lines = []string{what, quantity.With(writes.Value, "writes/s"), quantity.Bytes(db.Value) + " database"}
	return n
}

// tierNodes are an aggregated tier's server and store.
func tierNodes(e *estimate.Estimate, t estimate.TierGroups) (nodeView, nodeView) {
	groups := t.Groups[0]
	if len(t.Groups) > 1 {
		groups = quantity.With(float64(len(t.Groups)), "groups")
	}
	s := server(e, "tier."+t.Name, "aggregated", max(t.Replicas, 1), clip(groups, lineLetters), 0)
	s.Class = "server aggregated"
	s.Full = fmt.Sprintf("aggregated tier %s of %d servers for %s", t.Name, t.Replicas, strings.Join(t.Groups, ", "))
	return s, store(e, t.Name, clip("what its servers hold", lineLetters), false)
}

// clip shortens a name in its middle: groups differ at both ends.
func clip(text string, letters int) string {
	r := []rune(text)
	if len(r) <= letters {
		return text
	}
	head := (letters - 1) * 2 / 3
	return string(r[:head]) + "…" + string(r[len(r)-(letters-1-head):])
}

// TextX and TextY place a box's lines.
func (n nodeView) TextX() float64      { return n.X + 10 }
func (n nodeView) TextY(i int) float64 { return n.Y + 19 + 16*float64(i) }
