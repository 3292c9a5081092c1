package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
)

// userModule is a CUE module of the user's that holds the profile.
type userModule struct {
	// root is the absolute directory with cue.mod.
	root string
	// name is the module's import path, without its major version.
	name string
}

// findModule looks for the CUE module around a directory. Our own module is
// none: its packages come from the program, so that profile and schema fit.
func (l *Loader) findModule(dir string) (*userModule, error) {
	for {
		name := path.Join(dir, "cue.mod", "module.cue")
		data, err := fs.ReadFile(l.FS, fsName(name))
		if err == nil {
			path, err := modulePath(data, name)
			if err != nil {
				return nil, fmt.Errorf("read the module file: %w", err)
			}
			if path == module {
				return nil, nil
			}
			return &userModule{dir, path}, nil
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

// modulePath is the module's path in a module file, without the major version;
// empty when the file gives none. Package mod/modfile would hold the rest of
// the file to its schema, too, and takes as long over that as the profile does:
// but no more of the file is used here.
func modulePath(data []byte, name string) (string, error) {
	file, err := parser.ParseFile(name, data)
	if err != nil {
		return "", err
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.Field)
		if !ok {
			continue
		}
		if label, _, err := ast.LabelName(f.Label); err != nil || label != "module" {
			continue
		}
		lit, ok := f.Value.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return "", cueerrors.Newf(f.Value.Pos(), "module is not a string")
		}
		text, err := literal.Unquote(lit.Value)
		if err != nil {
			return "", cueerrors.Newf(f.Value.Pos(), "module: %v", err)
		}
		return ast.ParseImportPath(text).Path, nil
	}
	return "", nil
}

// imports resolves the imports of one evaluation: the packages of the embedded
// module, those of the user's module, and what the user vendored. Nothing is
// fetched. cue/load does the same for files on disk and with a registry; it
// cannot read vendored packages out of a file system given to it.
type imports struct {
	*cueSource
	context *build.Context
	loose   bool
	// open are the packages whose imports are being resolved, each imported by the
	// one before.
	open []string
}

// load implements build.LoadFunc. The standard library is the evaluator's, for
// which nil stands.
func (i *imports) load(pos token.Pos, importPath string) *build.Instance {
	p := ast.ParseImportPath(importPath)
	if !strings.Contains(strings.SplitN(p.Path, "/", 2)[0], ".") {
		return nil
	}
	if at := slices.Index(i.open, importPath); at >= 0 {
		return failed(pos, "packages import each other: %s", strings.Join(append(slices.Clone(i.open[at:]), importPath), " -> "))
	}
	i.open = append(i.open, importPath)
	defer func() { i.open = i.open[:len(i.open)-1] }()

	if dir, ok := strings.CutPrefix(p.Path, module+"/"); ok {
		if i.loose && dir == "schemas" {
			return i.looseSchemas()
		}
		inst, err := i.loader.compiled.embedded.instance(dir)
		if err != nil {
			return failed(pos, "module %s has no package %q", module, dir)
		}
		return inst
	}
	if i.module == nil {
		return failed(pos, "package %q cannot be found: the file is in no CUE module of its own, and seams brings only %s/schemas", p.Path, module)
	}
	dirs, root := i.dirs(p.Path)
	inst := i.context.NewInstance(dirs[0], nil)
	for _, dir := range dirs {
		if err := i.addPackage(inst, dir, root, p.Qualifier); err != nil {
			inst.Err = cueerrors.Append(inst.Err, cueerrors.Promote(err, ""))
		}
	}
	if len(inst.Files) == 0 && inst.Err == nil {
		return failed(pos, "package %q cannot be found in the module or its cue.mod/pkg; seams fetches no modules", p.Path)
	}
	if inst.Err == nil {
		_ = inst.Complete() // A failure is in inst.Err.
	}
	return inst
}

// failed is an instance that could not be loaded.
func failed(pos token.Pos, format string, args ...any) *build.Instance {
	inst := build.NewContext().NewInstance("", nil)
	inst.Err = cueerrors.Newf(pos, format, args...)
	return inst
}

// dirs are where a package's files may lie, and how far up the tree files of
// the same package belong to it.
func (i *imports) dirs(importPath string) (dirs []string, root string) {
	if rest, ok := strings.CutPrefix(importPath, i.module.name+"/"); ok {
		return []string{path.Join(i.module.root, rest)}, i.module.root
	}
	for _, kind := range []string{"pkg", "gen", "usr"} {
		dirs = append(dirs, path.Join(i.module.root, "cue.mod", kind, importPath))
	}
	return dirs, ""
}

// addPackage adds the files of a package in a directory, and those of the same
// package in the directories above it as far as root, as CUE does.
func (i *imports) addPackage(inst *build.Instance, dir, root, name string) error {
	for {
		texts, err := i.texts(dir)
		if err != nil {
			return err
		}
		for _, text := range texts {
			file, err := parser.ParseFile(text.name, text.data)
			if err != nil {
				return err
			}
			if file.PackageName() != name || excluded(file) {
				continue
			}
			if err := inst.AddSyntax(file); err != nil {
				return err
			}
		}
		if root == "" || dir == root || dir == "/" {
			return nil
		}
		dir = path.Dir(dir)
	}
}

// excluded reports whether a file asks for a build tag. None is ever set.
func excluded(f *ast.File) bool {
	for _, d := range f.Decls {
		switch x := d.(type) {
		case *ast.Package:
			return false
		case *ast.Attribute:
			if key, body := x.Split(); key == "if" && !strings.HasPrefix(body, "!") {
				return true
			}
		}
	}
	return false
}
