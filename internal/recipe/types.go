package recipe

import (
	"bytes"
	"encoding/json"

	"github.com/kubeseams/seams/internal/estimate"
)

// Status is how far a rung's numbers can be trusted.
type Status string

// The statuses: proven here, published by others, derived from published
// numbers, or not built by anybody.
const (
	Validated Status = "validated"
	Published Status = "published"
	Derived   Status = "derived"
	Open      Status = "open"
)

// Rung is one step of the ladder; #Rung in schemas/rung.cue is its CUE twin.
type Rung struct {
	// ID is axis/name: "node/leases-store".
	ID    string        `json:"id"`
	Axis  estimate.Axis `json:"axis"`
	Order int           `json:"order"`
	Title string        `json:"title"`
	// Summary says in one or two sentences what it does and for whom.
	Summary string `json:"summary"`
	Status  Status `json:"status"`
	// Optional rungs are never chosen by themselves: they join a recipe only
	// when they are named.
	Optional bool `json:"optional,omitempty"`
	// Envelope limits measures by axis and name (estimate.Measures), high band.
	Envelope map[estimate.Axis]map[string]float64 `json:"envelope"`
	// Seams are the places it takes apart: storage, node-liveness, shard-axis, cache-residency.
	Seams    []string     `json:"seams"`
	Requires Requires     `json:"requires"`
	Hazards  []Hazard     `json:"hazards"`
	Proof    *Proof       `json:"proof,omitempty"`
	Evidence []Evidence   `json:"evidence"`
	Moves    SettingsPart `json:"moves"`
}

// SettingsPart is a rung's moves as plain data, for display; the unification
// happens in CUE and yields Settings.
type SettingsPart map[string]any

// Requires is what a rung needs of the versions around it.
type Requires struct {
	// KubernetesMin and KubernetesMax are minors, "1.36"; empty means no bound.
	KubernetesMin string `json:"kubernetesMin,omitempty"`
	KubernetesMax string `json:"kubernetesMax,omitempty"`
	KopsMin       string `json:"kopsMin,omitempty"`
	EtcdMin       string `json:"etcdMin,omitempty"`
	// FeatureGates maps a gate to the least stage that is acceptable: ALPHA, BETA, GA.
	FeatureGates map[string]string `json:"featureGates,omitempty"`
	// Predicates are named version behaviours of package target that must hold.
	Predicates []string `json:"predicates,omitempty"`
	// Platforms the rung can be rendered for; empty means all.
	Platforms []string `json:"platforms,omitempty"`
}

// Hazard is what can go wrong and what contains it.
type Hazard struct {
	What       string `json:"what"`
	Mitigation string `json:"mitigation"`
	Ref        string `json:"ref,omitempty"`
}

// Proof is the load of a proof run and the limits that decide it.
type Proof struct {
	Load   map[string]any `json:"load"`
	Limits []ProofLimit   `json:"limits"`
}

// ProofLimit is one pass/fail line of a proof.
type ProofLimit struct {
	Metric string  `json:"metric"`
	Op     string  `json:"op"` // <=, >=, <, >
	Value  float64 `json:"value"`
	Unit   string  `json:"unit,omitempty"`
	// Against is "absolute" or "stock": a ratio to the stock layout in the same run.
	Against string `json:"against"`
	Why     string `json:"why"`
}

// Evidence is one thing a rung's numbers rest on.
type Evidence struct {
	// Kind is published, proof or derived.
	Kind  string `json:"kind"`
	Claim string `json:"claim"`
	// Source is where to read it; for a proof, the record's file.
	Source string `json:"source"`
	// Vanilla is false when the published cluster ran patched components.
	Vanilla bool `json:"vanilla"`
}

// Choice is the outcome of selection on one axis.
type Choice struct {
	Axis estimate.Axis `json:"axis"`
	Rung Rung          `json:"rung"`
	// PastLadder is true when only the open rung is left.
	PastLadder bool `json:"pastLadder"`
	// Rejected are the lower rungs, and any others asked about, with the reason.
	Rejected []Rejection `json:"rejected"`
	// Beyond says which limits the demand exceeds where the axis' own rung does
	// not vouch for it either: the evidence does not speak for this cluster there.
	Beyond []string `json:"beyond,omitempty"`
	// Quiet is true when nothing of the axis is near a ceiling, so that the rung
	// is the lowest one whatever its envelope says; Covering is then the lowest
	// whose envelope covers the demand, where that is another one.
	Quiet    bool   `json:"quiet,omitempty"`
	Covering string `json:"covering,omitempty"`
}

// Rejection is a rung that was not chosen, and why.
type Rejection struct {
	ID      string   `json:"id"`
	Reasons []string `json:"reasons"`
}

// Recipe is the chosen rungs and what they come to.
type Recipe struct {
	Choices []Choice `json:"choices"`
	// With are the optional rungs that were asked for, in the order of the ladder.
	With []Rung `json:"with,omitempty"`
	// Settings are the unification of base and rungs.
	Settings Settings `json:"settings"`
	// Layout is what Settings mean to the estimator, for this profile.
	Layout estimate.Layout `json:"layout"`
	// Digest identifies the rungs and settings: "sha256:…".
	Digest string `json:"digest"`

	// Present and Estimate are the estimates that the choice was made by: of the
	// layout that every cluster begins with, and of Layout.
	Present  *estimate.Estimate `json:"-"`
	Estimate *estimate.Estimate `json:"-"`
}

// PastLadder reports whether any axis is past its last built rung.
func (r *Recipe) PastLadder() bool {
	for _, c := range r.Choices {
		if c.PastLadder {
			return true
		}
	}
	return false
}

// Stock reports whether the recipe changes nothing.
func (r *Recipe) Stock() bool {
	settings, err := json.Marshal(r.Settings)
	nothing, errNothing := json.Marshal(Settings{})
	return err == nil && errNothing == nil && bytes.Equal(settings, nothing)
}
