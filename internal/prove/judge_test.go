package prove

import (
	"strings"
	"testing"

	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/scrape"
)

func TestJudge(t *testing.T) {
	figures := func(v float64) []scrape.Figure { return []scrape.Figure{{Name: "x", Value: v}} }
	cases := []struct {
		name        string
		limit       recipe.ProofLimit
		stock, rung []scrape.Figure
		pass        bool
		problem     string
	}{
		{"below", recipe.ProofLimit{Metric: "x", Op: "<=", Value: 2}, nil, figures(1), true, ""},
		{"at the limit", recipe.ProofLimit{Metric: "x", Op: "<=", Value: 2}, nil, figures(2), true, ""},
		{"at a strict limit", recipe.ProofLimit{Metric: "x", Op: "<", Value: 2}, nil, figures(2), false, ""},
		{"above", recipe.ProofLimit{Metric: "x", Op: "<=", Value: 2}, nil, figures(3), false, ""},
		{"at least", recipe.ProofLimit{Metric: "x", Op: ">=", Value: 2}, nil, figures(3), true, ""},
		{"a ratio", recipe.ProofLimit{Metric: "x", Op: "<=", Value: 0.1, Against: "stock"}, figures(50), figures(5), true, ""},
		{"a ratio above", recipe.ProofLimit{Metric: "x", Op: "<=", Value: 0.1, Against: "stock"}, figures(50), figures(6), false, ""},
		{"not measured", recipe.ProofLimit{Metric: "y", Op: "<=", Value: 2}, figures(1), figures(1), false, "not measured"},
		{"no stock", recipe.ProofLimit{Metric: "x", Op: "<=", Value: 2, Against: "stock"}, nil, figures(1), false, "on the stock layout"},
		{"stock is zero", recipe.ProofLimit{Metric: "x", Op: "<=", Value: 2, Against: "stock"}, figures(0), figures(0), false, "no ratio"},
		{"unknown comparison", recipe.ProofLimit{Metric: "x", Op: "==", Value: 1}, nil, figures(1), false, "unknown comparison"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			lines := Judge([]recipe.ProofLimit{c.limit}, c.stock, c.rung)
			if Passed(lines) != c.pass || !strings.Contains(lines[0].Problem, c.problem) || c.problem == "" && lines[0].Problem != "" {
				t.Errorf("%+v", lines[0])
			}
		})
	}
	if Passed(nil) {
		t.Error("a proof without limits passed")
	}
}
