package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/recipe"
)

//go:embed page.html
var pageText string

//go:embed style.css
var styleText string

// Input is everything a page tells of one profile.
type Input struct {
	Profile *profile.Profile
	// Digest is "sha256:…" of the profile, Version that of the program.
	Digest, Version string
	// Present is the estimate of the layout that is there, After that of the recipe's.
	Present, After *estimate.Estimate
	WhatIfs        []estimate.WhatIf
	Recipe         *recipe.Recipe
	// Rungs are the whole ladder, lowest first on each axis.
	Rungs []recipe.Rung
	// Runs are the project's own runs of proofs, by rung.
	Runs     map[string]Run
	Plan     *plan.Plan
	Findings []finding.Finding
	Words    Words
}

// Words are the sentences that a page shares with what is printed to terminals.
type Words struct {
	// Verdict and Cluster are the headline and the line below it.
	Verdict, Cluster string
	// Binding says what the nearest ceiling is made of, Apiserver what one more would do.
	Binding, Apiserver string
	// First is the finding that comes before any rung; nil without one.
	First *finding.Finding
	// Brings lists what the recipe changes.
	Brings []string
}

// Run is a run of a rung's proof.
type Run struct {
	// Standing is proven, failed or stale.
	Standing string
	// Date is the day of the run, On the machine, Kubernetes the version that ran.
	Date, On, Kubernetes string
	// Scale multiplied the proof's load.
	Scale float64
	// Limits are the lines that were judged.
	Limits []RunLimit
}

// RunLimit is one judged line of a run.
type RunLimit struct {
	Text string
	Met  bool
}

// Page writes the page. The same input gives the same bytes.
func Page(in Input) ([]byte, error) {
	t, err := template.New("page").Funcs(template.FuncMap{
		"lines": func(from, step, i int) int { return from + step*i },
	}).Parse(pageText)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	v := newView(in)
	v.Style = template.CSS(styleText)
	sum := sha256.Sum256([]byte(styleText))
	v.StyleHash = "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return b.Bytes(), nil
}
