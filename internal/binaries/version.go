package binaries

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
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

// Version asks a program for its version, without a v: "1.37.2".
func (s Set) Version(ctx context.Context, name string) (string, error) {
	path := s.paths[name]
	if path == "" {
		return "", fmt.Errorf("%s is not in this set of programs", name)
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
