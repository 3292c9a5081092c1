package diff

import (
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
)

// Diff is what would change between what runs and a plan.
type Diff struct {
	Profile  string   `json:"profile"`
	Platform string   `json:"platform"`
	Version  string   `json:"version"`
	Rungs    []string `json:"rungs"`
	// Changed is whether anything has to change.
	Changed bool `json:"changed"`
	// Documents are those that change or are to be added, in the order of the
	// files that were given, the added ones last.
	Documents []Document `json:"documents"`
	// NotCompared are rendered files of which the existing files hold no kind, so
	// that nobody can tell whether they are in place.
	NotCompared []string `json:"notCompared"`
	// Instructions are rendered files that people read or steps run, and that no
	// existing file has the path of: nothing can be in force of them.
	Instructions []string `json:"instructions"`
	// Ignored are existing files with nothing in them that a plan may own.
	Ignored []string `json:"ignored,omitempty"`
	// Rollout is the order in which to get there; empty when nothing changes.
	Rollout []Step `json:"rollout"`
	// Hazards are those of the chosen rungs; empty when nothing changes.
	Hazards  []Hazard          `json:"hazards"`
	Findings []finding.Finding `json:"findings"`
}

// The actions on a document.
const (
	ActionChange = "change"
	ActionAdd    = "add"
)

// Document is one document that changes or is to be added.
type Document struct {
	// File is where it stands, or for an added one the path it is rendered to.
	File string `json:"file"`
	// Within is the field of a ConfigMap or the item of a List that it was found in.
	Within string `json:"within,omitempty"`
	// Object is its kind and, where it has one, its name.
	Object string `json:"object"`
	Action string `json:"action"`
	// Changes are empty for an added document.
	Changes []Change `json:"changes,omitempty"`
	// Reasons are why an added document is wanted.
	Reasons []Reason `json:"reasons,omitempty"`
	// Patch is the change as a JSON Patch (RFC 6902) of the decoded document, with
	// a test before whatever it replaces.
	Patch []Operation `json:"patch,omitempty"`
	// New is an added document.
	New any `json:"new,omitempty"`

	// beside is the directory of the host's other manifests, where an added one
	// belongs; empty when they stand in no files of their own.
	beside        string
	before, after []byte
	// edit is where the document's text stands in its file, for those that do.
	edit *edit
}

// edit is a document's place in its file.
type edit struct{ start, end int }

// The operations of a change.
const (
	OpAdd     = "add"
	OpReplace = "replace"
	OpRemove  = "remove"
)

// Change is one value that changes.
type Change struct {
	// Path is the field, with an entry of a list by its name: "spec.etcdClusters[events]".
	Path string `json:"path"`
	// Flag is the flag that the value is, with its dashes; empty for a plain field.
	Flag string `json:"flag,omitempty"`
	// Entry is the part of a list flag that changes, such as a route or a gate.
	Entry string `json:"entry,omitempty"`
	Op    string `json:"op"`
	// Old is absent for what is new, New for what goes.
	Old     any      `json:"old,omitempty"`
	New     any      `json:"new,omitempty"`
	Reasons []Reason `json:"reasons"`
}

// Reason is who asks for a value: a rung, or a field of the profile.
type Reason struct {
	// Rung is the ID of a chosen rung; empty when the profile asks by itself.
	Rung string `json:"rung,omitempty"`
	// Seams are where the value takes Kubernetes apart; none for a limit of a client or a server.
	Seams []string `json:"seams,omitempty"`
	// Profile is the field of the profile that asks.
	Profile string `json:"profile,omitempty"`
}

// Operation is one step of a JSON Patch.
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// Step is one step of the rollout.
type Step struct {
	plan.Step
	// Done is true when all the manifests that the step installs stand already as they are wanted.
	Done bool `json:"done,omitempty"`
}

// Hazard is what can go wrong with a chosen rung, and what contains it.
type Hazard struct {
	Rung       string `json:"rung"`
	What       string `json:"what"`
	Mitigation string `json:"mitigation"`
	Ref        string `json:"ref,omitempty"`
}
