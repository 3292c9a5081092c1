package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/quantity"
)

// Charts are drawn in a box as wide as a phone, so that their letters keep
// their size there; wide screens put several side by side.
const (
	chartWidth, chartHeight = 360.0, 258.0
	plotLeft, plotRight     = 42.0, 352.0
	plotTop, plotBottom     = 20.0, 212.0
)

// chart is one axis' curves, as an SVG.
type chart struct {
	ID, Title, Desc string
	Width, Height   float64
	Plot            box
	Curves          []curveView
	Ticks           []tick // across, with the demand
	Levels          []tick // upwards, with the pressure
	Wall, Now       float64
	NowText         string
	Unit            string
}

type box struct{ X, Y, W, H float64 }

// curveView is one layout's curve and band.
type curveView struct {
	Class, Line, Band string
	Label             string
	LabelX, LabelY    float64
	// Cross is where the curve meets the wall; 0 when it does not within the plot.
	Cross          float64
	CrossText      string
	CrossX, CrossY float64
	CrossAnchor    string
}

type tick struct {
	At        float64
	Text, Sub string
	Grid      bool
	Class     string
	Anchor    string
}

// scales place factors and pressures, both by their logarithm: what grows in
// proportion is a straight line, and a band of a factor is as wide everywhere.
type scales struct {
	lastPower         int
	lowest, highest   float64 // pressures at the plot's ends
	perPower, perUnit float64
}

func newScales(last int, lowest, highest float64) scales {
	return scales{last, lowest, highest,
		(plotRight - plotLeft) / float64(last-firstPower),
		(plotBottom - plotTop) / (math.Log2(highest) - math.Log2(lowest))}
}

func (s scales) x(factor float64) float64 {
	return plotLeft + (math.Log2(factor)-firstPower)*s.perPower
}

// y may lie outside the plot, whose edge then cuts the curve.
func (s scales) y(pressure float64) float64 {
	return plotBottom - (math.Log2(max(pressure, 1e-6))-math.Log2(s.lowest))*s.perUnit
}

// newChart draws the tracks of one axis, the present layout first.
func newChart(axis estimate.Axis, tracks []*track, walls []wall, amount func(sample) string, unit string, now string) chart {
	last := lastPower(walls)
	curves := make([][]sample, len(tracks))
	lowest, highest := 0.25, 2.0
	for i, t := range tracks {
		curves[i] = t.curve(last)
		first, end := curves[i][0].pressure, curves[i][len(curves[i])-1].pressure
		lowest = min(lowest, max(first.Value, leastShown))
		highest = max(highest, min(end.High, 8))
	}
	s := newScales(last, lowest/2, math.Exp2(math.Ceil(math.Log2(highest))))
	c := chart{
		ID: "chart-" + string(axis), Width: chartWidth, Height: chartHeight,
		Plot: box{plotLeft, plotTop, plotRight - plotLeft, plotBottom - plotTop},
		Wall: round(s.y(1)), Now: round(s.x(1)), NowText: now, Unit: unit,
	}
	step := 1
	if last-firstPower > 4 {
		step = 2
	}
	for p := firstPower; p <= last; p += step {
		t := tick{At: round(s.x(math.Exp2(float64(p)))), Text: factorText(math.Exp2(float64(p))), Sub: amount(tracks[0].at(math.Exp2(float64(p)))), Anchor: "middle"}
		switch {
		case p == firstPower:
			t.Anchor = "start"
			t.At -= 6
		case p+step > last && s.x(math.Exp2(float64(p))) > plotRight-20:
			t.Anchor = "end"
			t.At += 6
		}
		c.Ticks = append(c.Ticks, t)
	}
	for _, v := range []float64{0.01, 0.03, 0.1, 0.3, 3} {
		if v >= s.lowest && v <= s.highest {
			c.Levels = append(c.Levels, tick{At: round(s.y(v)), Text: quantity.Count(v), Grid: true})
		}
	}
	c.Levels = append(c.Levels, tick{At: c.Wall, Text: "wall", Class: "wall"})
	for i := range tracks {
		c.Curves = append(c.Curves, drawCurve(s, curves[i], walls[i]))
	}
	placeLabels(s, &c, curves)
	return c
}

