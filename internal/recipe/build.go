package recipe

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
)

const (
	// module is the import path of our CUE module; @v0 may follow it.
	module = "github.com/kubeseams/seams"
	// language is the language version of cue.mod/module.cue, so that a file
	// means here what it means to cue vet.
	language = "v0.14.0"
)

// builder makes CUE instances from the embedded module and from directories of
// further rungs. It resolves imports itself: a rung may import our schemas and
// recipes and CUE's standard library, so nothing is ever fetched, and no module
// resolution is paid for.
type builder struct {
	ctx  *build.Context
	ours fs.FS
	// loading guards against import cycles, which a parser would follow for ever.
	loading map[string]bool
}

func newBuilder(ours fs.FS) *builder {
	b := &builder{ours: ours, loading: map[string]bool{}}
	b.ctx = build.NewContext(build.Loader(b.load))
	return b
}

// load resolves one import; nil leaves it to CUE's standard library.
func (b *builder) load(pos token.Pos, importPath string) *build.Instance {
	name, _, _ := strings.Cut(importPath, "@")
	if name != module && !strings.HasPrefix(name, module+"/") {
		if first, _, _ := strings.Cut(name, "/"); !strings.Contains(first, ".") {
			return nil
		}
		return b.failed(pos, "rungs may import %s and CUE's standard library, not %s", module, importPath)
	}
	if b.loading[name] {
		return b.failed(pos, "import cycle through %s", name)
	}
	b.loading[name] = true
	defer delete(b.loading, name)
	dir := strings.TrimPrefix(strings.TrimPrefix(name, module), "/")
	inst, err := b.instance(b.ours, dir, dir)
	if err != nil {
		return b.failed(pos, "import %s: %v", importPath, err)
	}
	return inst
}

func (b *builder) failed(pos token.Pos, format string, args ...any) *build.Instance {
	inst := b.ctx.NewInstance("", nil)
	inst.Err = errors.Newf(pos, format, args...)
	return inst
}

// instance parses the CUE files of one directory; positions carry display/name.
func (b *builder) instance(files fs.FS, dir, display string) (*build.Instance, error) {
	names, err := cueFiles(files, dir)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no CUE files in %s", display)
	}
	inst := b.ctx.NewInstance(display, nil)
	for _, name := range names {
		data, err := fs.ReadFile(files, path.Join(dir, name))
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(path.Join(display, name), data, parser.Version(language))
		if err != nil {
			return nil, err
		}
		if err := inst.AddSyntax(file); err != nil {
			return nil, err
		}
	}
	return inst, inst.Complete()
}

func cueFiles(files fs.FS, dir string) ([]string, error) {
	if dir == "" {
		dir = "."
	}
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && path.Ext(e.Name()) == ".cue" && !strings.HasPrefix(e.Name(), "_") && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// packages lists the directories below root that hold CUE files, root included
// as ".", without cue.mod.
func packages(files fs.FS) ([]string, error) {
	var dirs []string
	err := fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !e.IsDir() {
			return nil
		}
		if base := path.Base(name); name != "." && (base == "cue.mod" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
			return fs.SkipDir
		}
		names, err := cueFiles(files, name)
		if len(names) > 0 {
			dirs = append(dirs, name)
		}
		return err
	})
	return dirs, err
}
