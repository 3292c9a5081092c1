package cli

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/lint"
	"github.com/kubeseams/seams/internal/lint/read"
)

// stdinName is how findings name standard input.
const stdinName = "stdin"

// lintFiles finds the files to lint and opens them.
type lintFiles struct {
	stdin          io.Reader
	paths, configs []string
	// also, where it is set, has files of a tree looked at that no name says so of.
	also func(name string) bool
	// skipped counts the files that were not looked at because of their names.
	skipped int
	// piped is what was read from standard input.
	piped []byte
}

// notSearched are directories of other tools, which hold copies by the thousand.
var notSearched = []string{".git", ".hg", ".svn", "node_modules"}

// check wants every path that was typed to exist, before anything is linted.
func (l *lintFiles) check() error {
	for _, p := range slices.Concat(l.paths, l.configs) {
		if p == "-" {
			continue
		}
		if _, err := os.Stat(p); err != nil {
			return fmt.Errorf("%s: %w", p, bareError(err))
		}
	}
	if slices.Contains(l.paths, "-") || slices.Contains(l.configs, "-") {
		// One byte more than is read of a file, so that too much is seen as such.
		piped, err := io.ReadAll(io.LimitReader(l.stdin, read.MaxBytes+1))
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
		l.piped = piped
	}
	return nil
}

// readBefore reads documents that are compared with, within what is read of
// any file.
func readBefore(p string) (file.File, error) {
	f, err := os.Open(p)
	if err != nil {
		return file.File{}, fmt.Errorf("--before: %w", err)
	}
	defer f.Close() // it was only read
	data, err := read.Bounded(f)
	if err != nil {
		return file.File{}, fmt.Errorf("--before %s: %w", p, bareError(err))
	}
	if !read.Of(p, data, true).Has(read.Kops) {
		return file.File{}, fmt.Errorf("--before %s: no document of kOps in it; give what \"kops get all -o yaml\" printed before the change", p)
	}
	return file.File{Path: filepath.ToSlash(p), Data: data}, nil
}

// bareError is a file's error without the path, which the message has already.
func bareError(err error) error {
	if e, ok := err.(*fs.PathError); ok {
		return e.Err
	}
	return err
}

// entries lists the files: those that were typed, and what is below directories.
func (l *lintFiles) entries(yield func(lint.Entry, error) bool) {
	for _, p := range l.configs {
		if !yield(lint.Entry{Path: entryName(p), Named: true, Config: true}, nil) {
			return
		}
	}
	for _, p := range l.paths {
		info, err := os.Stat(p)
		switch {
		case p == "-" || err == nil && !info.IsDir():
			if slices.Contains(l.configs, p) {
				continue
			}
			if !yield(lint.Entry{Path: entryName(p), Named: true}, nil) {
				return
			}
		case err != nil:
			if !yield(lint.Entry{Path: entryName(p)}, err) {
				return
			}
		case !l.search(p, yield):
			return
		}
	}
}

func entryName(p string) string {
	if p == "-" {
		return stdinName
	}
	return filepath.ToSlash(filepath.Clean(p))
}

// search lists the files below a directory; false when no more are wanted.
// Links are not followed, so that a tree is searched once.
func (l *lintFiles) search(dir string, yield func(lint.Entry, error) bool) bool {
	more := true
	configs := map[string]bool{}
	for _, p := range l.configs {
		configs[entryName(p)] = true
	}
	// The walk's own error is nil: every error is handed on where it occurs.
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(p)
		switch {
		case err != nil:
			more = yield(lint.Entry{Path: name}, err)
		case d.IsDir():
			if slices.Contains(notSearched, d.Name()) && p != dir {
				return filepath.SkipDir
			}
		case configs[name]:
		case !d.Type().IsRegular() || !candidate(name) && (l.also == nil || !l.also(name)):
			l.skipped++
		default:
			more = yield(lint.Entry{Path: name}, nil)
		}
		if !more {
			return filepath.SkipAll
		}
		return nil
	})
	return more
}

// candidate tells by its name whether a file of a tree is looked at. The
// kubelet reads every file in a directory of manifests, and kubeadm's patches
// are judged by their names too.
func candidate(name string) bool {
	switch filepath.Base(filepath.Dir(name)) {
	case "manifests", "patches":
		return true
	}
	return read.IsYAMLName(name) || read.IsFlagsName(name)
}

// open opens a file that entries has listed.
func (l *lintFiles) open(name string) (io.ReadCloser, error) {
	if name == stdinName && l.piped != nil {
		return io.NopCloser(bytes.NewReader(l.piped)), nil
	}
	f, err := os.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeNamedPipe == 0 {
		err = fmt.Errorf("not a regular file")
	}
	if err != nil {
		f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}