// lastPower is how far to the right a chart goes: past the furthest wall, or
// where there is none eight times today's demand.
func lastPower(walls []wall) int {
	last := 3
	for _, w := range walls {
		if w.at > 0 && !math.IsInf(w.at, 1) {
			last = max(last, int(math.Ceil(math.Log2(w.at)))+1)
		}
	}
	return min(last, highestPower)
}

func drawCurve(s scales, samples []sample, w wall) curveView {
	var line, up, down strings.Builder
	for i, p := range samples {
		command := "L"
		if i == 0 {
			command = "M"
		}
		x := s.x(p.factor)
		fmt.Fprintf(&line, "%s%.1f %.1f", command, x, s.y(p.pressure.Value))
		fmt.Fprintf(&up, "%s%.1f %.1f", command, x, s.y(p.pressure.High))
	}
	for i := len(samples) - 1; i >= 0; i-- {
		fmt.Fprintf(&down, "L%.1f %.1f", s.x(samples[i].factor), s.y(samples[i].pressure.Low))
	}
	v := curveView{Line: line.String(), Band: up.String() + down.String() + "Z"}
	if w.at >= math.Exp2(firstPower) && w.at <= math.Exp2(float64(s.lastPower)) {
		v.Cross = round(s.x(w.at))
		v.CrossText = factorText(w.at)
	}
	return v
}

// placeLabels names the curves, the upper one above its line and the lower one
// below, and the walls beside their crossings likewise.
func placeLabels(s scales, c *chart, curves [][]sample) {
	classes, names := []string{"present", "recipe"}, []string{"today’s layout", "the recipe"}
	if len(curves) == 1 {
		classes, names = []string{"recipe"}, []string{"today, and the recipe"}
	}
	upper := 0
	if len(curves) == 2 && curves[1][0].pressure.Value > curves[0][0].pressure.Value {
		upper = 1
	}
	for i := range c.Curves {
		v := &c.Curves[i]
		v.Class, v.Label = classes[i], names[i]
		v.CrossX, v.CrossY, v.CrossAnchor = v.Cross-6, c.Wall-6, "end"
		if i != upper {
			v.CrossX, v.CrossY, v.CrossAnchor = v.Cross+6, c.Wall+14, "start"
		}
		switch {
		case v.CrossAnchor == "end" && v.Cross < plotLeft+crossWidth+6:
			v.CrossX, v.CrossAnchor = v.Cross+6, "start"
		case v.CrossAnchor == "start" && v.Cross > plotRight-crossWidth-6:
			v.CrossX, v.CrossAnchor = v.Cross-6, "end"
		}
		nameCurve(s, c, v, curves[i], i == upper)
	}
}

const (
	// leastShown is the lowest pressure that is told from none.
	leastShown = 0.01
	// letterWidth is more than a letter of a curve's name takes in usual fonts.
	letterWidth = 7.4
	// crossWidth is what a factor takes beside its crossing.
	crossWidth = 34.0
)

// nameCurve puts a name beside the first point of its curve at which it stays
// clear of the line, the wall and the plot's edges. Curves rise, so above and
// to the left of a point there is none of it, nor below and to the right.
func nameCurve(s scales, c *chart, v *curveView, samples []sample, above bool) {
	width := letterWidth * float64(len([]rune(v.Label)))
	fits := func(x, y float64) bool {
		clear := y < c.Wall-20 || y > c.Wall+28 // the wall, and the factors beside it
		return x >= plotLeft+4 && x+width <= plotRight && y >= plotTop+10 && y <= plotBottom-4 && clear
	}
	for _, p := range samples {
		x, y := s.x(p.factor)-width-2, s.y(p.pressure.Value)-6
		if !above {
			x, y = s.x(p.factor)+5, s.y(p.pressure.Value)+14
		}
		if fits(x, y) {
			v.LabelX, v.LabelY = round(x), round(y)
			return
		}
	}
	v.LabelX, v.LabelY = plotLeft+5, plotBottom-6 // a curve below all that is shown
	if above {
		v.LabelY -= 14
	}
}

// factorText writes a multiple of today's demand.
func factorText(k float64) string {
	switch k {
	case 0.25:
		return "×¼"
	case 0.5:
		return "×½"
	}
	if k >= 9.95 {
		return "×" + quantity.Count(k)
	}
	return "×" + strings.TrimSuffix(strings.TrimSuffix(fmt.Sprintf("%.1f", k), "0"), ".")
}

func round(v float64) float64 { return math.Round(v*10) / 10 }
