package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table prints aligned columns; text/tabwriter would count escape sequences as
// width, so cells carry their colour apart from their text.
type table struct {
	head  []string
	right []bool // columns of numbers
	rows  [][]cell
}

type cell struct {
	text   string
	colour colour
}

// colour is an escape sequence's parameters; empty means plain.
type colour string

const (
	plain  colour = ""
	bold   colour = "1"
	dim    colour = "2"
	red    colour = "31"
	green  colour = "32"
	yellow colour = "33"
)

// paint wraps text in its colour where colours are allowed.
func paint(s Streams, c colour, text string) string {
	if !s.Colour || c == plain || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// newTable begins a table; a heading that starts with > is a column of numbers.
func newTable(head ...string) *table {
	t := &table{}
	for _, h := range head {
		h, right := strings.CutPrefix(h, ">")
		t.head = append(t.head, h)
		t.right = append(t.right, right)
	}
	return t
}

// add appends a row; an argument is a cell or is formatted as one.
func (t *table) add(cells ...any) {
	var row []cell
	for _, c := range cells {
		if c, ok := c.(cell); ok {
			row = append(row, c)
			continue
		}
		row = append(row, cell{text: fmt.Sprint(c)})
	}
	t.rows = append(t.rows, row)
}

// print writes the table with the given indentation.
func (t *table) print(w io.Writer, s Streams, indent string) {
	width := make([]int, len(t.head))
	for i, h := range t.head {
		width[i] = utf8.RuneCountInString(h)
	}
	for _, row := range t.rows {
		for i, c := range row {
			width[i] = max(width[i], utf8.RuneCountInString(c.text))
		}
	}
	var head []cell
	for _, h := range t.head {
		head = append(head, cell{h, dim})
	}
	for _, row := range append([][]cell{head}, t.rows...) {
		var line strings.Builder
		for i, c := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c.text))
			text := paint(s, c.colour, c.text)
			if t.right[i] {
				line.WriteString(pad + text + "  ")
			} else {
				line.WriteString(text + pad + "  ")
			}
		}
		fmt.Fprintln(w, strings.TrimRight(indent+line.String(), " "))
	}
}

// rowsOnly writes the table without its headings.
func (t *table) rowsOnly(w io.Writer, s Streams) {
	t.head = make([]string, len(t.head))
	var b strings.Builder
	t.print(&b, s, "  ")
	_, rows, _ := strings.Cut(b.String(), "\n")
	fmt.Fprint(w, rows)
}
