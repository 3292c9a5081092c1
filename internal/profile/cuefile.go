package profile

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
)

// cueSource is the text of one CUE package: a single file, or the files of a
// directory. It is parsed again for each evaluation, since evaluating resolves
// names in the syntax tree itself.
type cueSource struct {
	*reader
	// dir is the absolute directory, name how messages call the package.
	dir, name string
	files     []cueText
	// module is the user's own CUE module around the files, nil without one.
	module *userModule
}

type cueText struct {
	name string // as messages show it
	base string
	data []byte
}

// cueFile reads the profiles of one CUE file or stream.
func (r *reader) cueFile(s *source) error {
	src := &cueSource{reader: r, name: s.name, dir: r.loader.Dir}
	src.files = []cueText{{s.name, path.Base(s.name), s.data}}
	if s.path != "" {
		src.dir = path.Dir(s.path)
		src.files[0].base = path.Base(s.path)
	}
	return src.load(s.path != "")
}

// cuePackage reads the profiles of the CUE package in a directory.
func (r *reader) cuePackage(s *source) error {
	entries, err := fs.ReadDir(r.loader.FS, fsName(s.path))
	if err != nil {
		return plainPathError(s.name, err)
	}
	src := &cueSource{reader: r, name: s.name, dir: s.path}
	for _, e := range entries {
		base := e.Name()
		// What the cue command leaves out of a package.
		if e.IsDir() || path.Ext(base) != ".cue" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") ||
			strings.HasSuffix(base, "_tool.cue") || strings.HasSuffix(base, "_test.cue") {
			continue
		}
		part, err := r.loader.open(Options{Path: path.Join(s.name, base), Format: CUE})
		if err != nil {
			return err
		}
		r.file = part.name
		if part.tooLarge {
			r.add(CodeTooLarge, 0, nil, fmt.Sprintf("the file is larger than %d bytes", r.limits.FileBytes), "")
			return nil
		}
		if !r.checkText(part.data) || !r.checkCode(part) {
			return nil
		}
		src.files = append(src.files, cueText{part.name, base, part.data})
	}
	r.file = s.name
	if len(src.files) == 0 {
		r.add(CodeEmpty, 0, nil, "there is no CUE file in the directory", "name a file, or the directory of a CUE package")
		return nil
	}
	return src.load(true)
}

// load evaluates the package against the schema, and where that fails once
// more without the schema, to see the user's own values.
func (c *cueSource) load(onDisk bool) error {
	if onDisk {
		var err error
		if c.module, err = c.loader.findModule(c.dir); err != nil {
			return err
		}
	}
	s, err := c.loader.compiled()
	if err != nil {
		return err
	}
	v, err := c.build(s.ctx, false)
	if err != nil {
		(&cueErrors{source: c, before: len(c.findings)}).add(err, nil)
		return nil
	}
	picks, ok := c.pick(v, s.shape)
	if !ok {
		return nil
	}
	var loose map[string]cue.Value
	for _, p := range picks {
		w := s.profile.Unify(p.value)
		failure := w.Validate(cue.Concrete(true))
		if failure == nil {
			if err := c.keep(w, p.source(c.name, len(picks)), c.placeIn(p.value)); err != nil {
				return err
			}
			continue
		}
		if loose == nil {
			loose = c.loosePicks(s.shape)
		}
		c.explainCUE(s, p, loose, failure)
	}
	return nil
}

// build evaluates the package in a context. In a loose build our schemas are
// open, so that the values are the user's alone.
func (c *cueSource) build(ctx *cue.Context, loose bool) (cue.Value, error) {
	inst, err := c.instance(loose)
	if err != nil {
		return cue.Value{}, err
	}
	v := ctx.BuildInstance(inst)
	if inst.Err != nil {
		return v, inst.Err
	}
	return v, nil
}

// instance parses the files and resolves their imports.
func (c *cueSource) instance(loose bool) (*build.Instance, error) {
	if c.module != nil {
		return c.moduleInstance(loose)
	}
	var imports build.LoadFunc = func(pos token.Pos, p string) *build.Instance {
		return c.importEmbedded(pos, p, loose)
	}
	inst := build.NewContext(build.Loader(imports)).NewInstance(c.dir, nil)
	var syntax errors.Error
	for _, f := range c.files {
		file, err := parser.ParseFile(f.name, f.data)
		if err != nil {
			syntax = errors.Append(syntax, errors.Promote(err, ""))
			continue
		}
		if err := inst.AddSyntax(file); err != nil {
			syntax = errors.Append(syntax, err)
		}
	}
	if syntax != nil {
		return nil, syntax
	}
	return inst, inst.Complete()
}

// importEmbedded resolves an import of a file that is in no module of its
// user's: the packages of the embedded module, and CUE's own.
func (c *cueSource) importEmbedded(pos token.Pos, importPath string, loose bool) *build.Instance {
	p := ast.ParseImportPath(importPath).Path
	if !strings.Contains(strings.SplitN(p, "/", 2)[0], ".") {
		return nil // CUE's standard library, which the evaluator has.
	}
	fail := func(err errors.Error) *build.Instance {
		inst := build.NewContext().NewInstance("", nil)
		inst.Err = err
		return inst
	}
	dir, ok := strings.CutPrefix(p, module+"/")
	if !ok {
		return fail(errors.Newf(pos, "package %q cannot be found: the file is in no CUE module of its own, and seams has only %s/schemas", p, module))
	}
	if loose && dir == "schemas" {
		return c.looseSchemas()
	}
	inst, err := c.loader.embedded.instance(dir)
	if err != nil {
		return fail(errors.Newf(pos, "package %q cannot be found in %s", dir, module))
	}
	return inst
}

// looseSchemas is our schemas package with every definition open.
func (c *cueSource) looseSchemas() *build.Instance {
	inst := build.NewContext().NewInstance("", nil)
	if err := inst.AddFile(module+"/schemas/loose.cue", c.loader.embedded.looseText()); err == nil {
		_ = inst.Complete() // A failure is in inst.Err.
	}
	return inst
}

// looseText writes the loose schemas.
func (e *embedded) looseText() string {
	text := "package schemas\n"
	inst, err := e.instance("schemas")
	if err != nil {
		return text
	}
	var names []string
	for _, f := range inst.Files {
		for _, d := range f.Decls {
			if field, ok := d.(*ast.Field); ok {
				if name, _, err := ast.LabelName(field.Label); err == nil && !strings.HasPrefix(name, "_") {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	for _, n := range slices.Compact(names) {
		text += n + ": _\n"
	}
	return text
}

// loosePicks evaluates without the schema and gives the profiles by name;
// none if the package does not stand without it.
func (c *cueSource) loosePicks(s *shape) map[string]cue.Value {
	out := map[string]cue.Value{}
	v, err := c.build(cuecontext.New(), true)
	if err != nil {
		return out
	}
	found := len(c.findings)
	picks, _ := c.pick(v, s)
	c.findings = c.findings[:found] // They are the strict evaluation's to report.
	for _, p := range picks {
		out[p.name()] = p.value
	}
	return out
}
