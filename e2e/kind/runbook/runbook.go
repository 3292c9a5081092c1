// Package runbook reads the rendered rollout.md and runs its steps as they
// stand, with containers in the place of hosts. It is for tests: nothing of the
// program imports it.
package runbook

import (
	"fmt"
	"strings"
)

// Step is one of a rollout, with what its Markdown says.
type Step struct {
	Title string
	// Commands and Check are shell as it stands in the fences; either may be
	// empty.
	Commands, Check string
	// Expect is the prose of what the check shows.
	Expect string
}

// Steps are those of one section (its heading without the marks), in order.
func Steps(markdown, section string) ([]Step, error) {
	var steps []Step
	var into *string
	inSection, fence, checking := false, "", false
	for _, line := range strings.Split(markdown, "\n") {
		switch {
		case fence != "" && line == fence:
			fence = ""
		case fence != "":
			*into += line + "\n"
		case strings.HasPrefix(line, "## "):
			inSection = line == "## "+section
		case !inSection:
		case strings.HasPrefix(line, "### "):
			_, title, ok := strings.Cut(line, ". ")
			if !ok {
				return nil, fmt.Errorf("a step without a number: %q", line)
			}
			steps = append(steps, Step{Title: title})
			checking = false
		case line == "**Check:**":
			checking = true
		case len(steps) == 0:
		case strings.HasPrefix(line, "**Expect:** "):
			steps[len(steps)-1].Expect = strings.TrimPrefix(line, "**Expect:** ")
		case strings.HasPrefix(line, "```"):
			fence = strings.TrimSuffix(line, "sh")
			into = &steps[len(steps)-1].Commands
			if checking {
				into = &steps[len(steps)-1].Check
			}
		}
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("no section %q with steps", section)
	}
	if fence != "" {
		return nil, fmt.Errorf("step %q ends within a fence", steps[len(steps)-1].Title)
	}
	return steps, nil
}

// onEachNode begins a comment that tells the reader what to do on every node.
const onEachNode = "# on each node: "

// ForNodes puts real commands in the place of comments that leave it to the
// reader to go from node to node. It does so one node after the other.
func ForNodes(commands string, nodes []string) string {
	var out strings.Builder
	for _, line := range strings.SplitAfter(commands, "\n") {
		command, ok := strings.CutPrefix(line, onEachNode)
		if !ok {
			out.WriteString(line)
			continue
		}
		for _, n := range nodes {
			fmt.Fprintf(&out, "ssh -n root@%s '%s'\n", n, strings.TrimSpace(command))
		}
	}
	return out.String()
}
