package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubeseams/seams/internal/pattern"
)

// source is an opened input.
type source struct {
	// name is how the user spelled it; "-" reads as "stdin".
	name string
	// path is absolute, "" for a stream.
	path   string
	format Format
	data   []byte
	// dir is set for the directory of a CUE package.
	dir bool
	// tooLarge is set when the input is over the limit of size.
	tooLarge bool
}

// open reads the input that the options name. Errors: it cannot be read, or
// its format cannot be told.
func (l *Loader) open(o Options) (*source, error) {
	if o.Format != Auto && !slices.Contains(Formats, o.Format) {
		return nil, fmt.Errorf("unknown format %q: want cue, yaml, json or jsonnet", o.Format)
	}
	limit := l.Limits.withDefaults().FileBytes
	if o.Path == "-" {
		if o.Stdin == nil {
			return nil, errors.New(`"-" reads standard input, and there is none`)
		}
		s := &source{name: "stdin", format: o.Format}
		return s, s.read(o.Stdin, limit)
	}
	if o.Path == "" {
		return nil, errors.New("no profile was named")
	}
	s := &source{name: o.Path, path: l.abs(o.Path), format: o.Format}
	f, err := l.FS.Open(fsName(s.path))
	if err != nil {
		return nil, plainPathError(o.Path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, plainPathError(o.Path, err)
	}
	if info.IsDir() {
		if o.Format != Auto && o.Format != CUE {
			return nil, fmt.Errorf("%s is a directory: only a CUE package can be one", o.Path)
		}
		s.dir, s.format = true, CUE
		return s, nil
	}
	if s.format == Auto {
		s.format = byName(s.path)
	}
	if err := s.read(f, limit); err != nil {
		return nil, plainPathError(o.Path, err)
	}
	return s, nil
}

// read takes the content, up to the limit and one byte more.
func (s *source) read(r io.Reader, limit int) (err error) {
	s.data, err = io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if len(s.data) > limit {
		s.data, s.tooLarge = nil, true
	}
	s.data = bytes.TrimPrefix(s.data, []byte("\uFEFF"))
	if s.format == Auto {
		s.format = sniff(s.data)
	}
	return err
}

// abs makes a path absolute without touching the disk.
func (l *Loader) abs(p string) string {
	if !path.IsAbs(p) {
		p = path.Join(l.Dir, p)
	}
	return path.Clean(p)
}

// fsName is the name of an absolute path in a file system rooted at "/".
func fsName(abs string) string {
	if abs == "/" {
		return "."
	}
	return strings.TrimPrefix(abs, "/")
}

// plainPathError replaces the rooted path in a file error with the user's.
func plainPathError(name string, err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return fmt.Errorf("%s %s: %w", e.Op, name, e.Err)
	}
	return fmt.Errorf("read %s: %w", name, err)
}

// byName tells a format by the file's name; Auto when the name does not say.
func byName(p string) Format {
	switch path.Ext(p) {
	case ".cue":
		return CUE
	case ".yaml", ".yml":
		return YAML
	case ".json":
		return JSON
	case ".jsonnet", ".libsonnet":
		return Jsonnet
	}
	return Auto
}

var (
	looksCUE     = pattern.Of(`(?m)^(package [a-zA-Z_]|import \(?\s*"?[a-z.]|.*#Profile\b|[^"'#]*(^|\s)//|\w+: *\{\s*$)`)
	looksJsonnet = pattern.Of(`^(local|function|import|assert|std)\b|^\(`)
)

// sniff tells a stream's format by its content. YAML, the loosest, is what is
// left.
func sniff(data []byte) Format {
	text := strings.TrimSpace(string(data))
	switch {
	case looksJsonnet().MatchString(text) && !looksCUE().MatchString(text):
		return Jsonnet
	case strings.HasPrefix(text, "{") || strings.HasPrefix(text, "["):
		if strings.HasPrefix(strings.TrimSpace(text[1:]), `"`) || strings.TrimSpace(text[1:]) == "}" {
			return JSON
		}
		return Jsonnet
	case looksCUE().MatchString(text):
		return CUE
	}
	return YAML
}

// checkText refuses what is not UTF-8 text, saying what it looks like.
func (r *reader) checkText(data []byte) bool {
	switch {
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}), bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		r.add(CodeNotText, 1, nil, "the file is UTF-16", "save it as UTF-8")
	case bytes.IndexByte(data, 0) >= 0:
		r.add(CodeNotText, lineAt(data, int64(bytes.IndexByte(data, 0))), nil, "the file is binary: it holds a zero byte", "")
	case !utf8.Valid(data):
		offset := 0
		for offset < len(data) {
			c, size := utf8.DecodeRune(data[offset:])
			if c == utf8.RuneError && size == 1 {
				break
			}
			offset += size
		}
		r.add(CodeNotText, lineAt(data, int64(offset)), nil, "the file is not UTF-8 text", "save it as UTF-8")
	default:
		return true
	}
	return false
}
