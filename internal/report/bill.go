package report

import (
	"fmt"
	"strings"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/quantity"
)

// billView is the memory that all API servers take, today, with one more, and
// with the recipe.
type billView struct {
	Bars          []billBar
	Width, Height float64
	Desc          string
	Rows          []billRow
	Totals        []billRow
}

// billBar is one total, a block for each process.
type billBar struct {
	Class, Label, Total   string
	Y                     float64
	Blocks                []blockView
	WhiskerFrom, WhiskerT float64
}

type blockView struct {
	X, W  float64
	Class string
}

// billRow is one kind of process, or a total.
type billRow struct {
	Name, Layout string
	Count        string
	Each, All    numberView
}

const (
	billLeft, billRight = 2.0, 358.0
	billRowHeight       = 62.0
	// mostBlocks is how many processes are still drawn one by one.
	mostBlocks = 60
)

// process is one kind of API server in an estimate.
type process struct {
	id, name, class string
	count           int
}

// processes lists the kinds of API server of a layout, in the order of the estimate.
func processes(l estimate.Layout) []process {
	var all []process
	for _, p := range l.Processes() {
		kind := process{id: p.ID, name: estimate.Words(p.ID), count: p.Count, class: "tier"}
		switch {
		case p.ID == "apiserver":
			kind.class = "main"
		case p.Tier != "":
			kind.class = "aggregated"
		}
		all = append(all, kind)
	}
	return all
}

func newBill(in Input, figures *figureIndex) billView {
	b := billView{Width: chartWidth}
	type column struct {
		e           *estimate.Estimate
		class, name string
	}
	plus := in.Present.Layout
	plus.Apiservers = max(plus.Apiservers, 1) + 1
	columns := []column{
		{in.Present, "present", "Today"},
		{estimate.Compute(in.Profile, plus), "plus", "One more apiserver"},
		{in.After, "recipe", "The recipe"},
	}
	most := 0.0
	for _, c := range columns {
		f, _ := c.e.Figure("resident.total")
		most = max(most, f.High)
	}
	for i, c := range columns {
		total, _ := c.e.Figure("resident.total")
		bar := newBar(c.e, (billRight-billLeft)/most)
		bar.Class, bar.Label, bar.Y = c.class, c.name, float64(i)*billRowHeight
		bar.Total = quantity.Bytes(total.Value)
		b.Bars = append(b.Bars, bar)
		b.Desc += fmt.Sprintf("%s: %s in all, %s to %s. ", c.name, bar.Total, quantity.Bytes(total.Low), quantity.Bytes(total.High))
		b.Totals = append(b.Totals, billRow{Name: c.name, Count: quantity.Count(float64(count(c.e.Layout))), All: figures.number(total, c.class)})
		if c.class == "plus" {
			continue // the same kinds as today's
		}
		for _, p := range processes(c.e.Layout) {
			rss, _ := c.e.Figure(p.id + ".rss")
			all := rss
			all.Value, all.Low, all.High = rss.Value*float64(p.count), rss.Low*float64(p.count), rss.High*float64(p.count)
			b.Rows = append(b.Rows, billRow{Layout: c.name, Name: p.name, Count: quantity.Count(float64(p.count)),
				Each: figures.number(rss, c.class), All: numberView{Text: quantity.Bytes(all.Value)}})
		}
	}
	b.Height = float64(len(b.Bars))*billRowHeight - 8
	return b
}

func count(l estimate.Layout) (n int) {
	for _, p := range processes(l) {
		n += p.count
	}
	return n
}

// newBar lays the processes of a layout side by side, each as wide as it is large.
func newBar(e *estimate.Estimate, perByte float64) billBar {
	var b billBar
	x := billLeft
	for _, p := range processes(e.Layout) {
		rss, _ := e.Figure(p.id + ".rss")
		n, w := p.count, rss.Value*perByte
		if count(e.Layout) > mostBlocks {
			n, w = 1, w*float64(p.count)
		}
		for range n {
			b.Blocks = append(b.Blocks, blockView{X: round(x), W: round(max(w-1, 0.5)), Class: p.class})
			x += w
		}
	}
	total, _ := e.Figure("resident.total")
	b.WhiskerFrom, b.WhiskerT = round(billLeft+total.Low*perByte), round(billLeft+total.High*perByte)
	return b
}

// isStoreFigure tells the figure of one store's part: "store.main.writes.churn".
func isStoreFigure(id, suffix string) bool {
	return strings.HasPrefix(id, "store.") && strings.HasSuffix(id, suffix)
}
