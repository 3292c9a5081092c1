// Package read takes existing files apart for lint, the arrow from what runs
// today to findings: it bounds what is read, tells what a file is without
// decoding it, and lifts configurations out of the objects that carry them.
package read

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxBytes bounds a file that is read; a control plane's configuration with
// everything in it is below 100 kB, a dump of one namespace's ConfigMaps below 1 MB.
const MaxBytes = 4 << 20

// maxMarks bounds the marks of structure in a file. A decoder makes a node of
// some 250 bytes for each, so that 4 MB of commas would take a gigabyte.
const maxMarks = 200_000

// maxNesting bounds brackets in brackets, beyond which decoders recurse for long.
const maxNesting = 1000

// ErrTooBig says that a file is over MaxBytes.
var ErrTooBig = errors.New("the file is too big")

// Mark is what some editors put before a text in UTF-8; it says nothing.
const Mark = "\xef\xbb\xbf"

// All reads at most MaxBytes, without a mark before them.
func All(r io.Reader) ([]byte, error) {
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if n > MaxBytes {
		return b.Bytes(), ErrTooBig
	}
	return bytes.TrimPrefix(b.Bytes(), []byte(Mark)), nil
}

// Bounded reads text that is decoded next: at most MaxBytes, within Bounds.
func Bounded(r io.Reader) ([]byte, error) {
	data, err := All(r)
	if err != nil {
		return data, err
	}
	return data, Bounds(data)
}

// Bounds reports text whose decoding would take memory or time out of all
// proportion. What it lets through is still judged by the decoders' own bounds
// on aliases.
func Bounds(data []byte) error {
	marks, depth, deepest := 0, 0, 0
	for _, c := range data {
		switch c {
		case '[', '{':
			marks++
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth = max(depth-1, 0)
		case ',', ':', '\n', '?':
			marks++
		}
	}
	if deepest > maxNesting {
		return fmt.Errorf("brackets stand %d deep, and more than %d are not read", deepest, maxNesting)
	}
	if marks > maxMarks {
		return fmt.Errorf("the text has some %d values, and more than %d are not read", marks, maxMarks)
	}
	if n := indentation(data); n > maxNesting {
		return fmt.Errorf("the text is indented %d deep, and more than %d is not read", n, maxNesting)
	}
	return nil
}

// indentation is the deepest nesting that block style can have: each level
// takes a column, or a dash and a space in a line of dashes.
func indentation(data []byte) int {
	deepest := 0
	for line := range bytes.Lines(data) {
		n := 0
		for n < len(line) && (line[n] == ' ' || line[n] == '-' || line[n] == '?') {
			n++
		}
		if n < len(line) && line[n] != '\n' && line[n] != '\r' {
			deepest = max(deepest, n)
		}
	}
	return deepest
}

// IsUTF16 reports text that some editors save: its first bytes say so.
func IsUTF16(data []byte) bool {
	return bytes.HasPrefix(data, []byte{0xFE, 0xFF}) || bytes.HasPrefix(data, []byte{0xFF, 0xFE})
}
