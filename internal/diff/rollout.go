package diff

import (
	"slices"

	"github.com/kubeseams/seams/internal/pattern"
)

// rollout marks the steps whose manifests stand already.
func (c *comparison) rollout() {
	for _, s := range c.Plan.Rollout {
		files := manifests(s.Commands)
		done := len(files) > 0 && !slices.ContainsFunc(files, func(f string) bool { return !c.standing[f] })
		c.diff.Rollout = append(c.diff.Rollout, Step{Step: s, Done: done})
	}
}

var manifestPath = pattern.Of(`manifests(?:-steady)?/[^/\s]+/[^/\s]+\.yaml`)

// manifests are the rendered manifests that commands install.
func manifests(commands []string) []string {
	var files []string
	for _, line := range commands {
		files = append(files, manifestPath().FindAllString(line, -1)...)
	}
	return files
}
