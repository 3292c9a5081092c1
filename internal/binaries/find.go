package binaries

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Stages is the file beside kwok that it has to be given through --config.
const Stages = "kwok-stages.yaml"

// ControlPlane are the programs that a control plane of static pods, its fake
// nodes and its aggregated tiers are run from: what Find looks for when it is
// asked for nothing else.
func ControlPlane() []string {
	return []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "apiextensions-apiserver"}
}

// Set is programs that are there.
type Set struct {
	// Kubernetes is the version that was asked for, without its v. Programs of
	// a directory of the user's may be of another: Version asks them.
	Kubernetes string
	paths      map[string]string
	// foreign programs are of a directory of the user's.
	foreign bool
}

// Missing is the error about programs that are not there.
type Missing struct {
	// Names are all the missing ones, Dirs where each was looked for.
	Names, Dirs []string
	// Command builds them.
	Command string
}

func (m *Missing) Error() string {
	var b strings.Builder
	b.WriteString("missing programs:")
	for i, name := range m.Names {
		fmt.Fprintf(&b, "\n  %s (not in %s)", name, m.Dirs[i])
	}
	fmt.Fprintf(&b, "\nbuild them in a clone of the project: %s", m.Command)
	return b.String()
}

// Find finds programs of a version of Kubernetes ("1.37.2", with or without a
// v; empty means the version that is built by default): by their plain names in
// dir when it is not empty, else in the cache that make binaries fills. It looks
// for names, or for ControlPlane when there are none. What is missing is
// reported together, as a *Missing.
func Find(kubernetes, dir string, names ...string) (Set, error) {
	table, err := parseBuilds(buildsText)
	if err != nil {
		return Set{}, err
	}
	cache, err := cacheDir()
	if err != nil && dir == "" {
		return Set{}, err
	}
	if len(names) == 0 {
		names = ControlPlane()
	}
	set := Set{Kubernetes: strings.TrimPrefix(table.versionOf("kube-apiserver", kubernetes), "v"), paths: map[string]string{}, foreign: dir != ""}
	missing := &Missing{}
	for _, name := range names {
		if !table.known(name) {
			return Set{}, fmt.Errorf("no program called %q is known; there are %s", name, strings.Join(table.names, ", "))
		}
		in := dir
		if in == "" {
			in = table.dir(cache, name, kubernetes)
		}
		if in, err = filepath.Abs(in); err != nil {
			return Set{}, err
		}
		set.paths[name] = filepath.Join(in, name)
		if !there(in, name) {
			missing.Names, missing.Dirs = append(missing.Names, name), append(missing.Dirs, in)
		}
	}
	if len(missing.Names) > 0 {
		missing.Command = command(table, set.Kubernetes, missing.Names)
		return Set{}, missing
	}
	return set, nil
}

// there reports whether a program can be run, and kwok be given its stages.
func there(dir, name string) bool {
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return false
	}
	if name != "kwok" {
		return true
	}
	info, err = os.Stat(filepath.Join(dir, Stages))
	return err == nil && info.Mode().IsRegular()
}

// command is the make command that builds names.
func command(table builds, kubernetes string, names []string) string {
	words := []string{"make", "binaries"}
	ours := slices.ContainsFunc(names, func(name string) bool { return table.module[name] == "kubernetes" })
	if ours && "v"+kubernetes != table.version["kubernetes"] {
		words = append(words, "K8S="+kubernetes)
	}
	return strings.Join(append(words, fmt.Sprintf("BINARIES=%q", strings.Join(names, " "))), " ")
}

// cacheDir is where hack/build-binaries.sh builds to.
func cacheDir() (string, error) {
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no cache of programs: %w", err)
		}
		cache = filepath.Join(home, ".cache")
	}
	return filepath.Join(cache, "seams", "bin"), nil
}

// Path is where a program is; empty when it was not asked for.
func (s Set) Path(name string) string { return s.paths[name] }

// KwokStages is the file for kwok's --config; empty without kwok.
func (s Set) KwokStages() string {
	if s.paths["kwok"] == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(s.paths["kwok"]), Stages)
}

// Names are the programs of the set, sorted.
func (s Set) Names() []string {
	var names []string
	for name := range s.paths {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
