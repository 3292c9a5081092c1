package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-jsonnet"

	"github.com/kubeseams/seams/internal/pattern"
)

// maxStack is how deep Jsonnet calls may nest, the jsonnet command's default.
const maxStack = 500

// jsonnet evaluates a Jsonnet program to JSON.
func (r *reader) jsonnet(s *source) (string, bool) {
	vm := jsonnet.MakeVM()
	vm.MaxStack = maxStack
	vm.SetTraceOut(discard{})
	dir := r.loader.Dir
	if s.path != "" {
		dir = path.Dir(s.path)
	}
	imp := &importer{
		loader: r.loader, limits: r.limits, roots: []string{dir}, library: r.options.library,
		within: "the profile's directory or a --jpath", cache: map[string]imported{},
	}
	if r.options.library != nil {
		imp.within = "the overlay's directory"
	}
	for _, p := range r.options.JPath {
		imp.roots = append(imp.roots, r.loader.abs(p))
	}
	vm.Importer(imp)
	for k, v := range r.options.ExtVars {
		vm.ExtVar(k, v)
	}
	for k, v := range r.options.ExtCode {
		vm.ExtCode(k, v)
	}
	for k, v := range r.options.TLAVars {
		vm.TLAVar(k, v)
	}
	for k, v := range r.options.TLACode {
		vm.TLACode(k, v)
	}
	out, err := vm.EvaluateAnonymousSnippet(imp.start(s), string(s.data))
	if err != nil {
		r.jsonnetError(err, s, imp)
		return "", false
	}
	return out, true
}

// discard drops what std.trace says; standard error is not ours to write to.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// jsonnetPlace is FILE:LINE:COLUMN, each end of a range perhaps in brackets,
// and what follows.
var jsonnetPlace = pattern.Of(`^\s*([^\s<].*?):\(?(\d+):\d+\)?(?:-\(?\d+(?::\d+\)?)?)?(?:\s+(.*))?$`)

// jsonnetError makes one finding of an error and the place it happened at.
func (r *reader) jsonnetError(err error, s *source, imp *importer) {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	msg, atRuntime := strings.CutPrefix(lines[0], "RUNTIME ERROR: ")
	code, file, line := CodeEvaluation, s.name, 0
	if m := jsonnetPlace().FindStringSubmatch(msg); m != nil && m[3] != "" {
		// A syntax error starts with its place; in an import, it is a runtime error.
		code, msg = CodeSyntax, "not Jsonnet: "+m[3]
		file = imp.display(m[1], s)
		line, _ = strconv.Atoi(m[2])
	} else if atRuntime {
		for _, l := range lines[1:] {
			if m := jsonnetPlace().FindStringSubmatch(l); m != nil {
				file = imp.display(m[1], s)
				line, _ = strconv.Atoi(m[2])
				break
			}
		}
	}
	fix := ""
	switch {
	case strings.HasPrefix(msg, "max stack frames exceeded"):
		code, msg, fix = CodeRunaway, fmt.Sprintf("calls nest deeper than %d", maxStack), "look for a recursion without an end"
	case strings.HasPrefix(msg, "Undefined external variable"):
		fix = "give it with --ext-str or --ext-code"
	case strings.Contains(msg, "issing argument"):
		fix = "give it with --tla-str or --tla-code"
	}
	r.add(code, line, nil, msg, fix)
	r.findings[len(r.findings)-1].File = file
}

// importer finds imports beneath the profile's directory and the directories
// given for it, and nowhere else.
type importer struct {
	loader *Loader
	limits Limits
	// roots are absolute, the profile's own directory first.
	roots []string
	// library holds files that are always there, by the name they are imported by.
	library map[string]string
	// within says what the roots are, for messages.
	within string
	cache  map[string]imported
	total  int
}

type imported struct {
	contents jsonnet.Contents
	err      error
}

// start is the name the program itself evaluates under.
func (i *importer) start(s *source) string {
	if s.path != "" {
		return s.path
	}
	return path.Join(i.roots[0], "stdin")
}

