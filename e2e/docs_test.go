package e2e

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestFindingsDocumented holds docs/findings.md against the sources, both
// ways: a code that nobody can look up is as bad as one that no longer exists.
func TestFindingsDocumented(t *testing.T) {
	s, err := scanCodes("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.problems {
		t.Error(p)
	}
	if len(s.codes) < 150 {
		t.Fatalf("only %d codes found in the sources: the scan is broken", len(s.codes))
	}
	text, err := os.ReadFile("../docs/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := documentedCodes(string(text))
	for _, code := range slices.Sorted(maps.Keys(documented)) {
		if s.codes[code] == "" {
			t.Errorf("docs/findings.md has %s, which no source gives", code)
		}
		if len(documented[code]) > 1 {
			t.Errorf("docs/findings.md has %s twice", code)
		}
		for _, severity := range strings.Split(documented[code][0], ", ") {
			if !slices.Contains([]string{"error", "warning", "info"}, severity) {
				t.Errorf("docs/findings.md: %s has the severity %q", code, severity)
			}
		}
	}
	for _, code := range slices.Sorted(maps.Keys(s.codes)) {
		if documented[code] != nil && !strings.Contains(string(text), `<a id="`+code+`"></a>`) {
			t.Errorf("docs/findings.md: %s has no anchor <a id=…> in its row, which SARIF reports link to", code)
		}
		if documented[code] == nil {
			t.Errorf("%s: %s is not in docs/findings.md", s.codes[code], code)
		}
	}
}

var codeRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([a-z, ]+) \\| [^|]+ \\| [^|]+ \\|$")

// documentedCodes are the table rows of the page: the severities of each code, by row.
func documentedCodes(page string) map[string][]string {
	codes := map[string][]string{}
	for _, m := range codeRow.FindAllStringSubmatch(page, -1) {
		codes[m[1]] = append(codes[m[1]], m[2])
	}
	return codes
}

// codeForm is what a code looks like: words and versions joined by dashes.
var codeForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9.]+)+$`)

// codeScan collects finding codes by where they stand: in a field Code or
// code of a composite literal, in an assignment to such a field or to a
// variable of that name, as the argument of a parameter code, as the result
// code, and in constants named Code…. Anything else in one of these places is
// a problem, so that no code gets past the scan by another route.
type codeScan struct {
	fset     *token.FileSet
	codes    map[string]string // the code and one place that gives it
	problems []string
	// params, results and fields are, within one package, where the name code
	// stands among a function's parameters and results and a struct's fields.
	params, results, fields map[string]int
}

func scanCodes(root string) (*codeScan, error) {
	s := &codeScan{fset: token.NewFileSet(), codes: map[string]string{}}
	packages := map[string][]*ast.File{}
	for _, dir := range []string{"internal", "generators"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return filepath.SkipDir
			case d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go"):
				return nil
			}
			f, err := parser.ParseFile(s.fset, p, nil, parser.SkipObjectResolution)
			packages[filepath.Dir(p)] = append(packages[filepath.Dir(p)], f)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for _, files := range packages {
		s.params, s.results, s.fields = map[string]int{}, map[string]int{}, map[string]int{}
		for _, f := range files {
			ast.Inspect(f, s.declare)
		}
		for _, f := range files {
			ast.Inspect(f, s.collect)
		}
	}
	return s, nil
}

// named is the place of the string of the name code in a list of fields, -1 without.
func named(list *ast.FieldList) int {
	i := 0
	if list == nil {
		return -1
	}
	for _, f := range list.List {
		for _, n := range f.Names {
			if n.Name == "code" && lastName(f.Type) == "string" {
				return i
			}
			i++
		}
	}
	return -1
}

// withArity tells methods of one name apart.
func withArity(name string, n int) string { return name + "/" + strconv.Itoa(n) }

// declare notes the functions and structs of a package that deal in codes.
func (s *codeScan) declare(n ast.Node) bool {
	note := func(name string, t *ast.FuncType) {
		if i := named(t.Params); i >= 0 {
			s.params[withArity(name, t.Params.NumFields())] = i
		}
		if i := named(t.Results); i >= 0 {
			s.results[name] = i
		}
	}
	switch n := n.(type) {
	case *ast.FuncDecl:
		note(n.Name.Name, n.Type)
	case *ast.AssignStmt:
		for i, r := range n.Rhs {
			if f, ok := r.(*ast.FuncLit); ok {
				note(lastName(n.Lhs[i]), f.Type)
			}
		}
	case *ast.TypeSpec:
		if t, ok := n.Type.(*ast.StructType); ok {
			if i := named(t.Fields); i >= 0 {
				s.fields[n.Name.Name] = i
			}
		}
	}
	return true
}

// collect takes the codes out of the places where they may stand.
func (s *codeScan) collect(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncDecl:
		s.returned(n)
	case *ast.ValueSpec:
		for i, name := range n.Names {
			if (isCode(name.Name) || name.Name == "code") && i < len(n.Values) {
				s.take(n.Values[i])
			}
		}
	case *ast.AssignStmt:
		s.assigned(n)
	case *ast.CallExpr:
		if i, ok := s.params[withArity(lastName(n.Fun), len(n.Args))]; ok {
			s.take(n.Args[i])
		}
	case *ast.CompositeLit:
		s.composed(n)
	}
	return true
}

// composed takes the field Code, the field code of a struct that has a string
// of this name (an exit code is a number), and the same field without its name.
func (s *codeScan) composed(n *ast.CompositeLit) {
	at, ours := s.fields[lastName(n.Type)]
	for i, e := range n.Elts {
		kv, keyed := e.(*ast.KeyValueExpr)
		switch {
		case !keyed && ours && i == at:
			s.take(e)
		case keyed && (lastName(kv.Key) == "Code" || lastName(kv.Key) == "code" && (ours || n.Type == nil)):
			s.take(kv.Value)
		}
	}
}

func (s *codeScan) assigned(n *ast.AssignStmt) {
	for i, l := range n.Lhs {
		if name := lastName(l); name != "Code" && name != "code" {
			continue
		}
		if len(n.Lhs) == len(n.Rhs) {
			s.take(n.Rhs[i])
			continue
		}
		call, ok := n.Rhs[0].(*ast.CallExpr)
		if !ok || !s.gives(call, i) {
			s.problem(n, "a code comes from where the scan cannot follow: name the function's result code")
		}
	}
}

// gives says whether a call's result i is a code of a function that is scanned.
func (s *codeScan) gives(call *ast.CallExpr, i int) bool {
	at, ok := s.results[lastName(call.Fun)]
	return ok && at == i
}

// returned takes what a function with a result code returns, but for its inner functions.
func (s *codeScan) returned(f *ast.FuncDecl) {
	at := named(f.Type.Results)
	if at < 0 || f.Body == nil {
		return
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok && at < len(r.Results) {
			s.take(r.Results[at])
		}
		_, inner := n.(*ast.FuncLit)
		return !inner
	})
}

// take takes a code that is written out. A name stands for a code that is
// taken where it gets its value.
func (s *codeScan) take(e ast.Expr) {
	switch e := e.(type) {
	case *ast.BasicLit:
		code, err := strconv.Unquote(e.Value)
		switch {
		case err == nil && codeForm.MatchString(code):
			s.codes[code] = s.fset.Position(e.Pos()).String()
		case code != "":
			s.problem(e, fmt.Sprintf("%s is not of the form of a code", e.Value))
		}
		return
	case *ast.Ident, *ast.SelectorExpr:
		if name := lastName(e); name == "code" || isCode(name) || name == "Code" {
			return
		}
	}
	s.problem(e, "a code that the scan cannot read: write it out, or name it code")
}

func (s *codeScan) problem(n ast.Node, text string) {
	s.problems = append(s.problems, fmt.Sprintf("%s: %s", s.fset.Position(n.Pos()), text))
}

// isCode tells the name of a constant for a code.
func isCode(name string) bool {
	rest, ok := strings.CutPrefix(name, "Code")
	return ok && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z'
}

// lastName is the name that an expression ends in.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
