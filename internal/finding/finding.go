// Package finding is what every arrow of the flow may say besides its result:
// one remark about one place, with a stable code, the fix and the reference.
package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity orders findings; the zero value is Info.
type Severity int

// The severities, from a remark to a refusal.
const (
	Info Severity = iota
	Warning
	Error
)

var severityNames = [...]string{"info", "warning", "error"}

// String gives the severity's lower-case name.
func (s Severity) String() string { return severityNames[s] }

// MarshalText makes a severity its name in JSON and YAML.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a severity's name.
func (s *Severity) UnmarshalText(text []byte) error {
	i := slices.Index(severityNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("unknown severity %q: want %s", text, strings.Join(severityNames[:], ", "))
	}
	*s = Severity(i)
	return nil
}

// Finding is one remark about one place.
type Finding struct {
	// Code is stable, in words: "override-comma-between-servers".
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	// File and Line say where, when the place is in a file; Line is 1-based, 0 when unknown.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Path is the field path inside the document: "spec.etcdClusters[1].etcdMembers".
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
	// Fix says what to write instead.
	Fix string `json:"fix,omitempty"`
	// Ref is the upstream reason: an issue, a source file, a fact.
	Ref string `json:"ref,omitempty"`
}

// String prints a finding on one line: where, severity, message, fix and code.
func (f Finding) String() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File)
		if f.Line > 0 {
			fmt.Fprintf(&b, ":%d", f.Line)
		}
		b.WriteString(": ")
	}
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	fmt.Fprintf(&b, "%s: %s", f.Severity, f.Message)
	if f.Fix != "" {
		b.WriteString("; " + f.Fix)
	}
	fmt.Fprintf(&b, " [%s]", f.Code)
	return b.String()
}

// Sort orders findings by place, the gravest first within a place, so that
// output is the same on every run.
func Sort(fs []Finding) {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(b.Severity, a.Severity),
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Message, b.Message),
		)
	})
}

// Worst gives the highest severity present; ok is false when there is none.
func Worst(fs []Finding) (worst Severity, ok bool) {
	for _, f := range fs {
		worst, ok = max(worst, f.Severity), true
	}
	return worst, ok
}

// AtLeast reports whether any finding is as grave as s.
func AtLeast(fs []Finding, s Severity) bool {
	w, ok := Worst(fs)
	return ok && w >= s
}
