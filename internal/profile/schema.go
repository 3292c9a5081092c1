package profile

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"github.com/kubeseams/seams"
)

// module is the import path of the embedded CUE module.
const module = "github.com/kubeseams/seams"

// language is the language version of cue.mod/module.cue.
const language = "v0.14.0"

// embedded loads packages of the embedded module; the parsed form outlives any
// one cue.Context. cue/load would give the same, after looking at the module
// file and for a registry, which takes longer than to read the packages.
type embedded struct {
	packages map[string]*build.Instance
}

// instance loads an embedded package by its directory, "schemas".
func (e *embedded) instance(dir string) (*build.Instance, error) {
	if inst, ok := e.packages[dir]; ok {
		return inst, inst.Err
	}
	if e.packages == nil {
		e.packages = map[string]*build.Instance{}
	}
	inst := build.NewContext(build.Loader(e.load)).NewInstance(dir, nil)
	inst.ImportPath = module + "/" + dir
	e.packages[dir] = inst
	if err := addEmbedded(inst, dir); err != nil {
		inst.Err = errors.Append(inst.Err, errors.Promote(err, ""))
	} else if inst.Err == nil {
		_ = inst.Complete() // A failure is in inst.Err.
	}
	return inst, inst.Err
}

// load resolves the imports of embedded packages, which import each other and
// the standard library only; for that nil stands.
func (e *embedded) load(_ token.Pos, importPath string) *build.Instance {
	dir, ok := strings.CutPrefix(ast.ParseImportPath(importPath).Path, module+"/")
	if !ok {
		return nil
	}
	inst, _ := e.instance(dir) // A failure is in inst.Err.
	return inst
}

// addEmbedded parses the files of a package. Positions name the module instead
// of a path on no disk.
func addEmbedded(inst *build.Instance, dir string) error {
	entries, err := fs.ReadDir(seams.CUE, dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() || path.Ext(entry.Name()) != ".cue" {
			continue
		}
		name := path.Join(dir, entry.Name())
		data, err := fs.ReadFile(seams.CUE, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(path.Join(module, name), data, parser.ParseComments, parser.Version(language))
		if err != nil {
			return err
		}
		if err := inst.AddSyntax(file); err != nil {
			return err
		}
	}
	if len(inst.Files) == 0 {
		return fmt.Errorf("no CUE files in %s", dir)
	}
	return nil
}

// schema is #Profile compiled in one cue.Context. A context never gives memory
// back, so a Loader renews it after a number of profiles.
type schema struct {
	ctx     *cue.Context
	profile cue.Value
	shape   *shape
	uses    int
}

func newSchema(e *embedded) (*schema, error) {
	inst, err := e.instance("schemas")
	if err != nil {
		return nil, fmt.Errorf("load the embedded schemas: %s", errors.Details(err, nil))
	}
	s := &schema{ctx: cuecontext.New()}
	v := s.ctx.BuildInstance(inst)
	if err := v.Err(); err != nil {
		return nil, fmt.Errorf("build the embedded schemas: %s", errors.Details(err, nil))
	}
	s.profile = v.LookupPath(cue.ParsePath("#Profile"))
	if err := s.profile.Err(); err != nil {
		return nil, fmt.Errorf("find #Profile: %w", err)
	}
	if s.shape, err = describe(s.profile); err != nil {
		return nil, fmt.Errorf("describe #Profile: %w", err)
	}
	return s, nil
}
