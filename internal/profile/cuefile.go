package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/parser"
)

// cueSource is the text of one CUE package: a single file, or the files of a
// directory. It is parsed again for each evaluation, since evaluating resolves
// names in the syntax tree itself.
type cueSource struct {
	*reader
	// dir is the absolute directory, name how messages call the package.
	dir, name string
	files     []cueText
	// whole is set when the input is a directory rather than a file.
	whole bool
	// module is the user's own CUE module around the files, nil without one.
	module *userModule
}

type cueText struct {
	name string // as messages show it
	data []byte
}

// cueFile reads the profiles of one CUE file or stream.
func (r *reader) cueFile(s *source) error {
	src := &cueSource{reader: r, name: s.name, dir: r.loader.Dir}
	src.files = []cueText{{s.name, s.data}}
	if s.path != "" {
		src.dir = path.Dir(s.path)
	}
	return src.load(s.path != "")
}

// cuePackage reads the profiles of the CUE package in a directory.
func (r *reader) cuePackage(s *source) error {
	src := &cueSource{reader: r, name: s.name, dir: s.path, whole: true}
	var err error
	if src.files, err = src.texts(s.path); errors.Is(err, errReported) {
		return nil
	} else if err != nil {
		return err
	}
	if len(src.files) == 0 {
		r.add(CodeEmpty, 0, nil, "there is no CUE file in the directory", "name a file, or the directory of a CUE package")
		return nil
	}
	return src.load(true)
}

// texts reads the CUE files of a directory that the cue command would take for
// part of a package; a directory that is not there has none.
func (c *cueSource) texts(dir string) ([]cueText, error) {
	entries, err := fs.ReadDir(c.loader.FS, fsName(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, plainPathError(c.show(dir), err)
	}
	var out []cueText
	for _, e := range entries {
		base := e.Name()
		if e.IsDir() || path.Ext(base) != ".cue" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") ||
			strings.HasSuffix(base, "_tool.cue") || strings.HasSuffix(base, "_test.cue") {
			continue
		}
		name := c.show(path.Join(dir, base))
		part, err := c.loader.open(Options{Path: path.Join(dir, base), Format: CUE})
		if err != nil {
			return nil, err
		}
		if err := c.checkPart(part, name); err != nil {
			return nil, err
		}
		out = append(out, cueText{name, part.data})
	}
	return out, nil
}

// checkPart holds a file to the limits; what is wrong with it is a finding of
// that file, and an error for whoever needs the file.
func (c *cueSource) checkPart(part *source, name string) error {
	part.name = name
	file, before := c.file, len(c.findings)
	c.file = name
	defer func() { c.file = file }()
	if part.tooLarge {
		c.add(CodeTooLarge, 0, nil, fmt.Sprintf("the file is larger than %d bytes", c.limits.FileBytes), "")
	} else if c.checkText(part.data) {
		c.checkCode(part)
	}
	if len(c.findings) > before {
		return errReported
	}
	return nil
}

// errReported stands for a problem that is among the findings already.
var errReported = errors.New("reported")

// show is the name a user knows a file by: spelled like the input for what
// lies beneath it, relative to the working directory otherwise.
func (c *cueSource) show(abs string) string {
	if rest, ok := strings.CutPrefix(abs, c.dir+"/"); ok && c.whole {
		return path.Join(c.name, rest)
	}
	if rel, err := filepath.Rel(c.loader.Dir, abs); err == nil {
		return filepath.ToSlash(rel)
	}
	return abs
}

// packageCost is how many data files a CUE package counts for in the growth of
// a context: the package's own syntax stays in it as well.
const packageCost = 12

// load evaluates the package against the schema, and where that fails once
// more without the schema, to see the user's own values.
func (c *cueSource) load(onDisk bool) error {
	if onDisk {
		var err error
		if c.module, err = c.loader.findModule(c.dir); err != nil {
			return err
		}
	}
	s, err := c.loader.schema()
	if err != nil {
		return err
	}
	s.uses += packageCost
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
			var got *Profile
			if got, failure = decode(w, s.shape); failure == nil {
				if err := c.keep(got, p.source(c.name, len(picks)), c.placeIn(p.value)); err != nil {
					return err
				}
				continue
			}
		}
		if loose == nil {
			loose = c.loosePicks(s.shape)
		}
		c.explainCUE(s, p, w, loose, failure)
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
	res := &imports{cueSource: c, loose: loose}
	res.context = build.NewContext(build.Loader(res.load))
	inst := res.context.NewInstance(c.dir, nil)
	var syntax cueerrors.Error
	for _, f := range c.files {
		file, err := parser.ParseFile(f.name, f.data)
		if err != nil {
			syntax = cueerrors.Append(syntax, cueerrors.Promote(err, ""))
			continue
		}
		if excluded(file) {
			continue
		}
		if err := inst.AddSyntax(file); err != nil {
			syntax = cueerrors.Append(syntax, err)
		}
	}
	if syntax != nil {
		return nil, syntax
	}
	if c.whole && c.module != nil && c.dir != c.module.root && inst.PkgName != "" {
		if err := res.addPackage(inst, path.Dir(c.dir), c.module.root, inst.PkgName); err != nil {
			return nil, err
		}
	}
	return inst, inst.Complete()
}

// looseSchemas is our schemas package with every definition open.
func (c *cueSource) looseSchemas() *build.Instance {
	inst := build.NewContext().NewInstance("", nil)
	if err := inst.AddFile(module+"/schemas/loose.cue", c.loader.compiled.embedded.looseText()); err == nil {
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
