package generators

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/kubeseams/seams/internal/pattern"
)

// kind says what a node is.
type kind int

const (
	null    kind = iota
	literal      // a number or a boolean, written as it stands
	text
	sequence
	mapping
)

// node is a value on its way from JSON to YAML.
type node struct {
	kind  kind
	text  string
	items []item
}

// item is an entry of a mapping, or of a sequence without the key.
type item struct {
	key   string
	value *node
}

// writeDocument writes block style, the way kubectl and kubeadm write YAML:
// two spaces a level, and sequences not indented below their key.
func (n *node) writeDocument(out *bytes.Buffer) {
	if n.isBlock() {
		n.write(out, 0, true)
		return
	}
	n.writeInline(out, 0)
}

func (n *node) isBlock() bool { return len(n.items) > 0 }

// write writes a non-empty collection; begun says that the first line's
// indentation has been written already.
func (n *node) write(out *bytes.Buffer, indent int, begun bool) {
	for i, it := range n.items {
		if i > 0 || !begun {
			spaces(out, indent)
		}
		if n.kind == sequence {
			out.WriteString("- ")
			if it.value.isBlock() {
				it.value.write(out, indent+2, true)
			} else {
				it.value.writeInline(out, indent+2)
			}
			continue
		}
		out.WriteString(scalar(it.key))
		out.WriteByte(':')
		switch {
		case !it.value.isBlock():
			out.WriteByte(' ')
			it.value.writeInline(out, indent+2)
		case it.value.kind == sequence:
			out.WriteByte('\n')
			it.value.write(out, indent, false)
		default:
			out.WriteByte('\n')
			it.value.write(out, indent+2, false)
		}
	}
}

// writeInline writes a scalar or an empty collection, and ends the line.
func (n *node) writeInline(out *bytes.Buffer, indent int) {
	switch n.kind {
	case mapping:
		out.WriteString("{}\n")
	case sequence:
		out.WriteString("[]\n")
	case text:
		if isParagraph(n.text) {
			writeParagraph(out, n.text, indent)
			return
		}
		out.WriteString(scalar(n.text))
		out.WriteByte('\n')
	default:
		out.WriteString(n.text)
		out.WriteByte('\n')
	}
}

func spaces(out *bytes.Buffer, n int) {
	for range n {
		out.WriteByte(' ')
	}
}

// paragraph matches what a literal block carries unchanged: lines of printable
// ASCII, the first not indented, of which the last ends in one line break.
var paragraph = pattern.Of(`^[!-~][\t -~]*\n([\t\n -~]*[!-~]\n)?$`)

func isParagraph(s string) bool { return strings.HasSuffix(s, "\n") && paragraph().MatchString(s) }

func writeParagraph(out *bytes.Buffer, s string, indent int) {
	out.WriteString("|\n")
	for line := range strings.Lines(s) {
		if line != "\n" {
			spaces(out, indent)
		}
		out.WriteString(line)
	}
}

var (
	// number matches whatever YAML 1.1 or 1.2 could read as a number, a date
	// or a time, and a little more.
	number = pattern.Of(`^[-+.]?[0-9._][-+.:0-9A-Fa-fxobeE_]*$`)
	// dotted matches addresses and versions, which are no numbers.
	dotted = pattern.Of(`^[0-9]+(\.[0-9]+){2,}$`)
	// word matches what YAML 1.1 reads as a boolean, a null, a float or a merge key.
	word = pattern.Of(`^(?i:y|n|yes|no|on|off|true|false|null|~|[-+]?\.inf|\.nan|<<|=)$`)
)

// scalar writes text plain where every reader takes it for text, and in double
// quotes elsewhere.
func scalar(s string) string {
	if isPlain(s) && (len(s) > 5 || !word().MatchString(s)) && (!startsNumber(s) || dotted().MatchString(s) || !number().MatchString(s)) {
		return s
	}
	return quote(s)
}

// isPlain reports whether text needs no quotes, unless it reads as something
// else: printable ASCII, no indicator at its start, none within that ends a scalar.
func isPlain(s string) bool {
	if s == "" || strings.HasSuffix(s, ":") || strings.HasSuffix(s, " ") || strings.Contains(s, ": ") || strings.Contains(s, " #") {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	first := s[0]
	if first == '-' && len(s) > 1 {
		return s[1] == '-' || isLetter(s[1])
	}
	return isLetter(first) || first >= '0' && first <= '9' || strings.IndexByte("/_.+($;^", first) >= 0
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func startsNumber(s string) bool { return !isLetter(s[0]) && s[0] != '/' }

// quote writes text in double quotes, with escapes for what YAML does not
// allow in a stream.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
