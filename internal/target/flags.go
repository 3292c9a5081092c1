package target

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The programs whose flags are known.
const (
	KubeAPIServer         = "kube-apiserver"
	KubeControllerManager = "kube-controller-manager"
	KubeScheduler         = "kube-scheduler"
	Kubelet               = "kubelet"
	KubeProxy             = "kube-proxy"
	APIExtensionsServer   = "apiextensions-apiserver"
	Etcd                  = "etcd"
)

// Components lists the programs whose flags are known.
var Components = []string{KubeAPIServer, KubeControllerManager, KubeScheduler, Kubelet, KubeProxy, APIExtensionsServer, Etcd}

// Flag is a flag as its program declares it.
type Flag struct {
	Name string `json:"name"`
	// Shorthand is one letter, or empty.
	Shorthand string `json:"shorthand"`
	// Type is pflag's name of the value: bool, int32, duration, stringSlice,
	// mapStringString and so on.
	Type    string `json:"type"`
	Default string `json:"default"`
	// Deprecated is the program's own text, empty when the flag is not.
	Deprecated string `json:"deprecated"`
	// NoOptDefault is the value when the flag stands without one; a flag
	// without it takes the next argument.
	NoOptDefault string `json:"noOptDefault"`
}

// Same reports whether two values of the flag are one to the program: 2m30s is
// 150s, and 0x10 is 16. Of types that are texts, each text is another value.
func (f Flag) Same(a, b string) bool {
	read := func(text string) (value any, err error) {
		switch f.Type {
		case "bool":
			return strconv.ParseBool(text)
		case "int", "int32", "int64", "Level":
			return strconv.ParseInt(text, 0, 64)
		case "uint", "uint32", "uint64":
			return strconv.ParseUint(text, 0, 64)
		case "float32", "float64":
			return strconv.ParseFloat(text, 64)
		case "duration":
			return time.ParseDuration(text)
		}
		return text, nil
	}
	x, err := read(a)
	y, wrong := read(b)
	return a == b || err == nil && wrong == nil && x == y
}

// FlagTable is the flags of one program in one version.
type FlagTable struct {
	Component string
	flags     map[string]Flag
	shorts    map[string]string
}

// Find looks a flag up by its name, without dashes. Kubernetes' components
// take an underscore for a dash; etcd does not.
func (t *FlagTable) Find(name string) (f Flag, ok bool) {
	if t.Component != Etcd {
		name = strings.ReplaceAll(name, "_", "-")
	}
	f, ok = t.flags[name]
	return f, ok
}

// FindShort looks a flag up by its one-letter form, without the dash.
func (t *FlagTable) FindShort(letter string) (f Flag, ok bool) {
	name, ok := t.shorts[letter]
	return t.flags[name], ok
}

// Names lists the flags' names in order.
func (t *FlagTable) Names() []string {
	names := make([]string, 0, len(t.flags))
	for name := range t.flags {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// flagRow is one line of flags.json.
type flagRow struct {
	Component string `json:"component"`
	Flag
}

func newFlagTables(path string) map[string]*FlagTable {
	tables := map[string]*FlagTable{}
	if !has(path) {
		return tables
	}
	for _, row := range rows[flagRow](path) {
		t := tables[row.Component]
		if t == nil {
			t = &FlagTable{row.Component, map[string]Flag{}, map[string]string{}}
			tables[row.Component] = t
		}
		t.flags[row.Name] = row.Flag
		if row.Shorthand != "" {
			t.shorts[row.Shorthand] = row.Name
		}
	}
	return tables
}

// etcdLines are the etcd minors with tables, oldest first.
var etcdLines = []string{"3.6", "3.7"}

// etcdTables are the tables of one etcd minor.
type etcdTables struct {
	flags func() *FlagTable
	gates func() map[string]Gate
}

var byEtcd = func() map[string]etcdTables {
	tables := map[string]etcdTables{}
	for _, line := range etcdLines {
		dir := fmt.Sprintf("etcd-%s/", line)
		tables[line] = etcdTables{
			flags: sync.OnceValue(func() *FlagTable { return newFlagTables(dir + "flags.json")[Etcd] }),
			gates: sync.OnceValue(func() map[string]Gate { return newGateTable(rows[Gate](dir + "gates.json")) }),
		}
	}
	return tables
}()

// Flags gives the flags of a program in a version of Kubernetes; ok is false
// when they are not known, and then nothing can be said about a flag. For etcd
// it is the etcd that kubeadm of that minor installs.
func Flags(kubernetes Version, component string) (t *FlagTable, ok bool) {
	if component == Etcd {
		return EtcdFlags(EtcdVersion(kubernetes))
	}
	if m := kubernetes; !m.IsZero() && (m.Major != 1 || m.Minor < MinKubernetes || m.Minor > MaxKubernetes) {
		return nil, false
	}
	t, ok = tablesOf(kubernetes).flags()[component]
	return t, ok
}

// EtcdFlags gives the flags of an etcd by its version or image tag: "3.7.3-0",
// "v3.6.8", "3.6"; ok is false when they are not known.
func EtcdFlags(version string) (t *FlagTable, ok bool) {
	tables, ok := etcdOf(version)
	if !ok {
		return nil, false
	}
	return tables.flags(), true
}

// EtcdGates gives the feature gates of an etcd by name; ok is false when they
// are not known.
func EtcdGates(version string) (gates map[string]Gate, ok bool) {
	tables, ok := etcdOf(version)
	if !ok {
		return nil, false
	}
	return maps.Clone(tables.gates()), true
}

func etcdOf(version string) (etcdTables, bool) {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return etcdTables{}, false
	}
	minor, _, _ := strings.Cut(parts[1], "-")
	tables, ok := byEtcd[parts[0]+"."+minor]
	return tables, ok
}

// FlagMinors lists the supported minors in which a program has the flag, oldest
// first, so that a message can say when it came or went.
func FlagMinors(component, name string) []Version {
	var have []Version
	for _, v := range Minors() {
		if t, ok := Flags(v, component); ok {
			if _, ok := t.Find(name); ok {
				have = append(have, v)
			}
		}
	}
	return have
}
