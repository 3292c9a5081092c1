package kops

import "github.com/kubeseams/seams/internal/target"

// Field is a row of the tables of fields, for the test that holds them against kOps.
type Field struct {
	Block, Flag, Name string
	// Types are the schema types that the row's values fit.
	Types []string
	In    func(target.Target) bool
}

// Fields are all rows.
func Fields() []Field {
	types := map[form][]string{
		integer: {"int32", "int64", "integer", "quantity"}, boolean: {"boolean"}, duration: {"string"}, text: {"string"}, list: {"array"}, pairs: {"object"},
	}
	var out []Field
	for _, c := range []component{apiserver, controllerManager, scheduler} {
		for _, f := range c.fields {
			has := f.has
			if has == nil {
				has = func(target.Target) bool { return true }
			}
			out = append(out, Field{c.block, f.flag, f.name, types[f.form], has})
		}
	}
	return out
}
