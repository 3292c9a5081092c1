// Command kopsschema turns kOps' custom resource definitions into the two
// forms this project uses: closed CUE definitions in schemas/kops, one package
// per kOps minor, and compact schemas that the checker embeds.
//
// The definitions are kept beside this program, compressed and without their
// descriptions: names and types are all that is used of them.
//
//	go run ./hack/kopsschema                   regenerate from the kept copies
//	go run ./hack/kopsschema -import DIR       first take DIR/vX.Y.Z/{clusters,instancegroups}.yaml as copies
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "root of the repository")
	from := flag.String("import", "", "directory of vX.Y.Z directories with clusters.yaml and instancegroups.yaml to take over")
	flag.Parse()
	if err := run(*root, *from); err != nil {
		fmt.Fprintln(os.Stderr, "kopsschema:", err)
		os.Exit(2)
	}
}

func run(root, from string) error {
	crds := filepath.Join(root, "hack", "kopsschema", "crds")
	if from != "" {
		if err := importCRDs(from, crds); err != nil {
			return fmt.Errorf("import from %s: %w", from, err)
		}
	}
	releases, err := readReleases(crds)
	if err != nil {
		return err
	}
	files, err := generate(releases)
	if err != nil {
		return err
	}
	for path, data := range files {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate gives the content of every generated file by its path below the
// root of the repository.
func generate(releases []release) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, r := range releases {
		definitions, err := r.cue()
		if err != nil {
			return nil, fmt.Errorf("kOps %s: %w", r.version, err)
		}
		files["schemas/kops/"+r.packageName()+"/kops.cue"] = definitions
		data, err := r.compact()
		if err != nil {
			return nil, fmt.Errorf("kOps %s: %w", r.version, err)
		}
		files["internal/check/kops/data/"+r.packageName()+".json.gz"] = data
	}
	return files, nil
}
