package cli

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/internal/diff"
	"github.com/kubeseams/seams/internal/yamltext"
)

// diffText prints a diff for people.
type diffText struct {
	streams Streams
	diff    *diff.Diff
}

func (t *diffText) line(format string, args ...any) {
	fmt.Fprintln(t.streams.Out, strings.TrimRight(fmt.Sprintf(format, args...), " "))
}

func (t *diffText) head(text string) { t.line("\n%s", paint(t.streams, bold, text)) }

func (t *diffText) print() {
	d := t.diff
	t.line("%s: %s; Kubernetes %s on %s", d.Profile, t.summary(), d.Version, d.Platform)
	t.line("Recipe %s", strings.Join(d.Rungs, " + "))
	for i, doc := range d.Documents {
		if doc.Action != diff.ActionChange || slices.ContainsFunc(d.Documents[:i], func(o diff.Document) bool { return alike(o, doc) }) {
			continue
		}
		t.document(doc, d.Documents[i+1:])
	}
	t.added()
	if len(d.NotCompared) > 0 {
		t.head("Not compared")
		t.paragraph("  ", "What runs was given without files of these, so whether they are in place cannot be told.")
		for _, name := range d.NotCompared {
			t.line("  ? %s", name)
		}
	}
	if !d.Changed {
		return
	}
	if len(d.Instructions) > 0 {
		t.head("Read or run on the way")
		t.paragraph("  ", "seams render writes these; no host keeps them, so that there was nothing to compare: "+strings.Join(d.Instructions, ", ")+".")
	}
	t.rollout()
	t.hazards()
}

// summary counts what changes.
func (t *diffText) summary() string {
	if !t.diff.Changed {
		return "nothing to change"
	}
	changes, changed, added := 0, 0, 0
	for _, doc := range t.diff.Documents {
		if doc.Action == diff.ActionAdd {
			added++
			continue
		}
		changed++
		changes += len(doc.Changes)
	}
	var parts []string
	if changed > 0 {
		parts = append(parts, counted(changes, "change")+" in "+counted(changed, "document"))
	}
	if added > 0 {
		parts = append(parts, counted(added, "document")+" to add")
	}
	return strings.Join(parts, ", ")
}

// alike reports whether two documents change in the same way, as the same pod
// on several hosts does.
func alike(a, b diff.Document) bool {
	return a.Action == b.Action && a.Object == b.Object && reflect.DeepEqual(a.Changes, b.Changes)
}

// document prints the changes of one document, by the field they are in, and
// names those of the later ones that change in the same way.
func (t *diffText) document(doc diff.Document, later []diff.Document) {
	where := func(d diff.Document) string {
		if d.Within != "" {
			return d.File + ", " + d.Within
		}
		return d.File
	}
	t.head(doc.Object + "  (" + where(doc) + ")")
	for _, other := range later {
		if alike(other, doc) {
			t.line("  and the same in %s", where(other))
		}
	}
	section := ""
	for _, c := range doc.Changes {
		at, name := parted(c)
		if at != section {
			t.line("  %s", at)
			section = at
		}
		t.change(name, c)
	}
}

// parted is the field that a change is in, and what it is called there.
func parted(c diff.Change) (section, name string) {
	section = c.Path
	switch {
	case c.Flag != "":
		name = c.Flag
		section = strings.TrimSuffix(section, "["+strings.TrimPrefix(c.Flag, "--")+"]")
		if c.Entry != "" {
			name += " " + c.Entry
		}
		return section, name
	case c.Entry != "":
		return section, c.Entry
	}
	i := strings.LastIndexAny(section, ".[")
	if i < 0 {
		return "", section
	}
	if section[i] == '[' {
		return section[:i], strings.Trim(section[i:], "[]")
	}
	return section[:i], section[i+1:]
}

// signs are how operations are drawn.
var signs = map[string]struct {
	sign   string
	colour colour
}{diff.OpAdd: {"+", green}, diff.OpReplace: {"~", yellow}, diff.OpRemove: {"-", red}}

