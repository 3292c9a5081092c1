package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubeseams/seams"
	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/prove"
	"github.com/kubeseams/seams/internal/quantity"
	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/report"
)

// reportPage takes a subject through the plan, whose rollout the page names,
// and writes the page in the words that explain uses.
func reportPage(s *subject, rungs []recipe.Rung, runs map[string]report.Run) ([]byte, []finding.Finding, error) {
	x := &explanation{
		Profile: s.profile, Digest: s.digest, Estimate: s.estimate,
		WhatIfs: estimate.WhatIfs(s.profile, estimate.Stock(s.profile)), Recipe: s.recipe,
	}
	if w, ok := recipeWhatIf(s); ok {
		x.WhatIfs = append(x.WhatIfs, w)
	}
	p, findings, err := plan.Make(s.profile, s.digest, s.recipe, s.target)
	if err != nil {
		return nil, nil, err
	}
	x.Findings = slices.Concat(s.findings, notForFiles(findings))
	finding.Sort(x.Findings)
	x.Findings = slices.CompactFunc(x.Findings, func(a, b finding.Finding) bool { return a == b })
	first, others := firstAdvice(x)
	page, err := report.Page(report.Input{
		Profile: s.profile, Digest: s.digest, Version: Version,
		Present: s.estimate, After: s.recipe.Estimate, WhatIfs: x.WhatIfs, Recipe: s.recipe,
		Rungs: rungs, Runs: runs, Plan: p, Findings: others,
		Words: report.Words{
			Verdict: verdictText(s.estimate), Cluster: clusterText(x),
			Binding: nearestText(x.Estimate) + aboutText(x.Estimate), Apiserver: apiserverText(x), First: first, Brings: brings(x),
		},
	})
	return page, x.Findings, err
}

// notForFiles makes warnings of what only files cannot do without, such as
// hosts or an image: a page tells as much of a profile that names none yet.
func notForFiles(findings []finding.Finding) []finding.Finding {
	all := slices.Clone(findings)
	for i := range all {
		all[i].Severity = min(all[i].Severity, finding.Warning)
	}
	return all
}

// provenRuns are the project's own runs of proofs, as pages tell of them, and
// the ladder they stand to.
func provenRuns(ctx context.Context, dirs []string) (map[string]report.Run, *recipe.Ladder, error) {
	ladder, findings, err := recipe.Load(recipe.Options{Dirs: dirs})
	if err != nil {
		return nil, nil, err
	}
	if finding.AtLeast(findings, finding.Error) {
		// each tells of them, with those of the profiles.
		if ladder, _, err = recipe.Load(recipe.Options{}); err != nil {
			return nil, nil, err
		}
	}
	standings, err := prove.Standings(ctx, ladder, seams.CUE, prove.EvidenceDir)
	if err != nil {
		return nil, nil, err
	}
	runs := map[string]report.Run{}
	for id, e := range standings {
		r := e.Record
		run := report.Run{
			Standing: string(e.Standing), Date: r.Date, Kubernetes: r.Versions["kube-apiserver"], Scale: r.Scale,
			On: fmt.Sprintf("%s with %s", quantity.With(float64(r.Machine.CPUs), "CPUs"), bytesText(r.Machine.MemoryGiB*(1<<30))),
		}
		for _, l := range r.Limits {
			run.Limits = append(run.Limits, report.RunLimit{Text: judgedText(l), Met: l.Pass})
		}
		runs[id] = run
	}
	return runs, ladder, nil
}

// judgedText is a limit of a run and what stood against it.
func judgedText(l prove.Line) string {
	text := l.Metric + " " + l.Op + " " + quantity.Exact(l.Value)
	if l.Unit != "" {
		text += " " + l.Unit
	}
	if l.Against == "stock" {
		text += " of stock"
	}
	if l.Compared != nil {
		return text + ", was " + quantity.Count(*l.Compared)
	}
	return text + ", " + l.Problem
}
