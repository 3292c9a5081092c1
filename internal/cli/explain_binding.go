package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/quantity"
)

// bindingText says what the nearest ceiling is made of.
func bindingText(x *explanation) string {
	text := nearestText(x.Estimate)
	if p := bindingPressure(x.Estimate); len(p.Ratios) > 0 {
		formula, inputs := abridged(p.Ratios[0])
		text += " That is " + formula + ", with " + inputs + "."
	}
	return text + aboutText(x.Estimate)
}

// nearestText names the ceiling that is nearest of all.
func nearestText(e *estimate.Estimate) string {
	p := bindingPressure(e)
	return fmt.Sprintf("The %s axis is nearest its wall: %s at %s of the ceiling (%s to %s).",
		e.Binding, p.Limit, ratio(p.Value), ratio(p.Low), ratio(p.High))
}

// aboutText says which resource the trouble is about, and how far the other axes are.
func aboutText(e *estimate.Estimate) (text string) {
	if e.Subject != "" {
		text = fmt.Sprintf(" What it is about: %s (%s).", strings.TrimPrefix(e.Subject, "/"), strings.ReplaceAll(e.Class, "-", " "))
	}
	return text + " " + otherAxes(e)
}

// mostParts is how many parts of a sum are spelt out.
const mostParts = 3

// abridged gives a figure's formula and inputs in words. Of a long sum it
// names the largest parts and adds the others up.
func abridged(f estimate.Figure) (formula, inputs string) {
	parts := strings.Split(f.Formula, " + ")
	byName := map[string]estimate.Input{}
	for _, in := range f.Inputs {
		byName[in.Name] = in
	}
	// Of the first and the last part the parentheses around the sum belong to it.
	name := func(part string) string { in, _, _ := strings.Cut(strings.TrimLeft(part, "("), ")"); return in }
	var named []estimate.Input
	for _, part := range parts {
		if in, ok := byName[name(part)]; ok {
			named = append(named, in)
		}
	}
	if len(named) != len(parts) || len(parts) <= mostParts+1 {
		return f.Formula, inputsText(f.Inputs)
	}
	slices.SortStableFunc(named, func(a, b estimate.Input) int { return cmp.Compare(b.Value, a.Value) })
	rest := estimate.Input{Name: fmt.Sprintf("%d more", len(named)-mostParts), Unit: named[0].Unit}
	small := map[string]bool{}
	for _, in := range named[mostParts:] {
		rest.Value += in.Value
		small[in.Name] = true
	}
	var kept []string
	for _, in := range named[:mostParts] {
		kept = append(kept, in.Name)
	}
	kept = append(kept, rest.Name)
	shown := slices.Concat(named[:mostParts:mostParts], []estimate.Input{rest})
	for _, in := range f.Inputs {
		if !small[in.Name] && !slices.Contains(kept, in.Name) {
			shown = append(shown, in)
		}
	}
	_, after, _ := strings.Cut(parts[len(parts)-1], ")")
	formula = strings.Join(kept, " + ")
	if strings.HasPrefix(parts[0], "(") {
		formula = "(" + formula + ")" + after
	}
	return formula, inputsText(shown)
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
		parts = append(parts, in.Name+" = "+quantity.InUnit(in.Value, in.Unit))
	}
	return strings.Join(parts, ", ")
}

// apiserverText answers the reflex with this cluster's own numbers, also where
// they are in its favour: what apiservers share, fan-out and seats, one more
// does relieve.
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
	writes, _ := e.Figure("store.main.writes")
	cost := fmt.Sprintf("etcd writes stay at %s; each apiserver still holds %s of live heap; and resident memory over all of them rises from %s to %s",
		quantity.InUnit(writes.Value, writes.Unit), bytesText(more.HeapPerApiserver.Value), bytesText(total.Value), bytesText(more.ResidentTotal.Value))
	if more.Advised {
		return fmt.Sprintf("Here it helps: the nearest ceiling, %s, is shared among the apiservers, and with one more the %s pressure goes from %s to %s. "+
			"It costs one more copy of the whole watch cache: %s.", before.Limit, e.Binding, ratio(before.Value), ratio(after.Value), cost)
	}
	return fmt.Sprintf("Each apiserver copies the whole watch cache. With one more, the %s pressure %s; %s. "+
		"It buys request capacity and pays with memory.", e.Binding, change(before.Value, after.Value), cost)
}

// change writes a pressure before and after.
func change(before, after float64) string {
	if ratio(before) == ratio(after) {
		return "stays at " + ratio(after)
	}
	return "goes from " + ratio(before) + " to " + ratio(after)
}
