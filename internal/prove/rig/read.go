package rig

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kubeseams/seams/internal/file"
)

// ReadDir takes the files below a directory, as render has written them.
func ReadDir(dir string) ([]file.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var files []file.File
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := fs.ReadFile(root.FS(), name)
		files = append(files, file.File{Path: filepath.ToSlash(name), Data: data})
		return err
	})
	return files, err
}
