package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
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
	adviceTable(s, x)
	for _, c := range x.Recipe.Choices {
		choiceText(s, c, requirements(x.Findings), first != nil)
	}
	section(s, "What each change alone would do to the present layout")
	whatIfTable(s, x)
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
	p, e := x.Profile, x.Estimate
	verdict := string(e.Binding) + "-bound"
	if v := bindingPressure(e).High; v < 0.6 {
		verdict = "comfortable; " + string(e.Binding) + " is the nearest axis"
	}
	if trouble := noRung[e.Class]; trouble.headline != "" {
		verdict = trouble.headline + "; " + string(e.Binding) + " is the nearest axis"
	}
	fmt.Fprintf(s.Out, "%s: %s\n", paint(s, bold, p.Name), paint(s, bold, verdict))
	nodes := count(float64(p.Nodes.Count)) + " nodes"
	if p.Nodes.Demand() > p.Nodes.Count {
		nodes += " growing to " + count(float64(p.Nodes.Demand()))
	}
	fmt.Fprintf(s.Out, "%s, %d apiservers of %s, Kubernetes %s on %s\n\n", nodes,
		e.Layout.Apiservers, bytesText(p.ControlPlane.MemoryGiB*(1<<30)), p.Kubernetes, p.Platform.Kind)
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

// bindingText says what the nearest ceiling is made of.
func bindingText(x *explanation) string {
	e := x.Estimate
	p := bindingPressure(e)
	text := fmt.Sprintf("The %s axis is nearest its wall: %s at %s of the ceiling (%s to %s).",
		e.Binding, p.Limit, ratio(p.Value), ratio(p.Low), ratio(p.High))
	if len(p.Ratios) > 0 {
		r := p.Ratios[0]
		text += fmt.Sprintf(" That is %s, with %s.", r.Formula, inputsText(r.Inputs))
	}
	if e.Subject != "" {
		text += fmt.Sprintf(" What it is about: %s (%s).", e.Subject, strings.ReplaceAll(e.Class, "-", " "))
	}
	if others := otherAxes(e); others != "" {
		text += " " + others
	}
	return text
}

// otherAxes says how far the other two are, since they are independent.
func otherAxes(e *estimate.Estimate) string {
	var quiet []string
	for _, p := range e.Pressures {
		if p.Axis != e.Binding {
			quiet = append(quiet, fmt.Sprintf("%s at %s", p.Axis, ratio(p.Value)))
		}
	}
	return "The axes are independent; the others are " + strings.Join(quiet, " and ") + "."
}

func inputsText(inputs []estimate.Input) string {
	var parts []string
	for _, in := range inputs {
		parts = append(parts, in.Name+" = "+quantity(in.Value, in.Unit))
	}
	return strings.Join(parts, ", ")
}

// apiserverText answers the reflex with this cluster's own numbers.
func apiserverText(x *explanation) string {
	e := x.Estimate
	i := slices.IndexFunc(x.WhatIfs, func(w estimate.WhatIf) bool { return w.Name == "apiserver-plus-one" })
	if i < 0 {
		return "No figure was computed for another apiserver."
	}
	more := x.WhatIfs[i]
	before, after := bindingPressure(e), estimate.Pressure{}
	for _, p := range more.Pressures {
		if p.Axis == e.Binding {
			after = p
		}
	}
	total, _ := e.Figure("resident.total")
	return fmt.Sprintf("Each apiserver copies the whole watch cache. With one more, the %s pressure goes from %s to %s; "+
		"etcd writes stay at %s; each apiserver still holds %s of live heap; and resident memory over all of them rises from %s to %s. "+
		"It buys request capacity and pays with memory.",
		e.Binding, ratio(before.Value), ratio(after.Value), quantity(more.MainWrites.Value, more.MainWrites.Unit),
		bytesText(more.HeapPerApiserver.Value), bytesText(total.Value), bytesText(more.ResidentTotal.Value))
}

func adviceTable(s Streams, x *explanation) {
	t := newTable("AXIS", "RUNG", "STATUS", "WHAT IT DOES")
	for _, c := range x.Recipe.Choices {
		status := cell{text: string(c.Rung.Status), colour: statusColour(c.Rung.Status)}
		t.add(string(c.Axis), cell{c.Rung.ID, bold}, status, c.Rung.Title)
	}
	t.print(s.Out, s, "  ")
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

// choiceText explains one axis' rung: what it is, why not a lower one, what its evidence does not cover.
// After advice that comes first a load may well be another.
func choiceText(s Streams, c recipe.Choice, blocked []finding.Finding, first bool) {
	if c.PastLadder {
		way := wayOut(c.Axis, blocked)
		if first {
			way = "do first what stands first above, then " + way
		}
		fmt.Fprintf(s.Out, "\n  %s: %s\n", paint(s, red, "past the ladder"),
			"no rung that anybody has built carries this "+string(c.Axis)+" load here; "+way+".")
	}
	if c.Rung.Order > 0 || c.PastLadder {
		fmt.Fprintln(s.Out)
		wrap(s.Out, c.Rung.ID+": "+c.Rung.Summary, "  ")
	}
	for _, r := range c.Rejected {
		wrap(s.Out, "not "+r.ID+": "+strings.Join(r.Reasons, "; "), "    ")
	}
	for _, b := range c.Beyond {
		wrap(s.Out, "beyond the evidence of "+c.Rung.ID+": "+b, "    ")
	}
}

func whatIfTable(s Streams, x *explanation) {
	t := newTable("CHANGE", ">NODE", ">CHURN", ">STATE", ">MAIN ETCD", ">HEAP EACH", ">RESIDENT", "VERDICT")
	now := []any{"as it is"}
	for _, p := range x.Estimate.Pressures {
		now = append(now, ratio(p.Value))
	}
	writes, _ := x.Estimate.Figure("store.main.writes")
	heap, _ := x.Estimate.Figure("apiserver.heap")
	total, _ := x.Estimate.Figure("resident.total")
	t.add(append(now, count(writes.Value)+"/s", bytesText(heap.Value), bytesText(total.Value), "")...)
	for _, w := range x.WhatIfs {
		row := []any{w.Change}
		for _, p := range w.Pressures {
			row = append(row, ratio(p.Value))
		}
		verdict := cell{text: w.Verdict, colour: dim}
		if w.Advised {
			verdict.colour = green
		}
		t.add(append(row, count(w.MainWrites.Value)+"/s", bytesText(w.HeapPerApiserver.Value),
			bytesText(w.ResidentTotal.Value), verdict)...)
	}
	t.print(s.Out, s, "  ")
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
			wrap(s.Out, fmt.Sprintf("%s = %s  (%s)", in.Name, quantity(in.Value, in.Unit), in.Source), "        ")
		}
		wrap(s.Out, "source: "+f.Source, "      ")
	}
}

func section(s Streams, title string) {
	fmt.Fprintf(s.Out, "\n%s\n", paint(s, bold, title))
}

// textWidth is where running text is broken; a terminal's own wrapping would lose the indentation.
const textWidth = 96

func paragraph(w io.Writer, text string) { wrap(w, text, "  ") }

// wrap prints text in lines of textWidth, each indented; further lines of a
// list item hang below its text.
func wrap(w io.Writer, text, indent string) {
	hang := indent
	if strings.HasPrefix(text, "- ") {
		hang += "  "
	}
	line := indent
	for i, word := range strings.Fields(text) {
		if i > 0 && len([]rune(line))+1+len([]rune(word)) > textWidth {
			fmt.Fprintln(w, strings.TrimRight(line, " "))
			line = hang
		} else if i > 0 {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(w, line)
}
