package cli

import (
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/target"
)

// subject is one profile on its way through the flow.
type subject struct {
	profile  *profile.Profile
	digest   string
	source   string
	target   target.Target
	estimate *estimate.Estimate
	recipe   *recipe.Recipe
	findings []finding.Finding
	// place is where a field of the profile stands.
	place func(path string) (file string, line int)
	// warmed waits for the end of what the command warms.
	warmed func()
}

// choose estimates one profile and selects its recipe.
func (in *inputFlags) choose(ladder *recipe.Ladder, l profile.Loaded) (*subject, error) {
	p := l.Profile
	t, err := p.Target()
	if err != nil {
		return nil, err
	}
	s := &subject{profile: p, digest: l.Digest, source: l.Source, target: t, place: l.Place, findings: slices.Clone(l.Findings)}
	r, findings, err := ladder.Select(p, t, recipe.SelectOptions{Rungs: in.rungs})
	if err != nil {
		return nil, err
	}
	s.recipe, s.estimate = r, r.Present
	s.findings = slices.Concat(s.findings, s.placed(r.Present.Findings), s.placed(findings))
	return s, nil
}

// profileFields are what the path of a finding about the profile begins with.
var profileFields = []string{"name", "kubernetes", "platform", "nodes", "churn", "state", "controlPlane"}

// placed gives findings that were made of a profile, and not of its file, their
// places in it. One about something else, an axis or a rung, has no line there,
// but is of this profile and of none beside it.
func (s *subject) placed(findings []finding.Finding) []finding.Finding {
	placed := slices.Clone(findings)
	for i, f := range placed {
		first, _, within := strings.Cut(f.Path, ".")
		switch {
		case f.File != "":
		case within && slices.Contains(profileFields, first):
			placed[i].File, placed[i].Line = s.place(f.Path)
		default:
			placed[i].File = s.source
		}
	}
	return placed
}
