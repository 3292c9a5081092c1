package scrape

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Read parses Prometheus text, from a process or from a saved file. at is when
// the text was taken. Text beyond MaxBytes is refused, not cut: half a scrape
// would read as counters that went away. A byte order mark and the carriage
// returns of Windows are no part of the text.
func Read(r io.Reader, at time.Time) (*Snapshot, error) {
	return readBounded(r, at, MaxBytes)
}

func readBounded(r io.Reader, at time.Time, limit int64) (*Snapshot, error) {
	counted := &countingReader{r: io.LimitReader(r, limit+1)}
	page := bufio.NewReaderSize(counted, 64<<10)
	head, _ := page.Peek(512)
	if what := foreign(head); what != "" {
		return nil, fmt.Errorf("parse metrics text: %s", what)
	}
	if bytes.HasPrefix(head, []byte(utf8Mark)) {
		_, _ = page.Discard(len(utf8Mark))
	}
	text := &lineReader{r: page}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(text)
	switch {
	case counted.n > limit:
		return nil, fmt.Errorf("metrics text is over the limit of %d bytes", limit)
	case counted.err != nil:
		return nil, fmt.Errorf("read metrics text: %w", counted.err)
	case err != nil:
		return nil, fmt.Errorf("parse metrics text: %s", parseError(err))
	}
	return &Snapshot{At: at, Bytes: counted.n, families: families, digest: text.digest.Sum64()}, nil
}

// parseError is the parser's text, which quotes what it stumbles over, possibly
// the whole file. Timestamps in seconds and exemplars are of OpenMetrics alone.
func parseError(err error) string {
	text := err.Error()
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	if strings.Contains(text, "expected integer as timestamp") {
		text += ": OpenMetrics with timestamps or exemplars is not read; ask the process with the header Accept: text/plain;version=0.0.4"
	}
	return text
}

const utf8Mark = "\xef\xbb\xbf"

// marks begin files that are no metrics text, as they come about when a page is
// saved. UTF-32's mark begins as that of UTF-16 does, and stands before it.
var marks = []struct{ start, what string }{
	{"\x1f\x8b", "it is compressed with gzip: decompress it first"},
	{"\x28\xb5\x2f\xfd", "it is compressed with zstd: decompress it first"},
	{"\xfd7zXZ\x00", "it is compressed with xz: decompress it first"},
	{"BZh91AY&SY", "it is compressed with bzip2: decompress it first"},
	{"PK\x03\x04", "it is a ZIP archive: unpack it first"},
	{"\xff\xfe\x00\x00", "it is UTF-32: save it as UTF-8"},
	{"\xff\xfe", utf16Page},
	{"\xfe\xff", utf16Page},
}

const utf16Page = "it is UTF-16, which > of Windows PowerShell writes: save it as UTF-8, such as by | Out-File -Encoding utf8"

// foreign says what a page is that is no metrics text, by its first bytes; empty
// when it may be one.
func foreign(head []byte) string {
	for _, m := range marks {
		if bytes.HasPrefix(head, []byte(m.start)) {
			return m.what
		}
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte(utf8Mark)), " \t\r\n")
	switch {
	case len(head) > 1 && (head[0] == 0) != (head[1] == 0):
		return utf16Page // without its mark
	case bytes.IndexByte(head, 0) >= 0:
		return "it is binary: ask the process for text, with the header Accept: text/plain;version=0.0.4"
	case bytes.HasPrefix(text, []byte("<")):
		return "it is HTML, as proxies and login pages answer: save /metrics itself"
	case bytes.HasPrefix(text, []byte("{")) && refusal(text):
		return "it is JSON, as apiservers refuse in: read in it why, and save /metrics anew"
	}
	return ""
}

// refusal tells JSON from metrics whose names are quoted in braces, as the text
// form has them since names may be any UTF-8: {"some.name"} 1.
func refusal(text []byte) bool {
	_, rest, found := bytes.Cut(text, []byte(`"`))
	if !found {
		return true
	}
	_, rest, found = bytes.Cut(rest, []byte(`"`))
	return found && bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(":"))
}

// countingReader remembers how much was read and the error that ended it: the
// parser reports a broken connection as a syntax error.
type countingReader struct {
	r   io.Reader
	n   int64
	err error
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// seed is one for all pages that this program reads.
var seed = maphash.MakeSeed()

// lineReader ends lines as Unix does, and makes a digest of what comes out. No
// part of the text form holds a carriage return before a newline, which in a
// label's value is written as \n.
type lineReader struct {
	r      *bufio.Reader
	digest maphash.Hash
	seeded bool
}

func (l *lineReader) Read(p []byte) (int, error) {
	if !l.seeded {
		l.digest.SetSeed(seed)
		l.seeded = true
	}
	if len(p) == 0 {
		return 0, nil
	}
	for {
		n, err := l.r.Read(p)
		out := l.unix(p[:n])
		_, _ = l.digest.Write(out)
		if len(out) > 0 || err != nil {
			return len(out), err
		}
	}
}

// unix takes the carriage returns before newlines out of a piece, in place. The
// last byte's newline may be in the next piece.
func (l *lineReader) unix(piece []byte) []byte {
	if bytes.IndexByte(piece, '\r') < 0 {
		return piece
	}
	out := piece[:0]
	for i, b := range piece {
		next := byte(0)
		if i+1 < len(piece) {
			next = piece[i+1]
		} else if peeked, err := l.r.Peek(1); err == nil {
			next = peeked[0]
		}
		if b != '\r' || next != '\n' {
			out = append(out, b)
		}
	}
	return out
}
