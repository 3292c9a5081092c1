package profile

import (
	"slices"
	"strconv"
	"strings"
)

// fieldPath is a place in a profile.
type fieldPath []step

// step is one field name, or with an empty name the index of a list.
type step struct {
	name  string
	index int
}

// String writes the form findings use: churn.resources[0].scope.
func (p fieldPath) String() string {
	var b strings.Builder
	for _, s := range p {
		switch {
		case s.name == "":
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case b.Len() > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	return b.String()
}

func (p fieldPath) field(name string) fieldPath { return append(slices.Clip(p), step{name: name}) }
func (p fieldPath) elem(i int) fieldPath        { return append(slices.Clip(p), step{index: i}) }

// within reports whether p is q or lies beneath it.
func (p fieldPath) within(q fieldPath) bool { return len(p) >= len(q) && slices.Equal(p[:len(q)], q) }

// cuePath turns the path of a CUE error into one of a profile: without the
// definition and the fields that lead to the profile.
func cuePath(parts, prefix []string) fieldPath {
	if len(parts) > 0 && parts[0] == "#Profile" && (len(prefix) == 0 || prefix[0] != "#Profile") {
		parts = parts[1:]
	}
	if len(parts) >= len(prefix) && slices.EqualFunc(parts[:len(prefix)], prefix, sameLabel) {
		parts = parts[len(prefix):]
	}
	var p fieldPath
	for _, s := range parts {
		if i, err := strconv.Atoi(s); err == nil {
			p = append(p, step{index: i})
			continue
		}
		if u, err := strconv.Unquote(s); err == nil {
			s = u
		}
		p = append(p, step{name: s})
	}
	return p
}

// parsePath reads what String wrote; findings of Validate carry such paths.
func parsePath(text string) fieldPath {
	var p fieldPath
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == '.' || r == '[' }) {
		if digits, ok := strings.CutSuffix(part, "]"); ok {
			if i, err := strconv.Atoi(digits); err == nil {
				p = append(p, step{index: i})
				continue
			}
		}
		p = append(p, step{name: part})
	}
	return p
}

// sameLabel compares labels, either of which may be quoted.
func sameLabel(a, b string) bool {
	if u, err := strconv.Unquote(a); err == nil {
		a = u
	}
	if u, err := strconv.Unquote(b); err == nil {
		b = u
	}
	return a == b
}
