package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestPatternsCompile compiles what package pattern leaves to its first use,
// and refuses what the program would compile at every start.
func TestPatternsCompile(t *testing.T) {
	compiled := 0
	walkGo(t, func(file string, _ []string) {
		if strings.HasPrefix(file, "e2e") || strings.HasPrefix(file, "hack") || strings.HasSuffix(file, "_test.go") {
			return
		}
		tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range tree.Decls {
			if g, ok := decl.(*ast.GenDecl); ok && g.Tok == token.VAR {
				ast.Inspect(g, func(n ast.Node) bool {
					compiled += patternIn(t, file, n)
					return true
				})
			}
		}
	})
	if compiled < 40 {
		t.Fatalf("only %d patterns seen: the walk is broken", compiled)
	}
}

// patternIn compiles the pattern that a call names in so many words, and counts it.
func patternIn(t *testing.T, file string, n ast.Node) int {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return 0
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return 0
	}
	of, _ := f.X.(*ast.Ident)
	if of != nil && of.Name == "regexp" && !strings.HasPrefix(filepath.ToSlash(file), "internal/pattern/") {
		t.Errorf("%s: every start of the program compiles a regular expression: write pattern.Of", file)
	}
	text, ok := call.Args[0].(*ast.BasicLit)
	if of == nil || of.Name != "pattern" || !ok {
		return 0
	}
	expression, err := strconv.Unquote(text.Value)
	if err == nil {
		_, err = regexp.Compile(expression)
	}
	if err != nil {
		t.Errorf("%s: %v", file, err)
	}
	return 1
}
