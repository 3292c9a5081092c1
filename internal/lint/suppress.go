package lint

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/pattern"
)

// comment is a suppression in a file: # seams:ignore CODE REASON.
type comment struct {
	file         string
	line         int    // on which it is written
	about        int    // which it is about
	what, reason string // the code it suppresses, and why
	used         bool
}

var ignoreComment = pattern.Of(`#\s*seams:ignore(?:[ \t]+([^\s]+))?(?:[ \t]+(.*?))?\s*$`)

// comments finds the suppressions of a file. One that stands behind something
// is about its own line; one on a line of its own is about the next line that
// is not blank and no comment.
func comments(name string, data []byte) []*comment {
	if !bytes.Contains(data, []byte("seams:ignore")) {
		return nil
	}
	var all, waiting []*comment
	n := 0
	for line := range bytes.Lines(data) {
		n++
		text := bytes.TrimSpace(line)
		m := ignoreComment().FindSubmatch(text)
		own := len(text) == 0 || text[0] == '#'
		if m != nil {
			c := &comment{file: name, line: n, about: n, what: string(m[1]), reason: string(m[2])}
			all = append(all, c)
			if own {
				waiting = append(waiting, c)
			}
		}
		if !own && string(text) != "---" {
			for _, c := range waiting {
				c.about = n
			}
			waiting = nil
		}
	}
	return all
}

// suppress takes the findings out that a comment in their file answers for. A
// finding about a whole file, which has no line, is answered for on the first
// line that has something on it.
func suppress(u unit, texts [][]byte, findings []finding.Finding) (kept []finding.Finding, suppressed []Suppressed) {
	var all []*comment
	for i, m := range u.members {
		all = append(all, comments(m.path, texts[i])...)
	}
	if len(all) == 0 {
		return findings, nil
	}
	for _, f := range findings {
		i := slices.IndexFunc(all, func(c *comment) bool { return c.matches(f) })
		if i < 0 {
			kept = append(kept, f)
			continue
		}
		all[i].used = true
		suppressed = append(suppressed, Suppressed{f, all[i].reason, true})
	}
	for _, c := range all {
		if f, ok := c.judge(); ok {
			kept = append(kept, f)
		}
	}
	return kept, suppressed
}

func (c *comment) matches(f finding.Finding) bool {
	if c.what != f.Code || c.file != f.File || c.reason == "" {
		return false
	}
	return c.about == f.Line || f.Line <= 1 && c.line == 1
}

// judge wants a suppression to have a reason and something to suppress.
func (c *comment) judge() (finding.Finding, bool) {
	f := finding.Finding{File: c.file, Line: c.line}
	switch {
	case c.what == "" || c.reason == "":
		f.Code, f.Severity = "suppression-reason", finding.Error
		f.Message = "a suppression must name one code and give a reason; without them it suppresses nothing"
		f.Fix = "write # seams:ignore CODE REASON"
	case !c.used:
		f.Code, f.Severity = "suppression-unused", finding.Warning
		f.Message = fmt.Sprintf("there is no %s here to suppress", c.what)
		f.Fix = "remove the comment"
	default:
		return f, false
	}
	return f, true
}

// ignore takes the findings out that the command answers for. One that
// answers for nothing is a finding about the command.
func ignore(findings []finding.Finding, suppressed []Suppressed, ignores []Ignore) ([]finding.Finding, []Suppressed) {
	for _, ig := range ignores {
		before := len(findings)
		findings = slices.DeleteFunc(findings, func(f finding.Finding) bool {
			if f.Code != ig.What {
				return false
			}
			suppressed = append(suppressed, Suppressed{f, ig.Reason, false})
			return true
		})
		if len(findings) == before && !strings.HasPrefix(ig.What, "suppression-") {
			findings = append(findings, finding.Finding{
				Code: "suppression-unused", Severity: finding.Warning,
				Message: fmt.Sprintf("no file has %s, which --ignore suppresses", ig.What), Fix: "leave it out",
			})
		}
	}
	return findings, suppressed
}
