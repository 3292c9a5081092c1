package scrape

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"pgregory.net/rapid"
)

const plain = "# TYPE x gauge\nx{a=\"b\"} 1\nx{a=\"c\"} 2\n"

// A page saved on Windows is the same page.
func TestReadPagesOfWindows(t *testing.T) {
	want := read(t, plain, noon)
	for name, text := range map[string]string{
		"CRLF":               strings.ReplaceAll(plain, "\n", "\r\n"),
		"mark":               "\xef\xbb\xbf" + plain,
		"both":               "\xef\xbb\xbf" + strings.ReplaceAll(plain, "\n", "\r\n"),
		"quoted, as of UTF8": "# TYPE \"x\" gauge\n{\"x\",a=\"b\"} 1\n{\"x\",a=\"c\"} 2\n",
	} {
		got := read(t, text, noon)
		if sum, _ := got.Sum("x"); sum != 3 || !slices.Equal(got.Names(), want.Names()) {
			t.Errorf("%s: %v of %v", name, sum, got.Names())
		}
		if got.Bytes != int64(len(text)) {
			t.Errorf("%s: %d bytes of %d", name, got.Bytes, len(text))
		}
	}
}

// Wherever a reader cuts a page, carriage returns go where they end a line, and
// nowhere else.
func TestLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("a\r\n"))).Draw(t, "text") + "\n"
		size := rapid.IntRange(1, 5).Draw(t, "size")
		lines := &lineReader{r: bufio.NewReaderSize(iotest.HalfReader(strings.NewReader(text)), 16)}
		var got []byte
		for {
			piece := make([]byte, size)
			n, err := lines.Read(piece)
			got = append(got, piece[:n]...)
			if err != nil {
				break
			}
		}
		if want := strings.ReplaceAll(text, "\r\n", "\n"); string(got) != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// What is no metrics text is named, with what to do.
func TestForeignPages(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write([]byte(plain))
	w.Close()
	wide := func(big bool) string {
		var b strings.Builder
		for _, u := range utf16.Encode([]rune(plain)) {
			pair := []byte{byte(u), byte(u >> 8)}
			if big {
				slices.Reverse(pair)
			}
			b.Write(pair)
		}
		return b.String()
	}
	for name, c := range map[string]struct{ text, want string }{
		"gzip":                  {zipped.String(), "compressed with gzip: decompress it first"},
		"zstd":                  {"\x28\xb5\x2f\xfd\x04\x00", "compressed with zstd"},
		"UTF-16":                {"\xff\xfe" + wide(false), "it is UTF-16, which > of Windows PowerShell writes: save it as UTF-8"},
		"UTF-16, big end first": {"\xfe\xff" + wide(true), "it is UTF-16"},
		"UTF-16, no mark":       {wide(false), "it is UTF-16"},
		"UTF-32":                {"\xff\xfe\x00\x00x\x00\x00\x00", "it is UTF-32"},
		"HTML":                  {"\n <!doctype html>", "it is HTML"},
		"JSON":                  {"{\"kind\": \"Status\"}", "it is JSON, as apiservers refuse in"},
		"protobuf":              {"\x1a\n\x01x\x12\x00\x18\x00", "it is binary"},
		"OpenMetrics":           {"# TYPE x counter\nx_total 1 1700000000.123\n# EOF\n", "OpenMetrics with timestamps or exemplars is not read"},
		"exemplars":             {"# TYPE x counter\nx_total 1 # {trace_id=\"a\"} 1\n# EOF\n", "OpenMetrics with timestamps or exemplars is not read"},
		"something else":        {"=== metrics ===\n", "invalid metric name"},
	} {
		_, err := Read(iotest.OneByteReader(strings.NewReader(c.text)), noon)
		if err == nil || !strings.HasPrefix(err.Error(), "parse metrics text: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// What counts nothing is not seen, and is told.
func TestUncounted(t *testing.T) {
	s := read(t, "# TYPE x gauge\nx{a=\"1\"} 5\nx{a=\"2\"} +Inf\nx{a=\"3\"} 1e30\nx{a=\"4\"} NaN\nx{a=\"5\"} -Inf\n# TYPE y counter\ny +Inf\n", noon)
	if sum, _ := s.Sum("x"); sum != 5 {
		t.Errorf("a sum of %v, want 5", sum)
	}
	if most, _ := s.Max("x"); most != 5 {
		t.Errorf("a largest of %v, want 5", most)
	}
	if by := s.SumBy("x", "a"); len(by) != 1 {
		t.Errorf("by label: %v", by)
	}
	if _, ok := Since(s).Increase("y"); ok {
		t.Error("an infinity was counted")
	}
	want := []string{`x{a="2"} +Inf`, `x{a="3"} 1e+30`, `x{a="4"} NaN`, `x{a="5"} -Inf`, "y +Inf"}
	if got := s.Uncounted("x", "y", "z"); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
