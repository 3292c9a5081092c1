package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/file"
)

// withHeader puts the header before a file's content, in the comment form of
// its kind. Files that know no comments, such as JSON, stay as they are.
func withHeader(f file.File, header []string) file.File {
	var b bytes.Buffer
	switch filepath.Ext(f.Path) {
	case ".yaml", ".yml", ".conf", ".txt":
		for _, line := range header {
			b.WriteString("# " + line + "\n")
		}
	case ".sh":
		body, rest, _ := bytes.Cut(f.Data, []byte("\n"))
		b.Write(body)
		b.WriteString("\n")
		for _, line := range header {
			b.WriteString("# " + line + "\n")
		}
		f.Data = rest
	case ".md":
		b.WriteString("<!-- " + strings.Join(header, "\n     ") + " -->\n\n")
	default:
		return f
	}
	b.Write(f.Data)
	f.Data = b.Bytes()
	return f
}

// stagePrefix begins the name of a stage's directory.
const stagePrefix = ".seams-"

// stage collects files beside their place, in a directory of its own below
// the output, until commit moves them all; without a commit nothing changes.
type stage struct {
	dir string
	// root is dir, through which no symbolic link leads out of it.
	root *os.Root
	// tmp is the name of the stage's directory in root.
	tmp   string
	force bool
	paths []string
	taken []string
}

// newStage makes the output directory, when absent, and the stage in it.
func newStage(dir string, force bool) (*stage, error) {
	if dir == "" {
		return nil, errors.New("-d is empty: name a directory, or - to print")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the output directory: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the output directory: %w", err)
	}
	tmp, err := os.MkdirTemp(dir, stagePrefix)
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("write to the output directory: %w", err)
	}
	return &stage{dir: dir, root: root, tmp: filepath.Base(tmp), force: force}, nil
}

// close removes the stage and, when nothing was written, an output directory left empty.
func (s *stage) close() {
	s.root.RemoveAll(s.tmp)
	s.root.Close()
	os.Remove(s.dir) // fails, as it should, when the directory holds anything
}

// add stages files, noting those that would overwrite something.
func (s *stage) add(files []file.File) error {
	for _, f := range files {
		info, err := s.root.Lstat(filepath.FromSlash(f.Path))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fmt.Errorf("%s cannot be written, as when a symbolic link leads out of %s: %w", f.Path, displayPath(s.dir), err)
		case info.IsDir():
			return fmt.Errorf("%s is a directory: choose another --dir", displayPath(filepath.Join(s.dir, filepath.FromSlash(f.Path))))
		case !s.force:
			s.taken = append(s.taken, f.Path)
		}
		if err := s.write(f); err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
		s.paths = append(s.paths, f.Path)
	}
	return nil
}

func (s *stage) write(f file.File) error {
	path := filepath.Join(s.tmp, "new", filepath.FromSlash(f.Path))
	if err := s.root.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	mode := f.Mode
	if mode == 0 {
		mode = 0o644
	}
	return s.root.WriteFile(path, f.Data, mode)
}

// commit moves the staged files into place. Files that exist are an error
// unless force is set; when a move fails, what was there is put back.
func (s *stage) commit() (err error) {
	if len(s.taken) > 0 {
		return fmt.Errorf("%s already holds %s: pass --force to overwrite, or choose another --dir",
			displayPath(s.dir), listSome(s.taken, 3))
	}
	var undo []func() error
	defer func() {
		if err == nil {
			return
		}
		for _, u := range slices.Backward(undo) {
			err = errors.Join(err, u())
		}
	}()
	for _, path := range s.paths {
		back, err := s.move(path)
		undo = append(undo, back...)
		if err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
	}
	return nil
}

// move puts one file into its place and says how to undo that.
func (s *stage) move(path string) (undo []func() error, err error) {
	rel := filepath.FromSlash(path)
	from, to, old := filepath.Join(s.tmp, "new", rel), rel, filepath.Join(s.tmp, "old", rel)
	if err := s.root.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return nil, err
	}
	if _, err := s.root.Lstat(to); err == nil {
		if err := s.root.MkdirAll(filepath.Dir(old), 0o755); err != nil {
			return nil, err
		}
		if err := s.root.Rename(to, old); err != nil {
			return nil, err
		}
		undo = append(undo, func() error { return s.root.Rename(old, to) })
	}
	if err := s.root.Rename(from, to); err != nil {
		return undo, err
	}
	return append(undo, func() error { return s.root.Remove(to) }), nil
}

// staleFiles lists files below dir that an earlier render wrote and this one
// does not: a manifest left behind would still be started by the kubelet.
func staleFiles(dir string, paths []string) []string {
	fresh := map[string]bool{}
	for _, p := range paths {
		fresh[p] = true
	}
	var stale []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err == nil && d.IsDir() && strings.HasPrefix(d.Name(), stagePrefix):
			return fs.SkipDir // holds what this render replaced
		case err != nil || d.IsDir():
			return nil
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || fresh[filepath.ToSlash(rel)] || !ownHeader(path) {
			return nil
		}
		stale = append(stale, filepath.ToSlash(rel))
		return nil
	})
	slices.Sort(stale)
	return stale
}

// ownHeader reports whether a file begins with the header of a render.
func ownHeader(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := io.ReadFull(f, head)
	return bytes.Contains(head[:n], []byte(file.RenderedBy))
}

// printFiles writes files to one stream, in few pieces: whoever reads a pipe is
// woken by each. Names puts each one's path before it.
func printFiles(w io.Writer, files []file.File, names bool) error {
	out := bufio.NewWriterSize(w, 64<<10)
	for i, f := range files {
		if i > 0 {
			out.WriteString("---\n")
		}
		if names {
			fmt.Fprintf(out, "# File: %s\n", f.Path)
		}
		out.Write(f.Data)
	}
	return out.Flush()
}

// listSome writes the first few of a list and how many there are besides.
func listSome(items []string, n int) string {
	if len(items) <= n {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(items[:n], ", "), len(items)-n)
}
