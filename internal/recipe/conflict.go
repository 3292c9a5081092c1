package recipe

import (
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"github.com/kubeseams/seams/internal/finding"
)

// placeOf is where a value is written: the file as it was loaded, and the line.
func placeOf(v cue.Value) (file string, line int) {
	_, args := v.Expr()
	for _, a := range append([]cue.Value{v}, args...) {
		if p := a.Pos(); p.IsValid() && !strings.HasPrefix(p.Filename(), "schemas/") {
			return p.Filename(), p.Line()
		}
	}
	return "", 0
}

// cueFindings makes a finding of every error that CUE reports, each with all
// the places that contribute to it. An error that only the schema has a place
// for, such as a missing field, is put where the rung is.
func cueFindings(code string, err error, file string, line int) []finding.Finding {
	var findings []finding.Finding
	for _, e := range errors.Errors(errors.Sanitize(errors.Promote(err, ""))) {
		places := places(e)
		f := finding.Finding{
			Code: code, Severity: finding.Error, File: file, Line: line,
			Path:    fieldPath(e),
			Message: message(e),
		}
		if len(places) > 0 && !ofSchema(places[0]) {
			f.File, f.Line = places[0].Filename(), places[0].Line()
		}
		if len(places) > 1 || len(places) == 1 && ofSchema(places[0]) {
			f.Message += " (" + listPlaces(places) + ")"
		}
		if !slices.Contains(findings, f) {
			findings = append(findings, f)
		}
	}
	return findings
}

// conflictFindings says that rungs contradict each other, and where each of
// them says what it says.
func conflictFindings(ids []string, err error) []finding.Finding {
	findings := cueFindings("recipe-conflict", err, "recipes", 0)
	for i := range findings {
		findings[i].Path = strings.TrimPrefix(findings[i].Path, "base.")
		findings[i].Message = strings.Join(ids, " and ") + " contradict each other: " + findings[i].Message
		findings[i].Fix = "pin another rung on one of the axes, or change the rung that is yours"
	}
	return findings
}

// places are the positions that contribute to an error: those of rungs first,
// those of our own module after, each file and line once.
func places(e errors.Error) []token.Pos {
	var ps []token.Pos
	for _, p := range append(e.InputPositions(), e.Position()) {
		same := func(q token.Pos) bool { return q.Filename() == p.Filename() && q.Line() == p.Line() }
		if p.IsValid() && p.Filename() != "" && !slices.ContainsFunc(ps, same) {
			ps = append(ps, p)
		}
	}
	rank := func(p token.Pos) int {
		switch {
		case ofSchema(p):
			return 2
		case strings.HasPrefix(p.Filename(), "recipes/"):
			return 1
		}
		return 0
	}
	slices.SortStableFunc(ps, func(a, b token.Pos) int { return rank(a) - rank(b) })
	return ps
}

func ofSchema(p token.Pos) bool { return strings.HasPrefix(p.Filename(), "schemas/") }

func listPlaces(ps []token.Pos) string {
	var texts []string
	for _, p := range ps {
		texts = append(texts, fmt.Sprintf("%s:%d", p.Filename(), p.Line()))
	}
	return strings.Join(texts, ", ")
}

// fieldPath is an error's path without the definition it was met in.
func fieldPath(e errors.Error) string {
	var parts []string
	for _, p := range e.Path() {
		if !strings.HasPrefix(p, "#") {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, ".")
}

// message is an error's text without path and place, and that of what it wraps.
func message(e errors.Error) string {
	format, args := e.Msg()
	text := fmt.Sprintf(format, args...)
	if wrapped, ok := errors.Unwrap(e).(errors.Error); ok {
		text += ": " + message(wrapped)
	} else if wrapped := errors.Unwrap(e); wrapped != nil {
		text += ": " + wrapped.Error()
	}
	return text
}
