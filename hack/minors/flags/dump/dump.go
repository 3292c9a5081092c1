// Package dump prints the flags and feature gates that a program would accept,
// taken from the flag sets of the program itself.
package dump

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
)

// Flag is one flag as its program declares it.
type Flag struct {
	Name       string `json:"name"`
	Shorthand  string `json:"shorthand,omitempty"`
	Type       string `json:"type"`
	Default    string `json:"default,omitempty"`
	Deprecated string `json:"deprecated,omitempty"`
	// NoOptDefault is the value of the flag when it is written without one.
	NoOptDefault string `json:"noOptDefault,omitempty"`
}

// Gate is one feature gate as it stands in the program.
type Gate struct {
	Stage   string `json:"stage"`
	Default bool   `json:"default"`
	Locked  bool   `json:"locked"`
}

type table struct {
	Component string          `json:"component"`
	Flags     []Flag          `json:"flags"`
	Gates     map[string]Gate `json:"gates,omitempty"`
}

// Print writes a component's table to stdout as JSON and ends the program with
// status 1 when that is not possible.
func Print(component string, flags []Flag, gates map[string]Gate) {
	slices.SortStableFunc(flags, func(a, b Flag) int { return cmp.Compare(a.Name, b.Name) })
	flags = slices.CompactFunc(flags, func(a, b Flag) bool { return a.Name == b.Name })
	out, err := json.MarshalIndent(table{component, flags, gates}, "", " ")
	if err == nil {
		_, err = fmt.Printf("%s\n", out)
	}
	if err != nil {
		Fail(err)
	}
}

// Fail ends the program with status 1.
func Fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// FromStandard reads the flags of a program that uses package flag, as etcd does.
func FromStandard(set *flag.FlagSet) []Flag {
	var flags []Flag
	set.VisitAll(func(f *flag.Flag) {
		out := Flag{Name: f.Name, Type: standardType(f.Value), Default: f.DefValue}
		if b, ok := f.Value.(interface{ IsBoolFlag() bool }); ok && b.IsBoolFlag() {
			out.Type, out.NoOptDefault = "bool", "true"
		}
		flags = append(flags, out)
	})
	return flags
}

// standardType names a value's type as pflag would: *flag.uintValue is "uint".
func standardType(v flag.Value) string {
	t := reflect.TypeOf(v)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return strings.TrimSuffix(t.Name(), "Value")
}
