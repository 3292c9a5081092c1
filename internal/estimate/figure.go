package estimate

import (
	"math"
	"strconv"
	"strings"
)

// term is a number with its band and the text that says how it came about.
// Value, formula and inputs of every figure are built by the same operations,
// so that none can say something the others do not.
type term struct {
	value, low, high float64
	text             string
	rank             rank
	inputs           []Input
}

// rank says where a formula needs parentheses.
type rank int

const (
	atom rank = iota
	product
	sum
)

// input makes an exact number of the profile, the layout or a default.
func input(name string, value float64, unit, source string) term {
	return term{value: value, low: value, high: value, text: name,
		inputs: []Input{{Name: name, Value: value, Unit: unit, Source: source}}}
}

// fromProfile and fromLayout are inputs by where they were said.
func fromProfile(name string, value float64, unit string) term {
	return input(name, value, unit, "profile")
}

func fromLayout(name string, value float64, unit string) term {
	return input(name, value, unit, "layout")
}

// number is a literal in a formula.
func number(v float64) term {
	return term{value: v, low: v, high: v, text: strconv.FormatFloat(v, 'g', -1, 64)}
}

// times multiplies.
func times(ts ...term) term {
	if len(ts) == 1 {
		return ts[0]
	}
	out := term{value: 1, low: 1, high: 1, rank: product, inputs: room(ts...)}
	var text strings.Builder
	for i, t := range ts {
		out.value *= t.value
		out.low *= t.low
		out.high *= t.high
		out.inputs = appendInputs(out.inputs, t.inputs)
		if i > 0 {
			text.WriteString(" × ")
		}
		text.WriteString(t.inside(sum))
	}
	out.text = text.String()
	return out
}

// over divides; the divisor's band must be above zero.
func over(a, b term) term {
	return term{
		value: a.value / b.value, low: a.low / b.high, high: a.high / b.low,
		text: a.inside(sum) + " / " + b.inside(product), rank: product,
		inputs: appendInputs(appendInputs(room(a, b), a.inputs), b.inputs),
	}
}

// plus adds; the sum of nothing is a literal 0.
func plus(ts ...term) term {
	switch len(ts) {
	case 0:
		return number(0)
	case 1:
		return ts[0]
	}
	out := term{rank: sum, inputs: room(ts...)}
	var text strings.Builder
	for i, t := range ts {
		out.value += t.value
		out.low += t.low
		out.high += t.high
		out.inputs = appendInputs(out.inputs, t.inputs)
		if i > 0 {
			text.WriteString(" + ")
		}
		text.WriteString(t.text)
	}
	out.text = text.String()
	return out
}

// largest takes the maximum, end by end of the bands.
func largest(ts ...term) term { return pick("max", math.Max, ts) }

// smallest takes the minimum, end by end of the bands.
func smallest(ts ...term) term { return pick("min", math.Min, ts) }

func pick(name string, f func(a, b float64) float64, ts []term) term {
	switch len(ts) {
	case 0:
		return number(0)
	case 1:
		return ts[0]
	}
	out := term{value: ts[0].value, low: ts[0].low, high: ts[0].high, inputs: room(ts...)}
	texts := make([]string, len(ts))
	for i, t := range ts {
		out.value, out.low, out.high = f(out.value, t.value), f(out.low, t.low), f(out.high, t.high)
		out.inputs = appendInputs(out.inputs, t.inputs)
		texts[i] = t.text
	}
	out.text = name + "(" + strings.Join(texts, ", ") + ")"
	return out
}

// within gives the term a band of a factor, in place of the one its inputs imply.
func (t term) within(factor float64) term {
	t.low, t.high = t.value/factor, t.value*factor
	return t
}

// atLeastWithin widens the band to a factor where the inputs imply less.
func (t term) atLeastWithin(factor float64) term {
	t.low, t.high = min(t.low, t.value/factor), max(t.high, t.value*factor)
	return t
}

// inside writes a term within a larger one, in parentheses from the given rank on.
func (t term) inside(from rank) string {
	if t.rank >= from {
		return "(" + t.text + ")"
	}
	return t.text
}

// room is an empty list with space for the inputs of all terms.
func room(ts ...term) []Input {
	n := 0
	for i := range ts {
		n += len(ts[i].inputs)
	}
	return make([]Input, 0, n)
}

// appendInputs adds the inputs that are not there yet; one name means one number within a formula.
func appendInputs(dst, src []Input) []Input {
next:
	for _, in := range src {
		for i := range dst {
			if dst[i].Name == in.Name {
				continue next
			}
		}
		dst = append(dst, in)
	}
	return dst
}

// figure makes a figure of a term.
func (t term) figure(id, label, unit, source string) Figure {
	return Figure{ID: id, Label: label, Unit: unit, Value: t.value, Low: t.low, High: t.high,
		Formula: t.text, Inputs: t.inputs, Source: source}
}

// refer makes the term that stands for a figure in another figure's formula.
func refer(f Figure) term {
	return term{value: f.Value, low: f.Low, high: f.High, text: f.ID,
		inputs: []Input{{Name: f.ID, Value: f.Value, Unit: f.Unit, Source: "figure " + f.ID}}}
}

// sheet collects figures in the order they are computed.
type sheet struct{ figures []Figure }

// add records a term as a figure and returns the term that refers to it.
func (s *sheet) add(id, label, unit, source string, t term) term {
	f := t.figure(id, label, unit, source)
	s.figures = append(s.figures, f)
	return refer(f)
}
