package estimate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// evaluate computes a formula's text from its inputs, by a reading of its own:
// sums of products and quotients, left to right, min, max and parentheses.
func evaluate(formula string, inputs []Input) (v float64, err error) {
	p := &parser{rest: formula, values: map[string]float64{}}
	for _, in := range inputs {
		if _, twice := p.values[in.Name]; twice {
			return 0, fmt.Errorf("input %s is given twice", in.Name)
		}
		p.values[in.Name] = in.Value
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%q: %v", formula, r)
		}
	}()
	v = p.sum()
	if p.rest = strings.TrimSpace(p.rest); p.rest != "" {
		return 0, fmt.Errorf("%q: left over %q", formula, p.rest)
	}
	for _, in := range inputs {
		if !p.used(in.Name) {
			return 0, fmt.Errorf("%q does not use its input %s", formula, in.Name)
		}
	}
	return v, nil
}

type parser struct {
	rest   string
	values map[string]float64
	seen   []string
}

func (p *parser) used(name string) bool {
	for _, s := range p.seen {
		if s == name {
			return true
		}
	}
	return false
}

func (p *parser) take(token string) bool {
	p.rest = strings.TrimLeft(p.rest, " ")
	if strings.HasPrefix(p.rest, token) {
		p.rest = p.rest[len(token):]
		return true
	}
	return false
}

func (p *parser) sum() float64 {
	v := p.product()
	for p.take("+") {
		v += p.product()
	}
	return v
}

func (p *parser) product() float64 {
	v := p.atom()
	for {
		switch {
		case p.take("×"):
			v *= p.atom()
		case p.take("/"):
			v /= p.atom()
		default:
			return v
		}
	}
}

func (p *parser) atom() float64 {
	switch {
	case p.take("("):
		v := p.sum()
		p.must(")")
		return v
	case p.take("max("):
		return p.list(math.Max)
	case p.take("min("):
		return p.list(math.Min)
	}
	p.take("")
	end := strings.IndexFunc(p.rest, func(r rune) bool {
		return !(unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r))
	})
	if end < 0 {
		end = len(p.rest)
	}
	word := p.rest[:end]
	p.rest = p.rest[end:]
	if v, ok := p.values[word]; ok {
		p.seen = append(p.seen, word)
		return v
	}
	v, err := strconv.ParseFloat(word, 64)
	if err != nil {
		panic(fmt.Sprintf("unknown %q before %q", word, p.rest))
	}
	return v
}

func (p *parser) list(f func(a, b float64) float64) float64 {
	v := p.sum()
	for p.take(",") {
		v = f(v, p.sum())
	}
	p.must(")")
	return v
}

func (p *parser) must(token string) {
	if !p.take(token) {
		panic(fmt.Sprintf("want %q before %q", token, p.rest))
	}
}

func TestTermText(t *testing.T) {
	a, b, c := fromProfile("a", 6, ""), fromProfile("b", 2, ""), fromProfile("c", 4, "")
	for _, tt := range []struct {
		term term
		text string
		want float64
	}{
		{plus(a, b, c), "a + b + c", 12},
		{times(a, plus(b, c)), "a × (b + c)", 36},
		{over(a, times(b, c)), "a / (b × c)", 0.75},
		{over(times(a, b), c), "a × b / c", 3},
		{over(over(a, b), c), "a / b / c", 0.75},
		{over(a, over(b, c)), "a / (b / c)", 12},
		{times(a, over(b, c)), "a × b / c", 3},
		{over(plus(a, b), plus(b, c)), "(a + b) / (b + c)", 8.0 / 6},
		{largest(plus(a, b), times(b, c)), "max(a + b, b × c)", 8},
		{times(smallest(a, b), number(0.5)), "min(a, b) × 0.5", 1},
		{plus(), "0", 0},
		{largest(), "0", 0},
		{times(a), "a", 6},
	} {
		if tt.term.text != tt.text || tt.term.value != tt.want {
			t.Errorf("got %s = %v, want %s = %v", tt.term.text, tt.term.value, tt.text, tt.want)
		}
		if v, err := evaluate(tt.term.text, tt.term.inputs); err != nil || math.Abs(v-tt.want) > 1e-12 {
			t.Errorf("%s evaluates to %v, %v; want %v", tt.term.text, v, err, tt.want)
		}
	}
}

