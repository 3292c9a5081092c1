package yamltext

import (
	"bytes"
)

// Document is one document of a stream.
type Document struct {
	// Text is the document as it stands in the stream, from the line after its
	// separator on. A marker that carries more than "---" is part of the text.
	Text []byte
	// Offset is where Text begins in the stream, in bytes.
	Offset int
	// Line is the stream's line that Text begins on, from 1.
	Line int
	// Marker is the line that separates it from what is before it, without its
	// line break: "" for the first document, and usually "---".
	Marker string
}

// Blank reports whether the document has nothing but comments, white space and a marker.
func (d Document) Blank() bool {
	for line := range bytes.Lines(d.Text) {
		line = bytes.TrimSpace(line)
		if rest, ok := bytes.CutPrefix(line, []byte("---")); ok {
			line = bytes.TrimSpace(rest)
		}
		if len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// Split cuts a stream at its document markers, "---" and "..." at the start of
// a line, which YAML allows nowhere inside a document. Two separators with
// nothing between them, not even a line, count as one, and what follows "..."
// is a document only when it is not blank.
func Split(stream []byte) []Document {
	var docs []Document
	begin := Document{Line: 1}
	offset, line := 0, 1
	finish := func() {
		begin.Text = stream[begin.Offset:offset]
		afterEnd := begin.Marker == "..."
		if !(afterEnd && begin.Blank()) && !(begin.Marker == "---" && len(begin.Text) == 0 && offset < len(stream)) {
			docs = append(docs, begin)
		}
	}
	for raw := range bytes.Lines(stream) {
		text := bytes.TrimRight(raw, "\r\n")
		if marker, ok := marker(text); ok && offset > 0 {
			finish()
			begin = Document{Marker: string(text), Offset: offset, Line: line}
			if marker == "..." || len(text) == 3 {
				begin.Marker, begin.Offset, begin.Line = marker, offset+len(raw), line+1
			}
		}
		offset += len(raw)
		line++
	}
	finish()
	return docs
}

// marker reads a line that begins with a document marker.
func marker(line []byte) (string, bool) {
	for _, m := range []string{"---", "..."} {
		if rest, ok := bytes.CutPrefix(line, []byte(m)); ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t') {
			return m, true
		}
	}
	return "", false
}

// Join makes one stream of documents, the counterpart of Split: a separator
// goes before each but the first, unless the document begins with its own.
func Join(documents [][]byte) []byte {
	var out bytes.Buffer
	for i, text := range documents {
		if i > 0 && !bytes.HasPrefix(text, []byte("---")) {
			out.WriteString("---\n")
		}
		out.Write(text)
		if !bytes.HasSuffix(text, []byte("\n")) {
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}
