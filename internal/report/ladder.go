package report

import (
	"strings"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/recipe"
)

// ladderView is one axis of the ladder, lowest rung first.
type ladderView struct {
	Axis  string
	Rungs []rungView
	// Remarks are what the choice should be read with.
	Remarks []string
}

// rungView is one rung, and why it is in the recipe or not.
type rungView struct {
	ID, Title, Summary, Status string
	// State is chosen, joined, rejected, above, optional or open.
	State, StateText string
	Reasons          []string
	Limits           []string
	Hazards          []hazardView
	Evidence         []evidenceView
	Run              *runView
	Chosen           bool
}

type hazardView struct{ What, Mitigation, Ref string }

type evidenceView struct{ Kind, Claim, Source string }

type runView struct {
	Run
	Text string
}

func ladders(in Input) []ladderView {
	var all []ladderView
	for i, axis := range estimate.Axes {
		l := ladderView{Axis: string(axis)}
		var c recipe.Choice
		if i < len(in.Recipe.Choices) {
			c = in.Recipe.Choices[i]
		}
		passed := false
		for _, r := range in.Rungs {
			if r.Axis != axis {
				continue
			}
			v := newRung(r, in.Runs)
			v.judge(r, c, in.Recipe.With, passed)
			passed = passed || r.ID == c.Rung.ID
			l.Rungs = append(l.Rungs, v)
		}
		l.Remarks = remarks(c)
		all = append(all, l)
	}
	return all
}

func newRung(r recipe.Rung, runs map[string]Run) rungView {
	v := rungView{ID: r.ID, Title: r.Title, Summary: r.Summary, Status: string(r.Status)}
	for _, axis := range estimate.Axes {
		if limits := r.Limits(axis); len(limits) > 0 {
			v.Limits = append(v.Limits, string(axis)+": "+strings.Join(limits, ", "))
		}
	}
	for _, h := range r.Hazards {
		v.Hazards = append(v.Hazards, hazardView(h))
	}
	for _, e := range r.Evidence {
		kind := e.Kind
		if !e.Vanilla {
			kind += ", not a vanilla control plane"
		}
		v.Evidence = append(v.Evidence, evidenceView{kind, e.Claim, e.Source})
	}
	if run, ok := runs[r.ID]; ok {
		v.Run = &runView{run, map[string]string{
			"proven": "our own run met every limit",
			"failed": "our own run missed a limit",
			"stale":  "our own run was of an earlier form of this rung",
		}[run.Standing]}
	}
	return v
}

// judge says what became of the rung.
func (v *rungView) judge(r recipe.Rung, c recipe.Choice, with []recipe.Rung, passed bool) {
	for _, w := range with {
		if w.ID == r.ID {
			v.State, v.StateText, v.Chosen = "joined", "asked for, and joined", true
			return
		}
	}
	for _, x := range c.Rejected {
		if x.ID == r.ID {
			v.State, v.StateText, v.Reasons = "rejected", "not enough", x.Reasons
			return
		}
	}
	switch {
	case r.ID == c.Rung.ID && c.PastLadder:
		v.State, v.StateText, v.Chosen = "past", "all that is left: nobody has built it", true
	case r.ID == c.Rung.ID && c.Quiet:
		v.State, v.StateText, v.Chosen = "chosen", "chosen: no ceiling of this axis is near", true
	case r.ID == c.Rung.ID:
		v.State, v.StateText, v.Chosen = "chosen", "chosen: the lowest that covers the demand", true
	case r.Optional:
		v.State, v.StateText = "optional", "only when asked for"
	case r.Status == recipe.Open:
		v.State, v.StateText = "open", "not built by anybody"
	case passed:
		v.State, v.StateText = "above", "not needed"
	default:
		v.State, v.StateText = "above", "not needed: another rung was asked for"
	}
}

func remarks(c recipe.Choice) (all []string) {
	for _, b := range c.Beyond {
		all = append(all, "Beyond the evidence of "+c.Rung.ID+": "+b+".")
	}
	if c.Covering != "" {
		all = append(all, "The rung whose envelope would cover it: "+c.Covering+".")
	}
	return all
}