// display gives a file back the name the user knows it by.
func (i *importer) display(name string, s *source) string {
	if name == i.start(s) {
		return s.name
	}
	if rest, ok := strings.CutPrefix(name, i.roots[0]+"/"); ok {
		return path.Join(path.Dir(s.name), rest)
	}
	if rel, err := filepath.Rel(i.loader.Dir, name); err == nil && path.IsAbs(name) {
		return filepath.ToSlash(rel)
	}
	return name
}

// Import implements jsonnet.Importer.
func (i *importer) Import(from, name string) (jsonnet.Contents, string, error) {
	if text, ok := i.library[name]; ok {
		// The importer must give the same contents for the same place.
		if _, ok := i.cache[name]; !ok {
			i.cache[name] = imported{contents: jsonnet.MakeContents(text)}
		}
		return i.cache[name].contents, name, nil
	}
	if path.IsAbs(name) {
		return jsonnet.Contents{}, "", fmt.Errorf("import of %q: only files beneath %s can be imported", name, i.within)
	}
	places := []string{path.Join(path.Dir(from), name)}
	for _, r := range i.roots {
		places = append(places, path.Join(r, name))
	}
	outside := true
	for _, p := range places {
		if !i.allowed(p) {
			continue
		}
		if real := i.real(p); !i.allowedReal(real) {
			return jsonnet.Contents{}, "", fmt.Errorf("import of %q: it is a link to %s, and only files beneath %s can be imported", name, real, i.within)
		}
		outside = false
		got, ok := i.cache[p]
		if !ok {
			got = i.read(p)
			i.cache[p] = got
		}
		if got.err == nil {
			return got.contents, p, nil
		}
		if !isNotExist(got.err) {
			return jsonnet.Contents{}, "", got.err
		}
	}
	if outside {
		return jsonnet.Contents{}, "", fmt.Errorf("import of %q: only files beneath %s can be imported", name, i.within)
	}
	return jsonnet.Contents{}, "", fmt.Errorf("import of %q: there is no such file beneath %s", name, i.within)
}

func (i *importer) allowed(p string) bool {
	for _, r := range i.roots {
		if r == "/" || strings.HasPrefix(p, r+"/") {
			return true
		}
	}
	return false
}

// allowedReal is allowed for a path without symbolic links.
func (i *importer) allowedReal(p string) bool {
	return slices.ContainsFunc(i.roots, func(r string) bool {
		r = i.real(r)
		return r == "/" || strings.HasPrefix(p, r+"/")
	})
}

// maxLinks is how many symbolic links a path may lead through, as Linux has it.
const maxLinks = 40

// real follows the symbolic links of an absolute path, as far as they can be
// read: what is not there has none.
func (i *importer) real(p string) string {
	done, rest, links := "/", strings.TrimPrefix(p, "/"), 0
	for rest != "" {
		var first string
		first, rest, _ = strings.Cut(rest, "/")
		next := path.Join(done, first)
		to, err := fs.ReadLink(i.loader.FS, fsName(next))
		if err != nil || links == maxLinks {
			done = next
			continue
		}
		links++
		if !path.IsAbs(to) {
			to = path.Join(done, to)
		}
		done, rest = "/", strings.TrimPrefix(path.Join(to, rest), "/")
	}
	return done
}

func (i *importer) read(p string) imported {
	s := &source{name: p, format: Jsonnet}
	f, err := i.loader.FS.Open(fsName(p))
	if err != nil {
		return imported{err: err}
	}
	defer f.Close()
	if err := s.read(f, i.limits.FileBytes); err != nil {
		return imported{err: err}
	}
	i.total += len(s.data)
	if s.tooLarge || i.total > i.limits.FileBytes {
		return imported{err: fmt.Errorf("imports are larger than %d bytes", i.limits.FileBytes)}
	}
	return imported{contents: jsonnet.MakeContentsRaw(s.data)}
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }
