package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// parseJSON reads every JSON document of a stream.
func (r *reader) parseJSON(data []byte) []*node {
	// A first pass finds syntax errors: the token stream is laxer.
	check := json.NewDecoder(bytes.NewReader(data))
	for {
		var raw json.RawMessage
		err := check.Decode(&raw)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			offset := int64(len(data))
			if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
				offset = syntax.Offset
			}
			msg := strings.TrimPrefix(err.Error(), "json: ")
			if errors.Is(err, io.ErrUnexpectedEOF) {
				msg = "the text ends too early"
			}
			r.add(CodeSyntax, lineAt(data, offset), nil, "not JSON: "+msg, "")
			return nil
		}
	}
	j := &jsonReader{reader: r, data: data, dec: json.NewDecoder(bytes.NewReader(data)), at: 1}
	j.dec.UseNumber()
	var docs []*node
	for j.dec.More() {
		if len(docs) >= r.limits.Documents {
			r.add(CodeTooLarge, j.line(), nil, fmt.Sprintf("more than %d documents in one file", r.limits.Documents), "split the file")
			return docs
		}
		n := j.value(nil, 0)
		if n == nil {
			return docs
		}
		docs = append(docs, n)
	}
	return docs
}

// jsonReader turns tokens into a tree.
type jsonReader struct {
	*reader
	data []byte
	dec  *json.Decoder
	// from is the offset that at, a line number, belongs to.
	from int64
	at   int
}

// line is where the decoder stands; the offset only grows.
func (j *jsonReader) line() int {
	offset := j.dec.InputOffset()
	j.at += bytes.Count(j.data[j.from:offset], []byte("\n"))
	j.from = offset
	return j.at
}

// value reads one value; nil when the document cannot be read on.
func (j *jsonReader) value(p fieldPath, depth int) *node {
	t, err := j.dec.Token()
	if err != nil {
		j.add(CodeSyntax, j.line(), p, "not JSON: "+err.Error(), "")
		return nil
	}
	if depth > j.limits.Depth {
		j.add(CodeTooDeep, j.line(), nil, fmt.Sprintf("nested deeper than %d levels", j.limits.Depth), "")
		return nil
	}
	out := &node{line: j.line(), file: j.file}
	switch x := t.(type) {
	case nil:
		out.kind, out.raw = kindNull, "null"
	case bool:
		out.kind, out.text = kindBool, strconv.FormatBool(x)
		out.raw = out.text
	case string:
		out.kind, out.text, out.raw = kindString, x, x
	case json.Number:
		out.raw = x.String()
		if out.kind, out.text, err = numberText(out.raw); err != nil {
			j.add(CodeSyntax, out.line, p, err.Error(), "")
		}
	case json.Delim:
		if x == '[' {
			return j.list(out, p, depth)
		}
		return j.object(out, p, depth)
	}
	return out
}

func (j *jsonReader) list(out *node, p fieldPath, depth int) *node {
	out.kind = kindList
	for j.dec.More() {
		e := j.value(p.elem(len(out.items)), depth+1)
		if e == nil {
			return nil
		}
		out.items = append(out.items, e)
	}
	_, _ = j.dec.Token() // The first pass saw the closing bracket.
	return out
}

func (j *jsonReader) object(out *node, p fieldPath, depth int) *node {
	out.kind = kindObject
	seen := map[string]int{}
	for j.dec.More() {
		t, err := j.dec.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			j.add(CodeSyntax, j.line(), p, "not JSON: a field's name is not a string", "")
			return nil
		}
		line := j.line()
		v := j.value(p.field(name), depth+1)
		if v == nil {
			return nil
		}
		if first, ok := seen[name]; ok {
			j.add(CodeDuplicateKey, line, p.field(name), fmt.Sprintf("field %q is written twice, first on line %d", name, first), "keep one of them")
			continue
		}
		seen[name], v.line = line, line
		out.fields = append(out.fields, field{name, v})
	}
	_, _ = j.dec.Token() // The first pass saw the closing brace.
	return out
}

// lineAt is the line of an offset, 1-based.
func lineAt(data []byte, offset int64) int {
	offset = min(max(offset, 0), int64(len(data)))
	return 1 + bytes.Count(data[:offset], []byte("\n"))
}

// maxInteger is the largest number whose neighbours a float64 can tell apart;
// JSON and Jsonnet do not distinguish 3 from 3.0, so up to it an integral
// number is an integer.
const maxInteger = 1 << 53

// numberText makes a CUE literal of a number in any of the formats. Errors: it
// is not finite or cannot be a quantity of anything.
func numberText(raw string) (kind, string, error) {
	if len(raw) > 64 {
		return 0, "", fmt.Errorf("the number %s… has %d characters", raw[:16], len(raw))
	}
	if isInteger(raw) {
		return kindInt, raw, nil
	}
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return 0, "", fmt.Errorf("%s is not a finite number", raw)
	}
	if f == math.Trunc(f) && math.Abs(f) < maxInteger {
		return kindInt, strconv.FormatFloat(f, 'f', 0, 64), nil
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if isInteger(text) {
		text += ".0"
	}
	return kindNumber, text, nil
}

// isInteger reports whether the text is a decimal integer without leading zeros.
func isInteger(s string) bool {
	s = strings.TrimPrefix(s, "-")
	if s == "" || len(s) > 1 && s[0] == '0' {
		return false
	}
	return strings.Trim(s, "0123456789") == ""
}
