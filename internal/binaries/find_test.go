package binaries

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// program writes something that answers like a program of the given version.
func program(t *testing.T, dir, name, says string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho '"+says+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func table(t *testing.T) builds {
	t.Helper()
	b, err := parseBuilds(buildsText)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFindInADirectory(t *testing.T) {
	dir := t.TempDir()
	program(t, dir, "etcd", "etcd Version: 3.7.3")
	program(t, dir, "kube-apiserver", "Kubernetes v1.36.3")
	set, err := Find("v1.36.3", dir, "etcd", "kube-apiserver")
	if err != nil {
		t.Fatal(err)
	}
	if set.Path("etcd") != filepath.Join(dir, "etcd") || set.Path("kwok") != "" || set.Kubernetes != "1.36.3" {
		t.Errorf("found %+v", set)
	}
	if diff := cmp.Diff([]string{"etcd", "kube-apiserver"}, set.Names()); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{"etcd": "3.7.3", "kube-apiserver": "1.36.3"} {
		got, err := set.Version(t.Context(), name)
		if err != nil || got != want {
			t.Errorf("%s: version %q, %v; want %s", name, got, err, want)
		}
	}
	if _, err := set.Version(t.Context(), "kwok"); err == nil {
		t.Error("a program outside the set has a version")
	}
}

// Everything that is missing is named at once, with the command for all of it.
func TestMissingNamesEverything(t *testing.T) {
	dir := t.TempDir()
	program(t, dir, "etcd", "etcd Version: 3.7.3")
	program(t, dir, "kwok", "kwok version v0.8.0") // without its stages
	if err := os.WriteFile(filepath.Join(dir, "kube-scheduler"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kubernetes, dir string
		missing         []string
		command         string
	}{
		{"1.36.3", dir, []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "apiextensions-apiserver"},
			`make binaries K8S=1.36.3 BINARIES="kube-apiserver kube-controller-manager kube-scheduler kwok apiextensions-apiserver"`},
		{"", t.TempDir(), ControlPlane(), `make binaries BINARIES="` + strings.Join(ControlPlane(), " ") + `"`},
	} {
		_, err := Find(c.kubernetes, c.dir)
		var missing *Missing
		if !errors.As(err, &missing) {
			t.Fatalf("Find: %v", err)
		}
		if diff := cmp.Diff(c.missing, missing.Names); diff != "" {
			t.Error(diff)
		}
		if missing.Command != c.command {
			t.Errorf("command %s, want %s", missing.Command, c.command)
		}
		for _, want := range append(c.missing, c.dir, c.command) {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error does not say %q:\n%v", want, err)
			}
		}
	}
}

// Programs that are not built from the modules of Kubernetes need no K8S.
func TestCommandWithoutKubernetes(t *testing.T) {
	_, err := Find("1.36.3", t.TempDir(), "etcd")
	var missing *Missing
	if !errors.As(err, &missing) || missing.Command != `make binaries BINARIES="etcd"` {
		t.Errorf("error %v", err)
	}
}

func TestUnknownProgram(t *testing.T) {
	if _, err := Find("", t.TempDir(), "etdc"); err == nil || !strings.Contains(err.Error(), "etcd, kube-apiserver") {
		t.Errorf("error %v does not say what there is", err)
	}
}

// The script looks where this package looks: given the programs at the places
// that the package names, it has nothing to build. Both read one table.
func TestCacheIsWhereTheScriptBuilds(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	b := table(t)
	for _, kubernetes := range []string{"", "1.36.3"} {
		for _, name := range b.names {
			dir := b.dir(filepath.Join(cache, "seams", "bin"), name, kubernetes)
			program(t, dir, name, name)
			if name == "kwok" {
				if err := os.WriteFile(filepath.Join(dir, Stages), []byte("kind: Stage\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		build := exec.Command(filepath.Join("..", "..", "hack", "build-binaries.sh"))
		build.Env = append(os.Environ(), "K8S="+kubernetes, "ETCD=", "KWOK=", "COREDNS=")
		out, err := build.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if strings.Contains(string(out), " build ") || strings.Count(string(out), " have ") != len(b.names) {
			t.Errorf("the script builds what is there:\n%s", out)
		}
		set, err := Find(kubernetes, "", b.names...)
		if err != nil {
			t.Fatal(err)
		}
		if set.KwokStages() == "" {
			t.Error("no stages for kwok")
		}
	}
}

func TestTable(t *testing.T) {
	b := table(t)
	for _, name := range ControlPlane() {
		if !slices.Contains(b.names, name) {
			t.Errorf("%s is not built", name)
		}
	}
	for _, line := range []string{"build etcd", "make etcd etcd", "build etcd nowhere pkg"} {
		if _, err := parseBuilds(line); err == nil {
			t.Errorf("%q is taken", line)
		}
	}
	if got := rest("ldflags etcd       -s  -w", 2); got != "-s  -w" {
		t.Errorf("rest is %q", got)
	}
}

// The side modules are of the versions that the table builds by default.
func TestSideModulesMatchTheTable(t *testing.T) {
	b := table(t)
	owners := map[string]string{
		"kubernetes": "k8s.io/kubernetes", "etcd": "go.etcd.io/etcd/server/v3", "kwok": "sigs.k8s.io/kwok",
		"containerd": "github.com/containerd/containerd/v2", "cni": "github.com/containernetworking/plugins",
		"coredns": "github.com/coredns/coredns", "cri-tools": "sigs.k8s.io/cri-tools", "kind": "sigs.k8s.io/kind",
	}
	for module := range b.version {
		owner := owners[module]
		if owner == "" {
			t.Errorf("module %s: of what?", module)
		}
		data, err := os.ReadFile(filepath.Join("..", "..", "hack", "binaries", module, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		if want := owner + " " + b.version[module]; !strings.Contains(string(data), want) {
			t.Errorf("hack/binaries/%s/go.mod does not require %s", module, want)
		}
	}
}
