package report

import (
	"html/template"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/quantity"
)

// view is what the template prints: texts and coordinates, nothing to decide.
type view struct {
	Style     template.CSS
	StyleHash string

	Name, Digest, RecipeDigest, Version string
	Words                               Words
	Pressures                           []pressureView
	PressureScale                       []tick
	Growths                             []growthView
	Ladders                             []ladderView
	Past                                bool
	Topologies                          []topology
	Bill                                billView
	Changes                             []changeView
	Rollout                             []stepView
	Findings                            []findingView
	FigureSets                          []figureSet
	SameLayout                          bool
}

// pressureView is one axis' pressure as a bar with its band.
type pressureView struct {
	Axis, Value, Range, Limit, State string
	Binding                          bool
	Bar, From, To, Wall              float64
	// Past marks a bar that is longer than there is room for.
	Past   bool
	Ratios []ratioView
	Desc   string
}

// ratioView is one ceiling that was considered.
type ratioView struct {
	Label  string
	Number numberView
	Figure figureView
}

// changeView is one line of what each change would do.
type changeView struct {
	Change, Verdict, Resident string
	Advised                   bool
	Pressures                 []string
}

type stepView struct{ Title, Why, Check, Hazard string }

type findingView struct {
	Code, Severity, Place, Message, Fix, Ref string
	// More are the further ones of the same code and severity.
	More []findingView
}

func newView(in Input) *view {
	plus := in.Present.Layout
	plus.Apiservers = max(plus.Apiservers, 1) + 1
	figures := newFigureIndex(
		layoutFigures{"present", "Today’s layout", "every figure", in.Present},
		layoutFigures{"plus", "One more apiserver", "those that differ from today’s", estimate.Compute(in.Profile, plus)},
		layoutFigures{"recipe", "The recipe", "those that differ from today’s", in.After},
	)
	v := &view{
		Name: in.Profile.Name, Digest: in.Digest, RecipeDigest: in.Recipe.Digest, Version: in.Version,
		Words: in.Words, Past: in.Recipe.PastLadder(),
		Pressures: pressures(in.Present, figures), Growths: growths(in), Ladders: ladders(in),
		Bill: newBill(in, figures), FigureSets: figures.sets,
	}
	v.Topologies = []topology{newTopology("topology-present", "Today’s layout", in.Present)}
	if len(v.Growths) > 0 && v.Growths[0].Recipe {
		v.Topologies = append(v.Topologies, newTopology("topology-recipe", "The recipe’s layout", in.After))
	} else {
		v.SameLayout = true
	}
	v.Changes = changes(in)
	if in.Plan != nil {
		for _, s := range in.Plan.Rollout {
			v.Rollout = append(v.Rollout, stepView{s.Title, s.Why, s.Expect, s.Hazard})
		}
	}
	v.Findings = findings(in.Findings)
	return v
}

// findings puts those of one code together, the gravest first: one of its kind
// says what the others do.
func findings(all []finding.Finding) (views []findingView) {
	for _, severity := range []finding.Severity{finding.Error, finding.Warning, finding.Info} {
		for _, f := range all {
			if f.Severity != severity {
				continue
			}
			v := findingView{Code: f.Code, Severity: severity.String(), Place: f.Path, Message: f.Message, Fix: f.Fix, Ref: f.Ref}
			i := slices.IndexFunc(views, func(x findingView) bool { return x.Code == v.Code && x.Severity == v.Severity })
			if i < 0 {
				views = append(views, v)
			} else {
				views[i].More = append(views[i].More, v)
			}
		}
	}
	return views
}

const (
	barWidth = 340.0
	// mostPressure is the longest bar; what is past it ends in an arrow.
	mostPressure = 4.0
	// shownRatios is how many ceilings of an axis are listed with their formulas.
	shownRatios = 5
)

// pressures puts the axes on one scale, on which the wall is at the same place.
func pressures(e *estimate.Estimate, figures *figureIndex) []pressureView {
	most := 1.25
	for _, p := range e.Pressures {
		most = max(most, min(p.High, mostPressure))
	}
	x := func(v float64) float64 { return round(min(v/most, 1) * barWidth) }
	var all []pressureView
	for _, p := range e.Pressures {
		v := pressureView{Axis: string(p.Axis), Value: quantity.Ratio(p.Value),
			Range: quantity.Ratio(p.Low) + " to " + quantity.Ratio(p.High),
			Limit: p.Limit, Binding: p.Axis == e.Binding,
			Bar: max(x(p.Value), 1), From: x(p.Low), To: x(p.High), Wall: x(1), Past: p.High > most, State: "calm"}
		v.Desc = v.Value + " of the ceiling, " + v.Range + "; 1 is the wall"
		switch {
		case p.Value >= 1:
			v.State = "over"
		case p.High >= estimate.Comfortable:
			v.State = "near"
		}
		for i, r := range p.Ratios {
			if i == shownRatios {
				break
			}
			v.Ratios = append(v.Ratios, ratioView{r.Label, figures.number(r, "present"), figures.view("present", r)})
		}
		all = append(all, v)
	}
	return all
}

// changes are the what-ifs, after the layout as it is.
func changes(in Input) []changeView {
	total, _ := in.Present.Figure("resident.total")
	now := changeView{Change: "as it is", Resident: quantity.Bytes(total.Value)}
	for _, p := range in.Present.Pressures {
		now.Pressures = append(now.Pressures, quantity.Ratio(p.Value))
	}
	all := []changeView{now}
	for _, w := range in.WhatIfs {
		c := changeView{Change: w.Change, Verdict: strings.TrimSpace(w.Verdict), Resident: quantity.Bytes(w.ResidentTotal.Value), Advised: w.Advised}
		for _, p := range w.Pressures {
			c.Pressures = append(c.Pressures, quantity.Ratio(p.Value))
		}
		all = append(all, c)
	}
	return all
}
