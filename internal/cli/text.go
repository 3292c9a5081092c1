package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

func section(s Streams, title string) {
	fmt.Fprintf(s.Out, "\n%s\n", paint(s, bold, title))
}

// textWidth is where running text is broken; a terminal's own wrapping would lose the indentation.
const textWidth = 96

func paragraph(w io.Writer, text string) { wrap(w, text, "  ") }

// wrap prints text in lines of textWidth, each indented; further lines of a
// list item hang below its text.
func wrap(w io.Writer, text, indent string) {
	bullet := ""
	if rest, ok := strings.CutPrefix(text, "- "); ok {
		bullet, text = "- ", rest
	}
	for i, line := range wrapped(text, textWidth-len(indent)-len(bullet)) {
		if i == 1 {
			bullet = strings.Repeat(" ", len(bullet))
		}
		fmt.Fprintln(w, strings.TrimRight(indent+bullet+line, " "))
	}
}

// wrapped breaks text into lines of a width, at least one; a longer word is not broken.
func wrapped(text string, width int) []string {
	lines := []string{""}
	for i, word := range strings.Fields(text) {
		line := &lines[len(lines)-1]
		switch {
		case i == 0:
			*line = word
		case utf8.RuneCountInString(*line)+1+utf8.RuneCountInString(word) > width:
			lines = append(lines, word)
		default:
			*line += " " + word
		}
	}
	return lines
}
