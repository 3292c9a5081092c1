package target

import (
	"archive/zip"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"sync"
)

// packed is the directory data, which hack/update-minors.sh writes from the
// modules of each minor, one directory a minor: half a megabyte, which the
// archive is a ninth of. A table is unpacked and parsed when it is first asked
// for.
//
//go:embed data.zip
var packed string

// data opens the archive. It is part of the program and a test reads all of
// it, so that one that does not open is a bug, not an error.
var data = sync.OnceValue(func() fs.FS {
	archive, err := zip.NewReader(strings.NewReader(packed), int64(len(packed)))
	if err != nil {
		panic(fmt.Errorf("data.zip: %w", err))
	}
	return archive
})

// minorTables are the tables of one Kubernetes minor.
type minorTables struct {
	resources func() resourceTable
	gates     func() map[string]Gate
	flags     func() map[string]*FlagTable
	release   func() release
}

// release is what kubeadm of a minor installs besides Kubernetes.
type release struct {
	EtcdImageTag string `json:"etcdImageTag"`
}

var byMinor = func() map[int]minorTables {
	tables := map[int]minorTables{}
	for m := MinKubernetes; m <= MaxKubernetes; m++ {
		dir := fmt.Sprintf("1.%d/", m)
		tables[m] = minorTables{
			resources: sync.OnceValue(func() resourceTable { return newResourceTable(rows[Resource](dir + "resources.json")) }),
			gates:     sync.OnceValue(func() map[string]Gate { return newGateTable(rows[Gate](dir + "gates.json")) }),
			flags:     sync.OnceValue(func() map[string]*FlagTable { return newFlagTables(dir + "flags.json") }),
			release:   sync.OnceValue(func() release { return rows[release](dir + "release.json")[0] }),
		}
	}
	return tables
}()

// tablesOf gives the tables of a version's minor; a version outside the
// supported range, or none, is judged by the nearest minor, which for a zero
// version is the newest.
func tablesOf(v Version) minorTables {
	m := v.Minor
	switch {
	case v.IsZero() || v.Major > 1 || m > MaxKubernetes:
		m = MaxKubernetes
	case v.Major < 1 || m < MinKubernetes:
		m = MinKubernetes
	}
	return byMinor[m]
}

// rows parses one embedded table. The files are part of the program and a test
// reads each of them, so that one that does not parse is a bug, not an error.
func rows[T any](path string) []T {
	text, err := fs.ReadFile(data(), path)
	if err != nil {
		panic(err)
	}
	var out []T
	if err := json.Unmarshal(text, &out); err != nil {
		panic(fmt.Errorf("%s: %w", path, err))
	}
	return out
}

// has reports whether a table is there; flags are not known for every version.
func has(path string) bool {
	f, err := data().Open(path)
	if err != nil {
		return false
	}
	f.Close() // an embedded file: closing cannot fail
	return true
}

// EtcdVersion is the etcd that kubeadm of this minor installs, as the tag of
// its image: "3.7.0-0" (DefaultEtcdVersion in kubeadm's constants).
func EtcdVersion(kubernetes Version) string { return tablesOf(kubernetes).release().EtcdImageTag }
