package binaries

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os/exec"
	"regexp"
	"runtime/debug"
	"strings"
	"time"
)

// versionTimeout is for a loaded machine: kube-apiserver takes a second to
// begin when its pages are not in memory yet.
const versionTimeout = 30 * time.Second

var versionPattern = regexp.MustCompile(`\bv?([0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)`)

// versionArgs are what makes a program tell its version, where it is not --version.
var versionArgs = map[string][]string{
	"etcdctl": {"version"},
	"kubeadm": {"version", "-o", "short"},
	"kubectl": {"version", "--client"},
}

// unstamped is the module of a program that has no flag for its version.
var unstamped = map[string]string{"apiextensions-apiserver": "k8s.io/apiextensions-apiserver"}

// Version asks a program for its version, without a v: "1.37.2". That of
// apiextensions-apiserver, which does not tell, is its module's: "0.37.2".
func (s Set) Version(ctx context.Context, name string) (string, error) {
	path := s.paths[name]
	if path == "" {
		return "", fmt.Errorf("%s is not in this set of programs", name)
	}
	if module := unstamped[name]; module != "" {
		return moduleVersion(path, module)
	}
	args := versionArgs[name]
	if args == nil {
		args = []string{"--version"}
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", path, strings.Join(args, " "), err)
	}
	found := versionPattern.FindSubmatch(out)
	if found == nil {
		return "", fmt.Errorf("%s %s: no version in its answer", path, strings.Join(args, " "))
	}
	return string(found[1]), nil
}

// moduleVersion reads the version of a module out of a program built with it.
func moduleVersion(path, module string) (string, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("version of %s: %w", path, err)
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path != module {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		return strings.TrimPrefix(m.Version, "v"), nil
	}
	return "", fmt.Errorf("version of %s: it was not built from %s", path, module)
}
