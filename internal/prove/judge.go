package prove

import (
	"fmt"

	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/scrape"
)

// Line is one limit of a verdict, with what was measured.
type Line struct {
	recipe.ProofLimit
	// Value is the figure under the rung, Stock under the stock layout; nil when
	// it was not measured.
	Measured *float64 `json:"measured"`
	Stock    *float64 `json:"stock,omitempty"`
	// Compared is what stands against the limit: Measured, or its ratio to Stock.
	Compared *float64 `json:"compared"`
	Pass     bool     `json:"pass"`
	// Problem says why there is nothing to compare.
	Problem string `json:"problem,omitempty"`
}

// Judge holds the figures of a rung, and of the stock layout in the same run,
// against limits. A figure that was not measured fails its limit: silence is
// no proof.
func Judge(limits []recipe.ProofLimit, stock, rung []scrape.Figure) []Line {
	lines := make([]Line, len(limits))
	for i, l := range limits {
		lines[i] = judge(l, stock, rung)
	}
	return lines
}

func judge(l recipe.ProofLimit, stock, rung []scrape.Figure) Line {
	line := Line{ProofLimit: l}
	f, ok := scrape.Find(rung, l.Metric)
	if !ok {
		line.Problem = "not measured"
		return line
	}
	line.Measured, line.Compared = &f.Value, &f.Value
	if s, ok := scrape.Find(stock, l.Metric); ok {
		line.Stock = &s.Value
	}
	if l.Against == "stock" {
		switch {
		case line.Stock == nil:
			line.Compared, line.Problem = nil, "not measured on the stock layout"
			return line
		case *line.Stock == 0:
			line.Compared, line.Problem = nil, "0 on the stock layout, so there is no ratio"
			return line
		}
		ratio := f.Value / *line.Stock
		line.Compared = &ratio
	}
	switch v := *line.Compared; l.Op {
	case "<=":
		line.Pass = v <= l.Value
	case ">=":
		line.Pass = v >= l.Value
	case "<":
		line.Pass = v < l.Value
	case ">":
		line.Pass = v > l.Value
	default:
		line.Problem = fmt.Sprintf("unknown comparison %q", l.Op)
	}
	return line
}

// Passed reports whether there is a limit and all of them are met.
func Passed(lines []Line) bool {
	for _, l := range lines {
		if !l.Pass {
			return false
		}
	}
	return len(lines) > 0
}
