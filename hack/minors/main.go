// Command minors writes the tables of package target for one Kubernetes minor,
// from that minor's own module: which resources kube-apiserver compiles in,
// which feature gates exist and at which stage, and which flags its programs
// take. hack/update-minors.sh runs it for every supported minor.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubeseams/seams/internal/target"
)

func main() {
	var o options
	flag.StringVar(&o.minor, "minor", "", "minor to write, such as 1.37, or the etcd minor, such as 3.7, with -etcd")
	flag.StringVar(&o.source, "source", "", "directory of the k8s.io/kubernetes module of that minor (of go.etcd.io/etcd/server/v3 with -etcd)")
	flag.StringVar(&o.flags, "flags", "", "directory with the JSON files that the programs in hack/minors/flags printed; without it no table of flags is written")
	flag.StringVar(&o.out, "out", "", "directory to write, such as internal/target/data")
	flag.BoolVar(&o.etcd, "etcd", false, "write the table of an etcd minor")
	flag.BoolVar(&o.etcdArgs, "etcd-args", false, "only print the flags that etcd's main declares itself, as NAME=TYPE")
	flag.BoolVar(&o.versions, "versions", false, "only print the versions whose tables are kept, one a line")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "minors:", err)
		os.Exit(1)
	}
}

type options struct {
	minor, source, flags, out string
	etcd, etcdArgs, versions  bool
}

func run(o options) error {
	switch {
	case o.versions:
		for _, v := range target.Minors() {
			fmt.Println(v)
		}
		return nil
	case o.etcdArgs:
		args, err := etcdMainFlags(filepath.Join(o.source, "etcdmain", "config.go"))
		if err != nil {
			return err
		}
		fmt.Println(strings.Join(args, "\n"))
		return nil
	case o.minor == "" || o.out == "" || o.etcd && o.flags == "":
		return fmt.Errorf("-minor and -out are required, and -flags with -etcd")
	case o.source == "":
		return fmt.Errorf("-source is required")
	}
	programs, err := readDumps(o.flags)
	if err != nil {
		return err
	}
	if o.etcd {
		deprecated, err := etcdDeprecated(filepath.Join(o.source, "etcdmain", "config.go"))
		if err != nil {
			return err
		}
		dir := filepath.Join(o.out, "etcd-"+o.minor)
		if err := writeEtcdGates(programs, dir); err != nil {
			return err
		}
		return writeFlags(programs, dir, deprecated)
	}
	dir := filepath.Join(o.out, o.minor)
	if err := writeResources(o.source, dir); err != nil {
		return err
	}
	if err := writeGates(o.source, o.minor, dir, programs); err != nil {
		return err
	}
	if err := writeRelease(o.source, dir); err != nil {
		return err
	}
	return writeFlags(programs, dir, nil)
}
