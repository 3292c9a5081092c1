package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/kubeseams/seams/generators/kind"
	"github.com/kubeseams/seams/generators/kops"
	"github.com/kubeseams/seams/generators/kubeadm"
	"github.com/kubeseams/seams/generators/rollout"
	"github.com/kubeseams/seams/generators/staticpod"
	"github.com/kubeseams/seams/internal/check"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/overlay"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/target"
)

// rendered is what `render` made of one profile.
type rendered struct {
	Plan     *plan.Plan        `json:"plan"`
	Files    []renderedFile    `json:"files"`
	Findings []finding.Finding `json:"findings"`
}

type renderedFile struct {
	Path string `json:"path"`
	Data string `json:"data"`
	mode fs.FileMode
}

// below gives the files with their paths below a directory.
func (o *rendered) below(dir string) []file.File {
	files := make([]file.File, len(o.Files))
	for i, f := range o.Files {
		files[i] = file.File{Path: path.Join(dir, f.Path), Data: []byte(f.Data), Mode: f.mode}
	}
	return files
}

// findingsBelow gives the findings with the files' paths below a directory.
func (o *rendered) findingsBelow(dir string) []finding.Finding {
	findings := slices.Clone(o.Findings)
	for i, f := range findings {
		if slices.ContainsFunc(o.Files, func(r renderedFile) bool { return r.Path == f.File }) {
			findings[i].File = path.Join(dir, f.File)
		}
	}
	return findings
}

// render takes a subject through plan, generators, overlays and check.
func (r *renderer) render(s *subject) (*rendered, error) {
	of, at, findings, err := r.cluster(s)
	if err != nil {
		return nil, err
	}
	s.findings = append(s.findings, findings...)
	if finding.AtLeast(findings, finding.Error) { // the documents are of another cluster than the plan's
		return &rendered{Files: []renderedFile{}, Findings: findings}, nil
	}
	p, findings, err := plan.Make(of, s.digest, s.recipe, at)
	if err != nil {
		return nil, err
	}
	s.findings = append(s.findings, s.placed(findings)...)
	files, findings, err := r.generate(p)
	if err != nil {
		return nil, err
	}
	s.findings = append(s.findings, findings...)
	if files, err = r.applyOverlays(r.ctx, files); err != nil {
		return nil, err
	}
	s.warmed()
	s.findings = append(s.findings, r.into.inherited(check.Check(check.Input{Files: files, Target: at}), files, at)...)
	out := &rendered{Plan: p, Findings: r.onOutput(s.findings)}
	for _, f := range files {
		switch {
		case r.into == nil || !isMerged(f.Path):
			f = withHeader(f, header(p))
		case f.Path != additionalKops:
			f.Data = append([]byte(r.into.mark), f.Data...)
		}
		out.Files = append(out.Files, renderedFile{Path: f.Path, Data: string(f.Data), mode: f.Mode})
	}
	return out, nil
}

// header names everything the bytes of a file depend on.
func header(p *plan.Plan) []string {
	on := "Kubernetes " + p.Target.Kubernetes.String() + " on " + string(p.Target.Platform)
	if !p.Target.Kops.IsZero() {
		on += " " + p.Target.Kops.String() + ", " + p.Target.Cloud
	}
	return []string{
		file.RenderedBy + Version + " for " + on + ".",
		file.OfProfile + p.Name + " " + p.ProfileDigest,
		file.ByRecipe + strings.Join(p.Rungs, " + ") + " " + p.RecipeDigest,
	}
}

// generate calls the generator of the target, and the rollout that goes with every target.
func (r *renderer) generate(p *plan.Plan) ([]file.File, []finding.Finding, error) {
	if r.into != nil {
		files, findings, err := r.merge(p)
		file.Sort(files)
		return files, findings, err
	}
	generate, ok := map[target.Platform]func(*plan.Plan) ([]file.File, []finding.Finding, error){
		target.Kubeadm:   kubeadm.Generate,
		target.Kops:      kops.Generate,
		target.Kind:      kind.Generate,
		target.StaticPod: staticpod.Generate,
	}[p.Target.Platform]
	if !ok {
		return nil, nil, fmt.Errorf("unknown platform %q: want kubeadm, kops, kind or staticpod", p.Target.Platform)
	}
	files, findings, err := generate(p)
	if err != nil {
		return nil, nil, err
	}
	files = append(files, rollout.Render(p))
	file.Sort(files)
	return files, findings, nil
}

func (r *renderer) applyOverlays(ctx context.Context, files []file.File) (_ []file.File, err error) {
	for _, name := range r.flags.overlays {
		if name == "-" {
			return nil, errors.New("--overlay -: an overlay is a file, which may import others beside it; standard input is for profiles and --into")
		}
		if files, err = overlay.Apply(ctx, files, name); err != nil {
			return nil, err
		}
	}
	return files, nil
}
