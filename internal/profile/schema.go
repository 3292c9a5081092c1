package profile

import (
	"fmt"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/load"

	"github.com/kubeseams/seams"
)

// module is the import path of the embedded CUE module.
const module = "github.com/kubeseams/seams"

// embedded loads packages of the embedded module; the parsed form outlives any
// one cue.Context.
type embedded struct {
	packages map[string]*build.Instance
}

// instance loads an embedded package by its directory, "schemas".
func (e *embedded) instance(dir string) (*build.Instance, error) {
	if inst, ok := e.packages[dir]; ok {
		return inst, inst.Err
	}
	insts := load.Instances([]string{"./" + dir}, &load.Config{
		FS:  seams.CUE,
		Dir: "/",
		// Positions name the module instead of a path on no disk.
		FromFSPath: func(p string) string { return module + "/" + strings.TrimPrefix(p, "/") },
	})
	if e.packages == nil {
		e.packages = map[string]*build.Instance{}
	}
	e.packages[dir] = insts[0]
	return insts[0], insts[0].Err
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
