package report

import (
	"fmt"
	"math"
	"reflect"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/quantity"
	"github.com/kubeseams/seams/internal/recipe"
)

// growthView is what becomes of one axis as it grows.
type growthView struct {
	Axis  string
	Chart chart
	Walls []wallView
	// Evidence says how far the evidence of the chosen rung reaches.
	Evidence string
	Rows     []growthRow
	Demand   string
	Recipe   bool
}

// wallView is where one layout meets its wall, in words.
type wallView struct{ Class, Name, Where, Band, Limit string }

// growthRow is the same as the chart's, in figures.
type growthRow struct{ Factor, Demand, Present, Recipe, Resident, ResidentRecipe string }

// demandOf is what an axis is asked for: nodes, writes a second, or stored bytes.
func demandOf(axis estimate.Axis, e *estimate.Estimate) (v float64, unit string) {
	if axis == estimate.Node {
		return e.Measures[estimate.Node]["nodes"].Value, "nodes"
	}
	part, unit := ".live.state", "stored"
	if axis == estimate.Churn {
		part, unit = ".writes.churn", "writes/s"
	}
	for _, f := range e.Figures {
		if isStoreFigure(f.ID, part) {
			v += f.Value
		}
	}
	return v, unit
}

// demandText writes it.
func demandText(axis estimate.Axis, e *estimate.Estimate) string {
	v, unit := demandOf(axis, e)
	if unit == "stored" {
		return quantity.Bytes(v)
	}
	return quantity.Count(v)
}

func growths(in Input) []growthView {
	var all []growthView
	same := reflect.DeepEqual(in.Present.Layout, in.After.Layout)
	for i, axis := range estimate.Axes {
		tracks := []*track{newTrack(in.Profile, in.Present.Layout, axis)}
		if !same {
			tracks = append(tracks, newTrack(in.Profile, in.After.Layout, axis))
		}
		var choice recipe.Choice
		if i < len(in.Recipe.Choices) {
			choice = in.Recipe.Choices[i]
		}
		all = append(all, newGrowth(axis, tracks, choice, in.Profile.Nodes.Demand() > in.Profile.Nodes.Count))
	}
	return all
}

func newGrowth(axis estimate.Axis, tracks []*track, choice recipe.Choice, target bool) growthView {
	g := growthView{Axis: string(axis), Recipe: len(tracks) > 1}
	classes, names := []string{"present", "recipe"}, []string{"Today’s layout", "The recipe"}
	drawn := tracks
	if len(tracks) == 1 || tracks[0].like(tracks[1]) {
		classes, names, drawn = []string{"recipe"}, []string{"Today’s layout, and the recipe"}, tracks[:1]
	}
	walls := make([]wall, len(drawn))
	for i, t := range drawn {
		walls[i] = t.wall()
		g.Walls = append(g.Walls, t.say(walls[i], names[i], classes[i]))
	}
	now := "now"
	if axis == estimate.Node && target {
		now = "target"
	}
	demand := func(s sample) string { return demandText(axis, s.estimate) }
	_, unit := demandOf(axis, tracks[0].at(1).estimate)
	g.Chart = newChart(axis, drawn, walls, demand, unit, now)
	g.Demand = unit
	g.Chart.Title = fmt.Sprintf("Pressure on the %s axis as it grows", axis)
	for _, w := range g.Walls {
		g.Chart.Desc += w.Name + ": " + w.Where + ". "
	}
	g.Evidence = evidenceText(tracks[len(tracks)-1], choice)
	for _, k := range []float64{0.5, 1, 2, 4, 8} {
		row := growthRow{Factor: factorText(k), Demand: demand(tracks[0].at(k))}
		row.Present, row.Resident = tracks[0].row(k)
		if g.Recipe {
			row.Recipe, row.ResidentRecipe = tracks[1].row(k)
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// row is the pressure and the resident memory of all API servers.
func (t *track) row(k float64) (pressure, resident string) {
	s := t.at(k)
	if f, ok := s.estimate.Figure("resident.total"); ok {
		resident = quantity.Bytes(f.Value)
	}
	return quantity.Ratio(s.pressure.Value), resident
}

// like reports whether another layout fares the same, as near as can be drawn.
func (t *track) like(other *track) bool {
	for p := firstPower; p <= highestPower; p++ {
		a, b := t.at(math.Exp2(float64(p))).pressure, other.at(math.Exp2(float64(p))).pressure
		if !near(a.Value, b.Value) || !near(a.Low, b.Low) || !near(a.High, b.High) {
			return false
		}
	}
	return true
}

func near(a, b float64) bool { return math.Abs(a-b) <= 0.01*max(a, b) }

// about is the demand at a multiple of today's, in as many digits as an
// estimate is worth.
func (t *track) about(k float64) string {
	v, unit := demandOf(t.axis, t.at(k).estimate)
	if unit == "stored" {
		return quantity.Bytes(v) + " " + unit
	}
	if v > 0 {
		digit := math.Pow(10, math.Floor(math.Log10(v))-1)
		v = math.Round(v/digit) * digit
	}
	return "about " + quantity.Count(v) + " " + unit
}

// say puts a wall into words.
func (t *track) say(w wall, name, class string) wallView {
	v := wallView{Class: class, Name: name, Limit: w.limit}
	switch {
	case w.at == 0:
		v.Where = "past its wall long ago"
	case math.IsInf(w.at, 1):
		v.Where = fmt.Sprintf("no wall up to %s", factorText(math.Exp2(highestPower)))
		v.Limit = ""
	default:
		v.Where = fmt.Sprintf("wall at %s (%s)", factorText(w.at), t.about(w.at))
		if w.at < 1 {
			v.Where = "past its " + v.Where
		}
		if from, to := endText(w.earliest), endText(w.latest); from != to {
			v.Band = "between " + from + " and " + to
		}
	}
	return v
}

func endText(k float64) string {
	switch {
	case k == 0:
		return "less than " + factorText(math.Exp2(lowestPower))
	case math.IsInf(k, 1):
		return "more than " + factorText(math.Exp2(highestPower))
	}
	return factorText(k)
}

// evidenceText says how far the demand may grow before it leaves what the
// chosen rung was shown to carry.
func evidenceText(t *track, c recipe.Choice) string {
	if c.PastLadder {
		return "No rung that anybody has built carries this load."
	}
	k := t.evidenceEnds(c.Rung.Envelope[c.Axis])
	switch {
	case math.IsInf(k, 1):
		return fmt.Sprintf("The envelope of %s reaches further than this chart.", c.Rung.ID)
	case k <= 1:
		return fmt.Sprintf("The envelope of %s ends before today’s demand.", c.Rung.ID)
	}
	return fmt.Sprintf("The envelope of %s ends at %s (%s).", c.Rung.ID, factorText(k), t.about(k))
}
