package cli

import (
	"fmt"
	"io"
	"path"

	"github.com/kubeseams/seams/internal/diff"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/lint/read"
)

// readExisting reads what runs today: one file, standard input, or the files of
// a directory that are of a kind to compare.
func readExisting(stdin io.Reader, name string) ([]file.File, error) {
	source := &lintFiles{stdin: stdin, paths: []string{name}, also: diff.IsPlain}
	if err := source.check(); err != nil {
		return nil, err
	}
	var (
		files []file.File
		err   error
	)
	for entry, bad := range source.entries {
		if bad != nil {
			return nil, fmt.Errorf("%s: %w", entry.Path, bareError(bad))
		}
		var data []byte
		if data, err = readOne(source, entry.Path); err != nil {
			return nil, err
		}
		if entry.Named || isCompared(entry.Path, data) {
			files = append(files, file.File{Path: entry.Path, Data: data})
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no configuration to compare: want kubeadm's or kOps' documents, or static pod manifests", name)
	}
	return files, nil
}

func readOne(source *lintFiles, name string) ([]byte, error) {
	f, err := source.open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, bareError(err))
	}
	defer f.Close()
	data, err := read.All(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// isCompared tells whether a file of a tree is of a kind to compare.
func isCompared(name string, data []byte) bool {
	kinds := read.Kubeadm | read.Component | read.ConfigMap | read.Pod | read.Kops
	return diff.IsPlain(name) || diff.HasObjects(data) || path.Base(path.Dir(name)) == "patches" && read.IsPatchName(path.Base(name)) || read.Of(name, data, false).Has(kinds)
}
