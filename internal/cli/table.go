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
	// limit is how wide a column may be before its cells are broken; 0 is any width.
	limit map[int]int
	// notes are lines of text below a row.
	notes map[int]cell
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
	t := &table{limit: map[int]int{}, notes: map[int]cell{}}
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

// note puts a text below the row added last, in lines of textWidth.
func (t *table) note(c cell) { t.notes[len(t.rows)-1] = c }

// print writes the table with the given indentation.
func (t *table) print(w io.Writer, s Streams, indent string) {
	width := t.widths(len(indent))
	var head []cell
	for _, h := range t.head {
		head = append(head, cell{h, dim})
	}
	t.printRow(w, s, indent, width, head)
	for i, row := range t.rows {
		t.printRow(w, s, indent, width, row)
		if n, ok := t.notes[i]; ok && n.text != "" {
			for _, line := range wrapped(n.text, textWidth-len(indent)-4) {
				fmt.Fprintln(w, indent+"    "+paint(s, n.colour, line))
			}
		}
	}
}

// leastWrapped is the width below which a last column is better left long.
const leastWrapped = 24

// widths are the columns': as wide as their cells, up to their limit; a last
// column of text takes what is left of textWidth.
func (t *table) widths(indent int) []int {
	width := make([]int, len(t.head))
	for _, row := range append([][]cell{t.headings()}, t.rows...) {
		for i, c := range row {
			n := utf8.RuneCountInString(c.text)
			if limit := t.limit[i]; limit > 0 {
				n = min(n, max(limit, longestWord(c.text)))
			}
			width[i] = max(width[i], n)
		}
	}
	last, left := len(width)-1, textWidth-indent
	for _, n := range width[:last] {
		left -= n + 2
	}
	if !t.right[last] && left >= leastWrapped {
		width[last] = min(width[last], left)
	}
	return width
}

func longestWord(text string) (n int) {
	for _, word := range strings.Fields(text) {
		n = max(n, utf8.RuneCountInString(word))
	}
	return n
}

func (t *table) headings() (row []cell) {
	for _, h := range t.head {
		row = append(row, cell{text: h})
	}
	return row
}

// printRow writes one row, in as many lines as its longest cell needs.
func (t *table) printRow(w io.Writer, s Streams, indent string, width []int, row []cell) {
	cells, lines := make([][]string, len(row)), 1
	for i, c := range row {
		cells[i] = []string{c.text}
		if utf8.RuneCountInString(c.text) > width[i] {
			cells[i] = wrapped(c.text, width[i])
		}
		lines = max(lines, len(cells[i]))
	}
	for n := range lines {
		var line strings.Builder
		for i, c := range row {
			text := ""
			if n < len(cells[i]) {
				text = cells[i][n]
			}
			pad := strings.Repeat(" ", max(0, width[i]-utf8.RuneCountInString(text)))
			if t.right[i] {
				line.WriteString(pad + paint(s, c.colour, text) + "  ")
			} else {
				line.WriteString(paint(s, c.colour, text) + pad + "  ")
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
