package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// flagLine is one line of flags.json.
type flagLine struct {
	Component    string `json:"component"`
	Name         string `json:"name"`
	Shorthand    string `json:"shorthand,omitempty"`
	Type         string `json:"type"`
	Default      string `json:"default,omitempty"`
	Deprecated   string `json:"deprecated,omitempty"`
	NoOptDefault string `json:"noOptDefault,omitempty"`
}

// dumped is what a program in hack/minors/flags prints.
type dumped struct {
	Component string              `json:"component"`
	Flags     []flagLine          `json:"flags"`
	Gates     map[string]gateSpec `json:"gates"`
}

type gateSpec struct {
	Stage   string `json:"stage"`
	Default bool   `json:"default"`
	Locked  bool   `json:"locked"`
}

// readDumps reads what the programs printed; there are none without a directory.
func readDumps(dir string) ([]dumped, error) {
	if dir == "" {
		return nil, nil
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no flag tables in %s", dir)
	}
	slices.Sort(paths)
	var programs []dumped
	for _, path := range paths {
		var d dumped
		if err := readJSON(path, &d); err != nil {
			return nil, err
		}
		if d.Component == "" || len(d.Flags) < 20 {
			return nil, fmt.Errorf("%s: only %d flags of %q", path, len(d.Flags), d.Component)
		}
		programs = append(programs, d)
	}
	return programs, nil
}

// writeFlags joins the programs' flags into flags.json. Without programs there
// is no such file, and package target says that the minor's flags are not known.
// Deprecated holds what etcd says of flags, which its flag sets do not.
func writeFlags(programs []dumped, dir string, deprecated map[string]string) error {
	var lines []flagLine
	for _, p := range programs {
		for _, f := range p.Flags {
			f.Component = p.Component
			f.Deprecated = cmp.Or(f.Deprecated, deprecated[f.Name])
			lines = append(lines, f)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return writeLines(filepath.Join(dir, "flags.json"), lines)
}

// etcdMainFlags reads the flags that etcd's newConfig declares besides those
// of package embed: calls such as fs.BoolVar(&v, "version", …) and fs.Var(v, "name", …).
func etcdMainFlags(path string) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return nil, err
	}
	var out []string
	ast.Inspect(file, func(n ast.Node) bool {
		if name, kind, ok := flagCall(n); ok {
			out = append(out, name+"="+kind)
		}
		return true
	})
	if len(out) == 0 {
		return nil, fmt.Errorf("no flags in %s", path)
	}
	return out, nil
}

// etcdDeprecated reads etcd's map of deprecated flags and what it says of each.
func etcdDeprecated(path string) (map[string]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return nil, err
	}
	deprecated := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || spec.Names[0].Name != "deprecatedFlags" || len(spec.Values) != 1 {
			return true
		}
		literal, ok := spec.Values[0].(*ast.CompositeLit)
		if !ok {
			return true
		}
		for _, element := range literal.Elts {
			if pair, ok := element.(*ast.KeyValueExpr); ok {
				if name, why := text(pair.Key), text(pair.Value); name != "" {
					deprecated[name] = why
				}
			}
		}
		return false
	})
	if len(deprecated) == 0 {
		return nil, fmt.Errorf("no deprecated flags in %s: has the map moved?", path)
	}
	return deprecated, nil
}

// text reads a string literal; anything else is empty.
func text(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return s
}

func flagCall(n ast.Node) (name, kind string, ok bool) {
	call, isCall := n.(*ast.CallExpr)
	if !isCall || len(call.Args) < 3 {
		return "", "", false
	}
	sel, isSel := call.Fun.(*ast.SelectorExpr)
	if !isSel || !strings.HasSuffix(sel.Sel.Name, "Var") {
		return "", "", false
	}
	if x, isIdent := sel.X.(*ast.Ident); !isIdent || x.Name != "fs" {
		return "", "", false
	}
	if name = text(call.Args[1]); name == "" {
		return "", "", false
	}
	kind = strings.ToLower(strings.TrimSuffix(sel.Sel.Name, "Var"))
	if kind == "" {
		kind = "string"
	}
	return name, kind, true
}

// writeLines writes a JSON array with one element a line, which diffs well.
func writeLines[T any](path string, rows []T) error {
	var b, line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	sep := "[\n"
	for _, row := range rows {
		line.Reset()
		if err := enc.Encode(row); err != nil {
			return err
		}
		b.WriteString(sep)
		b.Write(bytes.TrimSuffix(line.Bytes(), []byte("\n")))
		sep = ",\n"
	}
	b.WriteString("\n]\n")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}
