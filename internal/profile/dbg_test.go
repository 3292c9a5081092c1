package profile

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"context"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/errors"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/google/go-jsonnet"
	"testing/fstest"
)

func TestDbg(t *testing.T) {
	for _, n := range strings.Fields(os.Getenv("DBG")) {
		a, err := txtar.ParseFile("testdata/errors/" + n + ".txtar")
		if err != nil { t.Fatal(err) }
		fsys := fstest.MapFS{}
		for _, f := range a.Files { fsys["w/"+f.Name] = &fstest.MapFile{Data: f.Data} }
		l := &Loader{FS: fsys, Dir: "/w"}
		o := errorOptions(t, string(a.Comment), a.Files[0].Name)
		g, fs, err := l.Load(context.Background(), o)
		fmt.Println("==", n, len(g), lines(fs), err)
		if strings.HasSuffix(o.Path, "net") {
			vm := jsonnet.MakeVM()
			s, _ := l.open(o)
			r := &reader{loader: l, limits: l.Limits.withDefaults(), file: s.name, options: o}
			imp := &importer{loader: l, limits: r.limits, roots: []string{"/w/d","/w/lib"}, cache: map[string]imported{}}
			vm.Importer(imp)
			_, err := vm.EvaluateAnonymousSnippet(o.Path, string(s.data))
			fmt.Println("RAW", err)
			continue
		}
		s, _ := l.open(o)
		r := &reader{loader: l, limits: l.Limits.withDefaults(), file: s.name, options: o}
		src := &cueSource{reader: r, name: s.name, dir: "/w"}
		src.files = []cueText{{s.name, s.name, s.data}}
		src.module, _ = l.findModule("/w")
		sc, _ := l.compiled()
		for _, loose := range []bool{false, true} {
			v, err := src.build(sc.ctx, loose)
			fmt.Println("LOOSE", loose, errors.Details(err, nil))
			fmt.Printf("%v\n", v)
			ps, ok := src.pick(v, sc.shape)
			for _, p := range ps {
				fmt.Println(p.name(), ok, p.value)
				w := sc.profile.Unify(p.value)
				for _, e := range errors.Errors(w.Validate(cue.Concrete(true))) { fmt.Printf("   %q %v %v\n", e.Path(), e, e.InputPositions()) }
			}
		}
	}
}