func (t *diffText) change(name string, c diff.Change) {
	s := signs[c.Op]
	value := shown(c.New)
	switch c.Op {
	case diff.OpReplace:
		value = shown(c.Old) + " → " + shown(c.New)
	case diff.OpRemove:
		value = shown(c.Old)
	}
	if value == name {
		value = ""
	}
	if block := blockOf(c.New); c.Op == diff.OpAdd && len(value) > textWidth && block != nil {
		t.reasoned(s.sign, s.colour, name, c.Reasons)
		for _, line := range block {
			t.line("        %s", paint(t.streams, s.colour, line))
		}
		return
	}
	t.reasoned(s.sign, s.colour, strings.TrimSpace(name+"  "+value), c.Reasons)
}

// blockOf is a mapping in lines of YAML; nil for anything else.
func blockOf(v any) []string {
	if _, ok := v.(map[string]any); !ok {
		return nil
	}
	text, err := yaml.Marshal(v)
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n")
}

// reasoned prints a line with who asks for it, beside it where there is room.
func (t *diffText) reasoned(sign string, c colour, text string, reasons []diff.Reason) {
	why := reasonText(reasons)
	body := paint(t.streams, c, sign+" "+text)
	if n := utf8.RuneCountInString(text); n+utf8.RuneCountInString(why)+10 > textWidth {
		t.line("    %s", body)
		t.line("        %s", paint(t.streams, dim, why))
		return
	}
	t.line("    %s%s%s", body, strings.Repeat(" ", max(2, 48-utf8.RuneCountInString(text))), paint(t.streams, dim, why))
}

// shown is a value on one line.
func shown(v any) string {
	if s, ok := v.(string); ok {
		if s == "" {
			return `""`
		}
		return s
	}
	return yamltext.Inline(v)
}

// reasonText names the rungs, with their seams, or the field of the profile.
func reasonText(reasons []diff.Reason) string {
	var parts []string
	for _, r := range reasons {
		switch {
		case r.Rung == "":
			parts = append(parts, "profile "+r.Profile)
		case len(r.Seams) > 0:
			parts = append(parts, r.Rung+" ("+strings.Join(r.Seams, ", ")+")")
		default:
			parts = append(parts, r.Rung)
		}
	}
	return strings.Join(parts, "; ")
}

// added lists the documents that are not there yet.
func (t *diffText) added() {
	if !slices.ContainsFunc(t.diff.Documents, func(d diff.Document) bool { return d.Action == diff.ActionAdd }) {
		return
	}
	t.head("Added")
	for _, doc := range t.diff.Documents {
		if doc.Action == diff.ActionAdd {
			t.reasoned("+", green, strings.TrimSpace(doc.File+"  "+doc.Object), doc.Reasons)
		}
	}
}

func (t *diffText) paragraph(indent, text string) {
	for _, line := range wrapped(text, textWidth-len(indent)) {
		t.line("%s%s", indent, line)
	}
}

// rollout prints the steps with what breaks when they are done otherwise.
func (t *diffText) rollout() {
	if len(t.diff.Rollout) == 0 {
		return
	}
	t.head("Rollout, in this order")
	for i, s := range t.diff.Rollout {
		title := fmt.Sprintf("%d. %s", i+1, s.Title)
		if s.Done {
			t.line("  %s", paint(t.streams, dim, title+" (stands already)"))
			continue
		}
		t.line("  %s", title)
		if s.Hazard != "" {
			t.paragraph("       ", "hazard: "+s.Hazard)
		}
	}
	t.paragraph("  ", "The commands, checks and ways back are in rollout.md of \"seams render --into\", and in -o json.")
}

func (t *diffText) hazards() {
	if len(t.diff.Hazards) == 0 {
		return
	}
	t.head("Hazards of the rungs")
	for _, h := range t.diff.Hazards {
		t.paragraph("  ", h.Rung+": "+h.What)
		t.paragraph("       ", "contained by: "+h.Mitigation)
	}
}

// paintLine colours a line of a unified diff.
func paintLine(s Streams, line string) string {
	text, end := strings.TrimSuffix(line, "\n"), ""
	if len(text) < len(line) {
		end = "\n"
	}
	switch {
	case strings.HasPrefix(text, "+++ "), strings.HasPrefix(text, "--- "), strings.HasPrefix(text, "diff "):
		return paint(s, bold, text) + end
	case strings.HasPrefix(text, "@@"):
		return paint(s, dim, text) + end
	case strings.HasPrefix(text, "+"):
		return paint(s, green, text) + end
	case strings.HasPrefix(text, "-"):
		return paint(s, red, text) + end
	}
	return line
}
