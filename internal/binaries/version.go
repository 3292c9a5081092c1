package binaries

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/kubeseams/seams/internal/pattern"
)

// versionTimeout is for a loaded machine: kube-apiserver takes a second to
// begin when its pages are not in memory yet.
const versionTimeout = 30 * time.Second

var versionPattern = pattern.Of(`\bv?([0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)`)

// versionArgs are what makes a program tell its version, where it is not --version.
var versionArgs = map[string][]string{
	"etcdctl": {"version"},
	"kubeadm": {"version", "-o", "short"},
	"kubectl": {"version", "--client"},
}

// unstamped is a program that has no flag for its version.
const unstamped = "apiextensions-apiserver"

// Version asks a program for its version, without a v: "1.37.2". That of
// apiextensions-apiserver, which does not tell, is known of one that was built
// here: its module's, "0.37.2". Reading it out of the file would cost this
// program half a megabyte of object file readers.
func (s Set) Version(ctx context.Context, name string) (string, error) {
	path := s.paths[name]
	if path == "" {
		return "", fmt.Errorf("%s is not in this set of programs", name)
	}
	if name == unstamped {
		if s.foreign {
			return "", fmt.Errorf("%s does not tell its version", path)
		}
		return "0" + strings.TrimPrefix(s.Kubernetes, "1"), nil
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
	found := versionPattern().FindSubmatch(out)
	if found == nil {
		return "", fmt.Errorf("%s %s: no version in its answer", path, strings.Join(args, " "))
	}
	return string(found[1]), nil
}
