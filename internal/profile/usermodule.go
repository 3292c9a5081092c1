package profile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"

	"cuelang.org/go/cue/build"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/load"
	"cuelang.org/go/cue/token"
	"cuelang.org/go/mod/modfile"
	cuemodule "cuelang.org/go/mod/module"

	"github.com/kubeseams/seams"
)

// userModule is a CUE module of the user's that holds the profile.
type userModule struct {
	// root is the absolute directory with cue.mod.
	root string
	file *modfile.File
}

// findModule looks for the CUE module around a directory. Our own module is
// none: its packages come from the program, so that profile and schema fit.
func (l *Loader) findModule(dir string) (*userModule, error) {
	for {
		name := path.Join(dir, "cue.mod", "module.cue")
		data, err := fs.ReadFile(l.FS, fsName(name))
		if err == nil {
			f, err := modfile.ParseNonStrict(data, name)
			if err != nil {
				return nil, fmt.Errorf("read the module file: %w", err)
			}
			if f.ModulePath() == module {
				return nil, nil
			}
			return &userModule{dir, f}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return nil, plainPathError(name, err)
		}
		if dir == "/" {
			return nil, nil
		}
		dir = path.Dir(dir)
	}
}

// vendored is where a module keeps packages that come from no registry.
const vendored = "cue.mod/pkg/" + module

// moduleInstance loads the files as part of their module, in which our
// packages appear as if they were vendored: no registry is asked for them, and
// they are the program's own whatever version the module names.
func (c *cueSource) moduleInstance(loose bool) (*build.Instance, error) {
	over, err := c.overlay(loose)
	if err != nil {
		return nil, err
	}
	args := []string{"."}
	if len(c.files) == 1 && c.name == c.files[0].name {
		args = []string{path.Join(c.dir, c.files[0].base)}
	}
	insts := load.Instances(args, &load.Config{
		FS:         over,
		Dir:        c.dir,
		ModuleRoot: c.module.root,
		Registry:   offline{},
		FromFSPath: c.display,
	})
	if len(insts) != 1 {
		return nil, cueerrors.Newf(token.NoPos, "the directory holds %d packages", len(insts))
	}
	return insts[0], insts[0].Err
}

// overlay is the file system of a user's module with ours in it.
func (c *cueSource) overlay(loose bool) (fs.FS, error) {
	text, err := c.module.withoutOurs()
	if err != nil {
		return nil, err
	}
	o := &overlay{
		below: c.loader.FS, ours: fsName(path.Join(c.module.root, vendored)),
		moduleFile: fsName(path.Join(c.module.root, "cue.mod/module.cue")), moduleText: text,
	}
	if loose {
		o.loose = []byte(c.loader.embedded.looseText())
	}
	return o, nil
}

// withoutOurs is the module file without a dependency on our module.
func (m *userModule) withoutOurs() ([]byte, error) {
	f := *m.file
	f.Deps = map[string]*modfile.Dep{}
	for name, dep := range m.file.Deps {
		if p, _, _ := strings.Cut(name, "@"); p != module {
			f.Deps[name] = dep
		}
	}
	text, err := modfile.Format(&f)
	if err != nil {
		return nil, fmt.Errorf("write the module file: %w", err)
	}
	return text, nil
}

// display is the name a user knows a file of the module by.
func (c *cueSource) display(p string) string {
	if rest, ok := strings.CutPrefix(p, path.Join(c.module.root, vendored)+"/"); ok {
		return module + "/" + rest
	}
	for _, f := range c.files {
		if p == path.Join(c.dir, f.base) {
			return f.name
		}
	}
	if rel, err := filepath.Rel(c.loader.Dir, p); err == nil {
		return filepath.ToSlash(rel)
	}
	return p
}

// overlay shows the embedded module inside a user's.
type overlay struct {
	below fs.FS
	// ours is the directory that the embedded module appears as.
	ours string
	// moduleFile is the user's module file, moduleText what it reads as.
	moduleFile string
	moduleText []byte
	// loose replaces the text of our schemas.
	loose []byte
}

// Open implements fs.FS.
func (o *overlay) Open(name string) (fs.File, error) {
	if name == o.moduleFile {
		return newTextFile(name, o.moduleText), nil
	}
	rel, ok := o.embedded(name)
	if !ok {
		return o.below.Open(name)
	}
	if o.loose != nil && path.Dir(rel) == "schemas" {
		text := []byte("package schemas\n")
		if path.Base(rel) == "profile.cue" {
			text = o.loose
		}
		return newTextFile(rel, text), nil
	}
	return seams.CUE.Open(rel)
}

// ReadDir implements fs.ReadDirFS.
func (o *overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	if rel, ok := o.embedded(name); ok {
		return seams.CUE.ReadDir(rel)
	}
	return fs.ReadDir(o.below, name)
}

// embedded is the name of a file in the embedded module, if it is one of those.
func (o *overlay) embedded(name string) (string, bool) {
	if name == o.ours {
		return ".", true
	}
	return strings.CutPrefix(name, o.ours+"/")
}

// textFile is a file of memory.
type textFile struct {
	*bytes.Reader
	name string
}

func newTextFile(name string, text []byte) *textFile {
	return &textFile{bytes.NewReader(text), path.Base(name)}
}

// The methods of fs.File and fs.FileInfo; Read and Size are the reader's.

func (f *textFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *textFile) Close() error               { return nil }
func (f *textFile) Name() string               { return f.name }
func (f *textFile) Mode() fs.FileMode          { return 0o444 }
func (f *textFile) ModTime() time.Time         { return time.Time{} }
func (f *textFile) IsDir() bool                { return false }
func (f *textFile) Sys() any                   { return nil }

// offline is the registry of a program that does not fetch: it has nothing.
type offline struct{}

var errOffline = errors.New("seams fetches no modules: vendor the package under cue.mod/pkg")

// ModFile implements modconfig.Registry.
func (offline) ModFile(context.Context, cuemodule.Version) (*modfile.File, error) {
	return nil, errOffline
}

// Fetch implements modconfig.Registry.
func (offline) Fetch(context.Context, cuemodule.Version) (cuemodule.SourceLoc, error) {
	return cuemodule.SourceLoc{}, errOffline
}

// ModuleVersions implements modconfig.Registry.
func (offline) ModuleVersions(context.Context, string) ([]string, error) { return nil, errOffline }
