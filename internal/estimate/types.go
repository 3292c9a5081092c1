package estimate

import (
	"strings"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/profile"
)

// Axis is one of the three independent loads.
type Axis string

// The axes, in the order they are shown.
const (
	Node  Axis = "node"
	Churn Axis = "churn"
	State Axis = "state"
)

// Axes lists the axes in the order they are shown.
var Axes = []Axis{Node, Churn, State}

// Layout is the arrangement of stores, apiservers and caches whose cost is
// estimated. The zero value with Apiservers set is the stock layout.
type Layout struct {
	// Apiservers counts processes that serve clients in general.
	Apiservers int `json:"apiservers"`
	// NodeTier counts extra apiservers that only kubelets and kube-proxies talk to.
	NodeTier int `json:"nodeTier,omitempty"`
	// EventsStore and LeasesStore say that those resources have an etcd of their own.
	EventsStore bool `json:"eventsStore,omitempty"`
	LeasesStore bool `json:"leasesStore,omitempty"`
	// LeasesEphemeral says that the leases store does not wait for a disk.
	LeasesEphemeral bool `json:"leasesEphemeral,omitempty"`
	// Uncached resources are off the watch cache of every general apiserver, or of
	// the aggregated servers of their group.
	Uncached []profile.GroupResource `json:"uncached,omitempty"`
	// UncachedNodeTier resources are off the watch cache of the node tier.
	UncachedNodeTier []profile.GroupResource `json:"uncachedNodeTier,omitempty"`
	// ConsumerTiers are apiservers for one kind of client, each caching only what it needs.
	ConsumerTiers int `json:"consumerTiers,omitempty"`
	// Aggregated holds the API groups that left the main apiservers for a tier of their own.
	Aggregated []TierGroups `json:"aggregated,omitempty"`
	// CompactionSeconds is the interval at which apiservers compact etcd; 0 means upstream's 300.
	CompactionSeconds int `json:"compactionSeconds,omitempty"`
	// Seats is the sum of max-requests-inflight and max-mutating-requests-inflight; 0 means upstream's 600.
	Seats int `json:"seats,omitempty"`
	// LeaseDurationSeconds overrides the profile's lease duration when not 0.
	LeaseDurationSeconds int `json:"leaseDurationSeconds,omitempty"`
	// QuotaGiB overrides the profile's etcd quota when not 0.
	QuotaGiB float64 `json:"quotaGiB,omitempty"`
}

// TierGroups is one aggregated tier: a server and store of its own for some groups.
type TierGroups struct {
	Name     string   `json:"name"`
	Groups   []string `json:"groups"`
	Replicas int      `json:"replicas"`
}

// Process is a kind of API server of a layout.
type Process struct {
	// ID begins the names of its figures: "apiserver", "nodetier", "consumertier"
	// or "tier.NAME".
	ID string
	// Tier is the NAME of an aggregated tier.
	Tier string
	// Count is how many of it run.
	Count int
}

// Words are what a kind of process is called, by its ID.
func Words(id string) string {
	switch id {
	case "apiserver":
		return "kube-apiserver"
	case "nodetier":
		return "kube-apiserver of the node tier"
	case "consumertier":
		return "kube-apiserver of a consumer tier"
	}
	return "aggregated server " + strings.TrimPrefix(id, "tier.")
}

// Processes lists the kinds of API server, the main one first, in the order of
// their figures.
func (l Layout) Processes() []Process {
	all := []Process{{ID: "apiserver", Count: max(l.Apiservers, 1)}}
	if l.NodeTier > 0 {
		all = append(all, Process{ID: "nodetier", Count: l.NodeTier})
	}
	if l.ConsumerTiers > 0 {
		all = append(all, Process{ID: "consumertier", Count: l.ConsumerTiers})
	}
	for _, t := range l.Aggregated {
		all = append(all, Process{ID: "tier." + t.Name, Tier: t.Name, Count: max(t.Replicas, 1)})
	}
	return all
}

// Figure is a number that explains itself.
type Figure struct {
	// ID is stable and dotted: "store.main.writes", "apiserver.heap".
	ID    string `json:"id"`
	Label string `json:"label"`
	// Unit is writes/s, commits/s, bytes, seats, connections, events/s or ratio.
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// Formula is the arithmetic in names of Inputs.
	Formula string  `json:"formula"`
	Inputs  []Input `json:"inputs"`
	// Source is the published figure or upstream code the formula rests on.
	Source string `json:"source"`
}

// Input is one named number of a formula.
type Input struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
	// Source is "profile", "default", "layout", "figure ID" or a citation.
	Source string `json:"source"`
}

// Pressure is demand over the ceiling of the layout, on one axis; 1 is the wall.
type Pressure struct {
	Axis  Axis    `json:"axis"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// Limit names the ceiling that is nearest: "etcd commits", "apiserver memory".
	Limit string `json:"limit"`
	// Ratios are all the ceilings considered, as figures of unit ratio, largest first.
	Ratios []Figure `json:"ratios"`
}

// WhatIf is one change of layout and what it does to every axis.
type WhatIf struct {
	// Name is stable: "apiserver-plus-one", "quota-8gib", "events-store",
	// "leases-store", "cache-off", "aggregated-tier", "longer-lease"; "recipe" is
	// Compare's, where it is asked about a whole recipe.
	Name   string `json:"name"`
	Change string `json:"change"`
	// Pressures are the axes' pressures after the change, in the order of Axes.
	Pressures []Pressure `json:"pressures"`
	// MainWrites, HeapPerApiserver and ResidentTotal are figures after the change.
	MainWrites       Figure `json:"mainWrites"`
	HeapPerApiserver Figure `json:"heapPerApiserver"`
	ResidentTotal    Figure `json:"residentTotal"`
	// Verdict says in a few words whether it helps: "helps node", "no relief, costs 9.6 GiB".
	Verdict string `json:"verdict"`
	// Advised is false when the change does not relieve the binding axis.
	Advised bool `json:"advised"`
}

// Estimate is everything computed from one profile on one layout.
type Estimate struct {
	Layout  Layout   `json:"layout"`
	Figures []Figure `json:"figures"`
	// Pressures has one entry an axis, in the order of Axes.
	Pressures []Pressure `json:"pressures"`
	// Binding is the axis with the largest pressure.
	Binding Axis `json:"binding"`
	// Class says what kind of trouble it is: "slow-disk", "runaway-controller",
	// "dataplane", "comfortable", "heartbeat", "fan-out", "events", "cr-churn",
	// "builtin-churn", "crd-schemas", "list-burst" or "resident-state". Whether a
	// load is past the ladder is for the recipe to say.
	Class string `json:"class"`
	// Subject is the resource, group or setting the class is about, where there is one.
	Subject string `json:"subject,omitempty"`
	// Measures are the demands that rung envelopes limit, by axis and name.
	Measures map[Axis]map[string]Figure `json:"measures"`
	// Findings hold the advice that is not a rung: slow disk, runaway controller, flapping leases.
	Findings []finding.Finding `json:"findings"`
}

// Figure returns the figure with the given ID; ok is false when there is none.
func (e *Estimate) Figure(id string) (f Figure, ok bool) {
	for _, f := range e.Figures {
		if f.ID == id {
			return f, true
		}
	}
	return Figure{}, false
}
