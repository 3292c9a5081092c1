// Package cluster brings up what is rendered for kind as node containers. It is
// for tests and for hack/kind: nothing of the program imports it.
package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ownImages begins the names of images that hack/kind makes: without kindnetd.
const ownImages = "seams/kind-node:"

// Options say what to bring up and by what.
type Options struct {
	// Dir is what seams render --target kind wrote.
	Dir string
	// Image is the node image, of the Kubernetes version that Dir is rendered for.
	Image string
	// Kind and Kubectl are paths of the programs.
	Kind, Kubectl string
	// Record, when it is not empty, is a file that gets the name of every
	// cluster that is begun, for whoever cleans up after an interrupt.
	Record string
	// Talk gets what kind says.
	Talk io.Writer
}

// ownImage reports whether the node image is one of hack/kind, which has no
// network of its own.
func (o Options) ownImage() bool { return strings.HasPrefix(o.Image, ownImages) }

// Cluster is one that was begun.
type Cluster struct {
	// Name as rendered, and that of its nodes as kind makes them.
	Name string
	// Kubeconfig is of an administrator; it is removed by Delete.
	Kubeconfig string
	options    Options
}

// Create brings a cluster up and returns when its nodes are Ready. It returns
// a Cluster with an error too once kind has begun, to take logs and delete it.
func Create(ctx context.Context, o Options) (*Cluster, error) {
	name, err := adapt(o.Dir, o.ownImage(), onCgroupV1())
	if err != nil {
		return nil, err
	}
	if err := record(o.Record, name); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Name: name, Kubeconfig: filepath.Join(dir, "kubeconfig"), options: o}
	create := exec.CommandContext(ctx, o.Kind, "create", "cluster", "--config", localConfig, "--image", o.Image,
		"--kubeconfig", c.Kubeconfig, "--retain", "--wait", "0s")
	create.Dir, create.Stdout, create.Stderr = dir, o.Talk, o.Talk
	if err := create.Run(); err != nil {
		return c, fmt.Errorf("kind create cluster %s: %w", name, err)
	}
	if err := c.wire(ctx); err != nil {
		return c, err
	}
	_, err = c.Kubectl(ctx, "wait", "--for=condition=Ready", "nodes", "--all", "--timeout=180s")
	return c, err
}

// record appends a name to a file.
func record(file, name string) error {
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("record the cluster: %w", err)
	}
	_, err = fmt.Fprintln(f, name)
	return errors.Join(err, f.Close())
}

// Delete takes the cluster down, with its kubeconfig.
func (c *Cluster) Delete(ctx context.Context) error {
	return errors.Join(Delete(ctx, c.options.Kind, c.Name, c.Kubeconfig), os.RemoveAll(c.Kubeconfig))
}

// Logs writes the logs of nodes and pods below a directory.
func (c *Cluster) Logs(ctx context.Context, dir string) error {
	_, err := run(ctx, nil, c.options.Kind, "export", "logs", dir, "--name", c.Name)
	return err
}

// Nodes are the names of the node containers, which are those of the nodes. kind
// counts its balancer among them, which is none.
func (c *Cluster) Nodes(ctx context.Context) ([]string, error) {
	out, err := run(ctx, nil, c.options.Kind, "get", "nodes", "--name", c.Name)
	nodes := slices.DeleteFunc(strings.Fields(out), func(n string) bool { return n == c.Name+"-external-load-balancer" })
	return nodes, err
}

// Load imports an image archive (docker save, or an OCI layout) into all nodes.
func (c *Cluster) Load(ctx context.Context, archive string) error {
	_, err := run(ctx, nil, c.options.Kind, "load", "image-archive", archive, "--name", c.Name)
	return err
}

// Kubectl runs kubectl as an administrator and gives its standard output.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) (string, error) {
	return run(ctx, nil, c.options.Kubectl, append([]string{"--kubeconfig", c.Kubeconfig}, args...)...)
}

// Apply creates or changes the objects of a manifest.
func (c *Cluster) Apply(ctx context.Context, manifest string) error {
	_, err := run(ctx, strings.NewReader(manifest), c.options.Kubectl, "--kubeconfig", c.Kubeconfig, "apply", "-f", "-")
	return err
}

// Exec runs a command in a node container and gives its standard output.
func (c *Cluster) Exec(ctx context.Context, node string, args ...string) (string, error) {
	return run(ctx, nil, "docker", append([]string{"exec", node}, args...)...)
}

// Stop ends a node as a loss of power does, and waits for nothing.
func (c *Cluster) Stop(ctx context.Context, node string) error {
	_, err := run(ctx, nil, "docker", "kill", node)
	return err
}

// Start brings a node back that was stopped. Its routes went with its network.
func (c *Cluster) Start(ctx context.Context, node string) error {
	if _, err := run(ctx, nil, "docker", "start", node); err != nil {
		return err
	}
	return c.wire(ctx)
}

// Until tries until f is satisfied; its error is the last of f's.
func Until(ctx context.Context, limit time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := f(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %s: %w", limit, err)
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// run gives the standard output of a command; its error has what it said.
func run(ctx context.Context, stdin io.Reader, program string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &stdout, &stderr
	// A killed docker exec leaves its pipes to what it started.
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String(), nil
}
