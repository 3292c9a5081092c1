package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/quantity"
	"github.com/kubeseams/seams/internal/recipe"
)

// recipeText says what the ladder offers and what that brings in all; after
// advice that comes first, a load may well be another.
func recipeText(s Streams, x *explanation, first bool) {
	if comfortable(x.Estimate) && !first {
		nothingToDo(s, x)
	}
	t := newTable("AXIS", "RUNG", "STATUS", "WHAT IT DOES")
	for _, c := range x.Recipe.Choices {
		status := cell{text: string(c.Rung.Status), colour: statusColour(c.Rung.Status)}
		t.add(string(c.Axis), cell{c.Rung.ID, bold}, status, c.Rung.Title)
	}
	t.print(s.Out, s, "  ")
	for _, c := range x.Recipe.Choices {
		choiceText(s, c, requirements(x.Findings), first)
	}
	if all := brings(x); len(all) > 0 {
		fmt.Fprintln(s.Out)
		lead := "The recipe brings"
		if x.Recipe.PastLadder() {
			lead = "Up to the last rung that is built, the recipe would bring"
		}
		paragraph(s.Out, lead+", with what its rungs take over from those below them:")
		for _, text := range all {
			wrap(s.Out, "- "+text, "    ")
		}
	}
}

// nothingToDo says so, and how near the nearest thing is.
func nothingToDo(s Streams, x *explanation) {
	highest := bindingPressure(x.Estimate)
	for _, p := range x.Estimate.Pressures {
		if p.High > highest.High {
			highest = p
		}
	}
	text := fmt.Sprintf("Nothing needs doing: no axis comes near a ceiling, the nearest at its high end is %s (%s).", highest.Limit, ratio(highest.High))
	if x.Recipe.Stock() {
		text += " Upstream's defaults carry this."
	}
	paragraph(s.Out, text)
	fmt.Fprintln(s.Out)
}

// choiceText explains one axis' rung: what it is, why not a lower one, what its evidence does not cover.
func choiceText(s Streams, c recipe.Choice, blocked []finding.Finding, first bool) {
	if c.PastLadder {
		way := wayOut(c.Axis, blocked)
		if first {
			way = "do first what stands first above, then " + way
		}
		fmt.Fprintln(s.Out)
		for i, line := range wrapped("past the ladder: no rung that anybody has built carries this "+string(c.Axis)+" load here; "+way+".", textWidth-2) {
			if rest, ok := strings.CutPrefix(line, "past the ladder"); ok && i == 0 {
				line = paint(s, red, "past the ladder") + rest
			}
			fmt.Fprintln(s.Out, "  "+line)
		}
	}
	if c.Rung.Order > 0 || c.PastLadder {
		fmt.Fprintln(s.Out)
		wrap(s.Out, c.Rung.ID+": "+c.Rung.Summary, "  ")
	}
	for _, r := range c.Rejected {
		wrap(s.Out, "not "+r.ID+": "+strings.Join(r.Reasons, "; "), "    ")
	}
	if c.Quiet && len(c.Beyond) > 0 {
		fmt.Fprintln(s.Out)
		text := fmt.Sprintf("%s: no ceiling of this axis is near, though its evidence does not reach this far: %s", c.Rung.ID, strings.Join(c.Beyond, "; "))
		if c.Covering != "" {
			text += "; the rung that covers it is " + c.Covering + " (--rung " + c.Covering + ")"
		}
		wrap(s.Out, text, "    ")
		return
	}
	for _, b := range c.Beyond {
		wrap(s.Out, "beyond the evidence of "+c.Rung.ID+": "+b, "    ")
	}
}

// brings lists what a recipe changes, whichever of its rungs does.
func brings(x *explanation) []string {
	s, l := &x.Recipe.Settings, &x.Recipe.Layout
	all := bringsStores(x)
	if l.Seats > 0 {
		all = append(all, fmt.Sprintf("%s of each apiserver, of which upstream's default is 600", quantity.With(float64(l.Seats), "request seats")))
	}
	if l.NodeTier > 0 {
		all = append(all, quantity.With(float64(l.NodeTier), "apiservers")+" for nodes alone")
	}
	if l.ConsumerTiers > 0 {
		all = append(all, quantity.With(float64(l.ConsumerTiers), "apiservers")+" for one kind of client each")
	}
	for _, t := range l.Aggregated {
		text := fmt.Sprintf("an aggregated tier, %s with an etcd, for %s", quantity.With(float64(t.Replicas), "servers"), listSome(t.Groups, 5))
		if a := s.Aggregated; a != nil {
			text = strings.Replace(text, "an etcd", "an etcd of "+bytesText(a.QuotaGiB*(1<<30)), 1)
		}
		all = append(all, text)
	}
	if len(l.Uncached) > 0 {
		var names []string
		for _, r := range l.Uncached {
			names = append(names, strings.TrimPrefix(r.String(), "/"))
		}
		all = append(all, "off the watch cache: "+listSome(names, 5))
	}
	if l.LeaseDurationSeconds > 0 {
		all = append(all, fmt.Sprintf("node leases of %d s", l.LeaseDurationSeconds))
	}
	return append(all, bringsFlags(s)...)
}