func TestTermBands(t *testing.T) {
	c := known("c", 4, 2, 8, "", "test").term()
	a := fromProfile("a", 10, "")
	for _, tt := range []struct {
		name            string
		term            term
		low, value, top float64
	}{
		{"product", times(a, c), 20, 40, 80},
		{"quotient", over(a, c), 1.25, 2.5, 5},
		{"sum", plus(a, c), 12, 14, 18},
		{"max", largest(fromProfile("m", 5, ""), c), 5, 5, 8},
		{"min", smallest(fromProfile("m", 5, ""), c), 2, 4, 5},
		{"within", times(a, c).within(2), 20, 40, 80},
		{"narrower", times(a, c).within(1.25), 32, 40, 50},
		{"at least", a.atLeastWithin(2), 5, 10, 20},
		{"at least keeps", times(a, c).atLeastWithin(1.5), 20, 40, 80},
	} {
		if tt.term.low != tt.low || tt.term.value != tt.value || tt.term.high != tt.top {
			t.Errorf("%s: got %v to %v to %v, want %v, %v, %v", tt.name, tt.term.low, tt.term.value, tt.term.high, tt.low, tt.value, tt.top)
		}
	}
}

// The evaluator must be able to fail, or the tests that use it prove nothing.
func TestEvaluateRefuses(t *testing.T) {
	in := []Input{{Name: "a", Value: 1}}
	for _, tt := range []struct {
		formula string
		inputs  []Input
	}{
		{"a + b", in}, {"a +", in}, {"(a", in}, {"a b", in}, {"2", in}, {"a", []Input{in[0], in[0]}},
	} {
		if v, err := evaluate(tt.formula, tt.inputs); err == nil {
			t.Errorf("%q evaluated to %v, want an error", tt.formula, v)
		}
	}
	if v, err := evaluate("max(1, 2 × a) / (a + 3)", in); err != nil || v != 0.5 {
		t.Errorf("got %v, %v; want 0.5", v, err)
	}
}

func TestConstants(t *testing.T) {
	for _, c := range []constant{
		renewFraction, statusChanges, electionWrites, identityWrites, masterLeaseWrites, podWrites, podEvents,
		leaseBytes, rbacBytes, keyBytes, rowBytes, compactions,
		baseHeap, aggregatedBaseHeap, crdHeap, objectOverhead, authorizerBytes, historyWindow, historyRing,
		watchHeap, busiestShare, tierShare, consumerShare, rssFactor, listFactor,
		structuredFactor, opaqueFactor, builtInFactor, podFactor, leaseFactor, rbacFactor, configMapFactor, secretFactor, replicaSetFactor,
		writeSeconds, watcherSeatSeconds, controlLoops, namespaceShare,
		etcdCeiling, networkDiskCeiling, hddCeiling, memoryCeiling, goodFsyncMs, historyShare, liveShare, headroomShare,
		windowCeiling, typeBytesCeiling, typeObjectsCeiling, fanoutCeiling,
	} {
		if !(0 < c.low && c.low <= c.value && c.value <= c.high) {
			t.Errorf("%s: band %v to %v does not hold %v", c.name, c.low, c.high, c.value)
		}
		if c.name == "" || c.source == "" {
			t.Errorf("%+v lacks a name or a source", c)
		}
		if strings.HasSuffix(c.name, "Ceiling") && c.low != c.high {
			t.Errorf("%s: a ceiling has no band", c.name)
		}
	}
}
