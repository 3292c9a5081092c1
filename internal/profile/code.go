package profile

import "fmt"

// checkCode bounds the length and the nesting of a CUE or Jsonnet program
// before its parser sees it: parsers and evaluators recurse on both, and Go
// ends the whole program when a stack overflows.
func (r *reader) checkCode(s *source) bool {
	if s.format != CUE && s.format != Jsonnet {
		return true
	}
	c := codeScan{data: s.data, line: 1}
	for c.next() {
		if c.depth+c.chain > r.limits.Depth {
			r.add(CodeTooDeep, c.line, nil, fmt.Sprintf("nested deeper than %d levels", r.limits.Depth), "")
			return false
		}
		if c.tokens > r.limits.Tokens {
			r.add(CodeTooLarge, c.line, nil, fmt.Sprintf("the program has more than %d words and signs", r.limits.Tokens), "write long lists as YAML or JSON")
			return false
		}
	}
	return true
}

// codeScan counts the words and signs of a program, and how deep they nest:
// in brackets, and in CUE's chains of fields, a: b: c: 1.
type codeScan struct {
	data                       []byte
	at                         int
	line, tokens, depth, chain int
	// last is the sign before the present place.
	last byte
}

// next goes on by one word, sign or line; false at the end.
func (c *codeScan) next() bool {
	if c.at >= len(c.data) {
		return false
	}
	b := c.data[c.at]
	switch {
	case b == ' ' || b == '\t' || b == '\r':
		c.at++
		return true
	case b == '\n':
		if c.last != ':' {
			c.chain = 0
		}
		c.line++
		c.at++
		return true
	case b == '"':
		n, lines := stringLength(c.data[c.at:])
		c.at += n
		c.line += lines
	case wordByte(b):
		for c.at < len(c.data) && wordByte(c.data[c.at]) {
			c.at++
		}
	default:
		c.sign(b)
		c.at++
	}
	c.tokens++
	c.last = b
	return true
}

func (c *codeScan) sign(b byte) {
	switch b {
	case '{', '[', '(':
		c.depth++
	case '}', ']', ')':
		c.depth--
		c.chain = 0
	case ',':
		c.chain = 0
	case ':':
		c.chain++
	}
}

func wordByte(b byte) bool {
	return b == '_' || b == '$' || b == '#' || b >= 0x80 ||
		'0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// stringLength is how far a quoted string goes, and the newlines in it. A
// string ends at its line's end at the latest, which is only wrong for
// multi-line ones: their text then counts as code, on the safe side.
func stringLength(data []byte) (n, lines int) {
	for n = 1; n < len(data); n++ {
		switch data[n] {
		case '\\':
			n++
		case '"':
			return n + 1, 0
		case '\n':
			return n + 1, 1
		}
	}
	return len(data), 0
}