// bringsStores lists the etcds and what changes for the main one.
func bringsStores(x *explanation) (all []string) {
	s, l := &x.Recipe.Settings, &x.Recipe.Layout
	for _, name := range slices.Sorted(maps.Keys(s.Stores)) {
		store := s.Stores[name]
		where := "a member on each control-plane host"
		if store.Members > 0 {
			where = quantity.With(float64(store.Members), "members")
		}
		if store.Durability == "ephemeral" {
			where += ", in memory"
		}
		all = append(all, fmt.Sprintf("an etcd for %s: %s, %s", name, bytesText(store.QuotaGiB*(1<<30)), where))
	}
	if l.QuotaGiB > 0 {
		all = append(all, fmt.Sprintf("the main etcd's quota: %s instead of %s", bytesText(l.QuotaGiB*(1<<30)), bytesText(x.Profile.ControlPlane.EtcdQuotaGiB*(1<<30))))
	}
	if l.CompactionSeconds > 0 {
		all = append(all, fmt.Sprintf("compaction every %d s instead of 300 s", l.CompactionSeconds))
	}
	return all
}

// bringsFlags names the settings of the components, whose values the ladder shows.
func bringsFlags(s *recipe.Settings) (all []string) {
	add := func(component string, names []string) {
		names = slices.DeleteFunc(names, func(n string) bool { return strings.HasPrefix(n, "max-") && strings.HasSuffix(n, "-inflight") })
		if len(names) > 0 {
			all = append(all, component+": "+strings.Join(names, ", "))
		}
	}
	of := func(c recipe.ComponentSettings) []string {
		return slices.Concat(slices.Sorted(maps.Keys(c.Flags)), slices.Sorted(maps.Keys(c.FeatureGates)), slices.Sorted(maps.Keys(c.Env)))
	}
	add("kube-apiserver", of(s.Apiserver))
	add("kube-controller-manager", of(s.ControllerManager))
	scheduler := of(s.Scheduler.ComponentSettings)
	if s.Scheduler.QPS > 0 {
		scheduler = append(scheduler, fmt.Sprintf("%d requests/s", s.Scheduler.QPS))
	}
	add("kube-scheduler", scheduler)
	if s.Kubelet.KubeAPIQPS > 0 {
		add("kubelet", []string{fmt.Sprintf("%d requests/s", s.Kubelet.KubeAPIQPS)})
	}
	return all
}

// whatIfTable shows each change with what it does below it.
func whatIfTable(s Streams, x *explanation) {
	t := newTable("CHANGE", ">NODE", ">CHURN", ">STATE", ">MAIN ETCD", ">HEAP EACH", ">RESIDENT")
	t.limit[0] = 34
	now := []any{"as it is"}
	for _, p := range x.Estimate.Pressures {
		now = append(now, ratio(p.Value))
	}
	writes, _ := x.Estimate.Figure("store.main.writes")
	heap, _ := x.Estimate.Figure("apiserver.heap")
	total, _ := x.Estimate.Figure("resident.total")
	t.add(append(now, count(writes.Value)+"/s", bytesText(heap.Value), bytesText(total.Value))...)
	for _, w := range x.WhatIfs {
		row := []any{w.Change}
		for _, p := range w.Pressures {
			row = append(row, ratio(p.Value))
		}
		verdict := cell{text: w.Verdict, colour: dim}
		if w.Advised {
			verdict.colour = green
		}
		t.add(append(row, count(w.MainWrites.Value)+"/s", bytesText(w.HeapPerApiserver.Value), bytesText(w.ResidentTotal.Value))...)
		t.note(verdict)
	}
	t.print(s.Out, s, "  ")
}

// recipeWhatIf compares the whole recipe as a change of the present layout; ok
// is false when it is none.
func recipeWhatIf(s *subject) (w estimate.WhatIf, ok bool) {
	if s.recipe.Stock() {
		return w, false
	}
	text := "the recipe"
	if s.recipe.PastLadder() {
		text = "the recipe, up to the last rung that is built"
	}
	return estimate.Compare(s.profile, "recipe", text, s.recipe.Layout), true
}
