package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// gate is one line of gates.json.
type gate struct {
	Name    string `json:"name"`
	Stage   string `json:"stage"`
	Default bool   `json:"default,omitempty"`
	Locked  bool   `json:"locked,omitempty"`
	// Since is the minor from which the stage and default hold, where upstream's list says it.
	Since string `json:"since,omitempty"`
	// NotIn are the programs that do not know the gate.
	NotIn []string `json:"notIn,omitempty"`
	// FlippedIn are the programs that begin with the other default.
	FlippedIn []string `json:"flippedIn,omitempty"`
}

// writeGates writes the gates as the programs have them. Upstream's list of
// versioned gates gives the minor since when; it lacks client-go's gates, and
// a patch release may have another default than it says. Without programs the
// list is all there is.
func writeGates(source, minor, dir string, programs []dumped) error {
	list, err := listedGates(source, minor)
	if err != nil {
		return err
	}
	gates := list
	if len(programs) > 0 {
		gates, err = programGates(programs, list)
		if err != nil {
			return err
		}
	}
	if len(gates) < 100 {
		return fmt.Errorf("only %d gates of %s: has the list moved?", len(gates), minor)
	}
	return writeLines(filepath.Join(dir, "gates.json"), sortedGates(gates))
}

// writeEtcdGates writes the gates of etcd, of which there is no list.
func writeEtcdGates(programs []dumped, dir string) error {
	gates, err := programGates(programs, nil)
	if err != nil {
		return err
	}
	if len(gates) == 0 {
		return fmt.Errorf("etcd has no feature gates: have they moved?")
	}
	return writeLines(filepath.Join(dir, "gates.json"), sortedGates(gates))
}

func sortedGates(gates map[string]gate) []gate {
	return slices.SortedFunc(maps.Values(gates), func(a, b gate) int { return cmp.Compare(a.Name, b.Name) })
}

// programGates joins the gates of the programs. A program may set another
// default for itself, as the controller manager of 1.34 does for
// WatchListClient; two that disagree about a stage cannot be written down.
func programGates(programs []dumped, list map[string]gate) (map[string]gate, error) {
	gates := map[string]gate{}
	on := map[string][]string{}
	off := map[string][]string{}
	for _, p := range programs {
		for name, spec := range p.Gates {
			g := gate{Name: name, Stage: spec.Stage, Locked: spec.Locked}
			if listed := list[name]; listed.Stage == g.Stage {
				g.Since = listed.Since
			}
			if have, ok := gates[name]; ok && (have.Stage != g.Stage || have.Locked != g.Locked) {
				return nil, fmt.Errorf("gate %s is %v in %s and %v elsewhere", name, spec, p.Component, have)
			}
			gates[name] = g
			if spec.Default {
				on[name] = append(on[name], p.Component)
			} else {
				off[name] = append(off[name], p.Component)
			}
		}
	}
	for name, g := range gates {
		for _, p := range programs {
			if _, ok := p.Gates[name]; !ok {
				g.NotIn = append(g.NotIn, p.Component)
			}
		}
		g.Default, g.FlippedIn = len(on[name]) > len(off[name]), off[name]
		if !g.Default {
			g.FlippedIn = on[name]
		}
		gates[name] = g
	}
	return gates, nil
}

// listedGates evaluates upstream's list of versioned gates at one minor.
func listedGates(source, minor string) (map[string]gate, error) {
	data, err := os.ReadFile(filepath.Join(source, "test", "compatibility_lifecycle", "reference", "versioned_feature_list.yaml"))
	if err != nil {
		return nil, err
	}
	var list []struct {
		Name           string `yaml:"name"`
		VersionedSpecs []struct {
			Default       bool   `yaml:"default"`
			LockToDefault bool   `yaml:"lockToDefault"`
			PreRelease    string `yaml:"preRelease"`
			Version       string `yaml:"version"`
		} `yaml:"versionedSpecs"`
	}
	if err := yaml.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	gates := map[string]gate{}
	for _, f := range list {
		g := gate{Name: f.Name}
		for _, s := range f.VersionedSpecs {
			// The specs are in the order of their versions; the last that is not newer counts.
			if order(s.Version) > order(minor) {
				continue
			}
			g.Stage, g.Default, g.Locked, g.Since = strings.ToUpper(s.PreRelease), s.Default, s.LockToDefault, s.Version
		}
		if g.Stage != "" {
			gates[g.Name] = g
		}
	}
	return gates, nil
}

// order makes MAJOR.MINOR comparable; a malformed version sorts last.
func order(version string) int {
	major, minor, _ := strings.Cut(version, ".")
	a, err1 := strconv.Atoi(major)
	b, err2 := strconv.Atoi(minor)
	if err1 != nil || err2 != nil {
		return 1 << 30
	}
	return a*1000 + b
}

var defaultEtcd = regexp.MustCompile(`DefaultEtcdVersion = "([^"]+)"`)

// writeRelease writes what kubeadm of this minor installs besides Kubernetes.
func writeRelease(source, dir string) error {
	data, err := os.ReadFile(filepath.Join(source, "cmd", "kubeadm", "app", "constants", "constants.go"))
	if err != nil {
		return err
	}
	m := defaultEtcd.FindSubmatch(data)
	if m == nil {
		return fmt.Errorf("no DefaultEtcdVersion in kubeadm's constants")
	}
	type release struct {
		EtcdImageTag string `json:"etcdImageTag"`
	}
	return writeLines(filepath.Join(dir, "release.json"), []release{{string(m[1])}})
}
