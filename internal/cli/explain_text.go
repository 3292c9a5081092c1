package cli

import (
	"fmt"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/quantity"
	"github.com/kubeseams/seams/internal/recipe"
)

// explainText prints one explanation as a colleague would put it: what binds,
// why the reflex does not help, what to do, on what evidence.
func explainText(s Streams, x *explanation, figures bool) {
	w := s.Out
	e := x.Estimate
	headline(s, x)
	pressureTable(s, e)
	section(s, "What binds")
	paragraph(w, bindingText(x))
	section(s, "Why not just add an apiserver")
	paragraph(w, apiserverText(x))
	section(s, "What to do")
	first, others := firstAdvice(x)
	if first != nil {
		paragraph(w, "First: "+first.Message+". Fix: "+first.Fix+". See "+first.Ref+".")
		fmt.Fprintln(w)
	}
	recipeText(s, x, first != nil)
	section(s, "What each change would do to the present layout")
	whatIfTable(s, x)
	memoryTable(s, x.Memory)
	section(s, "On what evidence")
	evidenceText(s, x.Recipe)
	if len(others) > 0 {
		section(s, "Also")
		for _, f := range others {
			findingParagraph(s, f)
		}
	}
	if figures {
		section(s, "Figures")
		figureText(s, e.Figures)
	}
}

// noRung lists the kinds of trouble that no layout mends: the finding that says
// what does, and what the headline calls it.
var noRung = map[string]struct{ code, headline string }{
	"slow-disk":          {"slow-disk-first", "the disk comes first"},
	"runaway-controller": {"runaway-controller-first", "a looping controller comes first"},
	"dataplane":          {"kubelet-bound", "the machines are the limit, not the control plane"},
	"fan-out":            {"fan-out", "watch fan-out is the limit, and no rung lowers it"},
	"crd-schemas":        {"crd-schemas-fewer", ""},
	"list-burst":         {"list-burst-object-size", ""},
}

// firstAdvice takes out of the findings the one that comes before any rung.
func firstAdvice(x *explanation) (first *finding.Finding, others []finding.Finding) {
	for i, f := range x.Findings {
		if first == nil && f.Code == noRung[x.Estimate.Class].code {
			first = &x.Findings[i]
			continue
		}
		others = append(others, f)
	}
	return first, others
}

func headline(s Streams, x *explanation) {
	fmt.Fprintf(s.Out, "%s: %s\n", paint(s, bold, x.Profile.Name), paint(s, bold, verdictText(x.Estimate)))
	fmt.Fprintf(s.Out, "%s\n\n", clusterText(x))
}

// verdictText says in a few words what the trouble is.
func verdictText(e *estimate.Estimate) string {
	verdict := string(e.Binding) + "-bound"
	if comfortable(e) {
		verdict = "comfortable; " + string(e.Binding) + " is the nearest axis"
	}
	if trouble := noRung[e.Class]; trouble.headline != "" {
		verdict = trouble.headline + "; " + string(e.Binding) + " is the nearest axis"
	}
	return verdict
}

// clusterText says of what size the cluster is, and on what it runs.
func clusterText(x *explanation) string {
	p := x.Profile
	nodes := quantity.With(float64(p.Nodes.Count), "nodes")
	if p.Nodes.Demand() > p.Nodes.Count {
		nodes += " growing to " + count(float64(p.Nodes.Demand()))
	}
	return fmt.Sprintf("%s, %s of %s, Kubernetes %s on %s", nodes,
		quantity.With(float64(x.Estimate.Layout.Apiservers), "apiservers"), bytesText(p.ControlPlane.MemoryGiB*(1<<30)), p.Kubernetes, p.Platform.Kind)
}

// comfortable reports whether nothing is near a ceiling.
func comfortable(e *estimate.Estimate) bool {
	for _, p := range e.Pressures {
		if p.High >= estimate.Comfortable {
			return false
		}
	}
	return true
}

func bindingPressure(e *estimate.Estimate) estimate.Pressure {
	for _, p := range e.Pressures {
		if p.Axis == e.Binding {
			return p
		}
	}
	return estimate.Pressure{}
}

func pressureTable(s Streams, e *estimate.Estimate) {
	t := newTable("AXIS", ">PRESSURE", "RANGE", "", "NEAREST CEILING")
	for _, p := range e.Pressures {
		name := cell{text: string(p.Axis)}
		if p.Axis == e.Binding {
			name.colour = bold
		}
		t.add(name, ratio(p.Value), ratio(p.Low)+" to "+ratio(p.High),
			cell{gauge(p.Value), gaugeColour(p.High)}, p.Limit)
	}
	t.print(s.Out, s, "  ")
	fmt.Fprintln(s.Out, paint(s, dim, "  Pressure is demand over the ceiling of the present layout; 1 is the wall. Estimates, not measurements."))
}

func statusColour(status recipe.Status) colour {
	switch status {
	case recipe.Validated, recipe.Published:
		return green
	case recipe.Derived:
		return yellow
	}
	return red
}

func evidenceText(s Streams, r *recipe.Recipe) {
	for _, c := range r.Choices {
		fmt.Fprintf(s.Out, "  %s (%s)\n", paint(s, bold, c.Rung.ID), paint(s, statusColour(c.Rung.Status), string(c.Rung.Status)))
		if len(c.Rung.Evidence) == 0 {
			fmt.Fprintln(s.Out, "    no evidence: nobody has shown this to hold")
		}
		for _, ev := range c.Rung.Evidence {
			kind := ev.Kind
			if !ev.Vanilla {
				kind += ", not a vanilla control plane"
			}
			wrap(s.Out, fmt.Sprintf("- %s [%s] %s", ev.Claim, kind, ev.Source), "    ")
		}
	}
}

func findingParagraph(s Streams, f finding.Finding) {
	c := dim
	switch f.Severity {
	case finding.Error:
		c = red
	case finding.Warning:
		c = yellow
	}
	place := ""
	if f.Path != "" {
		place = f.Path + ": "
	}
	fmt.Fprintf(s.Out, "  %s [%s]\n", paint(s, c, f.Severity.String()), f.Code)
	wrap(s.Out, place+f.Message, "    ")
	if f.Fix != "" {
		wrap(s.Out, "fix: "+f.Fix, "    ")
	}
	if f.Ref != "" {
		wrap(s.Out, "see: "+f.Ref, "    ")
	}
}

func figureText(s Streams, figures []estimate.Figure) {
	for _, f := range figures {
		fmt.Fprintf(s.Out, "  %s  %s\n", paint(s, bold, f.ID), band(f))
		wrap(s.Out, f.Label+" = "+f.Formula, "      ")
		for _, in := range f.Inputs {
			wrap(s.Out, fmt.Sprintf("%s = %s  (%s)", in.Name, quantity.InUnit(in.Value, in.Unit), in.Source), "        ")
		}
		wrap(s.Out, "source: "+f.Source, "      ")
	}
}
