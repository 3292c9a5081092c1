package cli

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kubeseams/seams/internal/estimate"
)

// Of a long sum the largest parts are named and the others added up.
func TestAbridged(t *testing.T) {
	f := estimate.Figure{Inputs: []estimate.Input{{Name: "quota", Value: 8 << 30, Unit: "bytes"}}}
	var names []string
	for i := range 60 {
		name := fmt.Sprintf("g%d.history", i)
		names = append(names, name)
		f.Inputs = append(f.Inputs, estimate.Input{Name: name, Value: float64(i + 1), Unit: "writes/s"})
	}
	f.Formula = "(" + strings.Join(names, " + ") + ") / (0.4 × quota)"
	formula, inputs := abridged(f)
	if want := "(g59.history + g58.history + g57.history + 57 more) / (0.4 × quota)"; formula != want {
		t.Errorf("%s, want %s", formula, want)
	}
	if want := "g59.history = 60 writes/s, g58.history = 59 writes/s, g57.history = 58 writes/s, 57 more = 1,653 writes/s, quota = 8 GiB"; inputs != want {
		t.Errorf("%s, want %s", inputs, want)
	}
	f.Formula, f.Inputs = "(a + b) / quota", f.Inputs[:1]
	if formula, _ := abridged(f); formula != f.Formula {
		t.Errorf("a short formula became %s", formula)
	}
}

// Tables keep to the width of running text, and lose no word by it.
func TestTableIsWrapped(t *testing.T) {
	text := strings.TrimSpace(strings.Repeat("moves a word ", 20))
	tab := newTable("CHANGE", ">NODE", "VERDICT")
	tab.limit[0] = 30
	tab.add(text, "0.50", text)
	tab.note(cell{text: text})
	var b strings.Builder
	tab.print(&b, Streams{}, "  ")
	for _, line := range strings.Split(b.String(), "\n") {
		if utf8.RuneCountInString(line) > textWidth {
			t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
		}
	}
	if n := strings.Count(b.String(), "moves"); n != 60 {
		t.Errorf("%d of 60 words are left:\n%s", n, b.String())
	}
}

func TestPressureChange(t *testing.T) {
	for _, c := range []struct {
		before, after float64
		want          string
	}{{0.841, 0.8412, "stays at 0.84"}, {1.37, 0.92, "goes from 1.37 to 0.92"}} {
		if got := change(c.before, c.after); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
