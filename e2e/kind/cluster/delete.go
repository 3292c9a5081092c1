package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// deletions is how often a deletion is tried: Docker gives up on a container
// after some ten seconds, and what kind had begun when it was interrupted may
// still be starting.
const deletions = 4

// freezers is where the hierarchy is on a host of cgroup v1.
const freezers = "/sys/fs/cgroup/freezer/docker"

// Delete takes a cluster down by its name; kind takes its context out of the
// kubeconfig. A cluster that is not there is deleted.
func Delete(ctx context.Context, kind, name, kubeconfig string) error {
	args := []string{"delete", "cluster", "--name", name}
	if kubeconfig != "" {
		args = append(args, "--kubeconfig", kubeconfig)
	}
	var err error
	for range deletions {
		if _, err = run(ctx, nil, kind, args...); err == nil || ctx.Err() != nil {
			return err
		}
		if thawErr := thaw(ctx, name); thawErr != nil {
			err = errors.Join(err, thawErr)
		}
	}
	return err
}

// thaw lets go of what a node's runc froze and did not live to thaw: it freezes
// a container while it sets its cgroup. On cgroup v1 a frozen process does not
// even die, and neither does the node that it runs in.
func thaw(ctx context.Context, name string) error {
	out, err := run(ctx, nil, "docker", "ps", "--all", "--quiet", "--no-trunc", "--filter", "label=io.x-k8s.kind.cluster="+name)
	if err != nil {
		return err
	}
	for _, id := range strings.Fields(out) {
		err = errors.Join(err, filepath.WalkDir(filepath.Join(freezers, id), thawed))
	}
	return err
}

// thawed thaws one cgroup. Those that end meanwhile are as good.
func thawed(path string, entry fs.DirEntry, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || entry.Name() != "freezer.state" {
		return err
	}
	state, err := os.ReadFile(path)
	if err != nil || bytes.Equal(bytes.TrimSpace(state), []byte("THAWED")) {
		return nil
	}
	if err := os.WriteFile(path, []byte("THAWED"), 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("thaw what a node left frozen: %w", err)
	}
	return nil
}
