package controlplane

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubeseams/seams/internal/plan"
)

// Flags are a component's flags by name, without dashes. A name stands once,
// so that a value that has several parts is one joined value: kubeadm replaces
// by name, kind merges by name.
type Flags map[string]string

// Command is the command line: the program, then its flags by name.
func (f Flags) Command(program string) []string {
	command := make([]string, 0, len(f)+1)
	command = append(command, program)
	for _, name := range f.Names() {
		command = append(command, "--"+name+"="+f[name])
	}
	return command
}

// Names are the flags' names, sorted.
func (f Flags) Names() []string { return slices.Sorted(maps.Keys(f)) }

// With gives the flags with others over them.
func (f Flags) With(others ...map[string]string) Flags {
	all := maps.Clone(f)
	if all == nil {
		all = Flags{}
	}
	for _, o := range others {
		maps.Copy(all, o)
	}
	return all
}

// joinGates adds feature gates to whatever a feature-gates flag says already.
func (f Flags) joinGates(gates map[string]bool) {
	all := map[string]string{}
	for pair := range strings.SplitSeq(f["feature-gates"], ",") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			all[name] = value
		}
	}
	for name, on := range gates {
		all[name] = strconv.FormatBool(on)
	}
	if len(all) == 0 {
		return
	}
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		pairs = append(pairs, name+"="+all[name])
	}
	f["feature-gates"] = strings.Join(pairs, ",")
}

// joinUncached adds resources to turn off to whatever a watch-cache-sizes flag
// says already; of this flag's sizes upstream honours only 0.
func (f Flags) joinUncached(t plan.Tier) {
	var sizes []string
	for size := range strings.SplitSeq(f["watch-cache-sizes"], ",") {
		if size != "" {
			sizes = append(sizes, size)
		}
	}
	for _, gr := range t.Uncached {
		name := gr.Resource
		if gr.Group != "" {
			name += "." + gr.Group
		}
		if size := name + "#0"; !slices.Contains(sizes, size) {
			sizes = append(sizes, size)
		}
	}
	if len(sizes) > 0 {
		f["watch-cache-sizes"] = strings.Join(sizes, ",")
	}
}
