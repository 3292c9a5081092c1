package profile

import "fmt"

// checkCode bounds the length and the nesting of a CUE or Jsonnet program
// before its parser sees it: parsers and evaluators recurse on both, and Go
// ends the whole program when a stack overflows.
func (r *reader) checkCode(s *source) bool {
	if s.format != CUE && s.format != Jsonnet {
		return true
	}
	tokens, depth, line := 0, 0, 1
	for i := 0; i < len(s.data); {
		b := s.data[i]
		switch {
		case b == '\n':
			line++
			i++
			continue
		case b == ' ' || b == '\t' || b == '\r':
			i++
			continue
		case b == '"':
			n, lines := stringLength(s.data[i:])
			i += n
			line += lines
		case wordByte(b):
			for i < len(s.data) && wordByte(s.data[i]) {
				i++
			}
		default:
			switch b {
			case '{', '[', '(':
				depth++
			case '}', ']', ')':
				depth--
			}
			i++
		}
		tokens++
		if depth > r.limits.Depth {
			r.add(CodeTooDeep, line, nil, fmt.Sprintf("nested deeper than %d levels", r.limits.Depth), "")
			return false
		}
		if tokens > r.limits.Tokens {
			r.add(CodeTooLarge, line, nil, fmt.Sprintf("the program has more than %d words and signs", r.limits.Tokens), "write long lists as YAML or JSON")
			return false
		}
	}
	return true
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
