package pki

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubeseams/seams/internal/file"
)

// Write puts files below a directory. Directories that it makes are for the
// owner only, and a file with a key is never there with wider permissions,
// not even for a moment or when it was there before.
func Write(dir string, files []file.File) error {
	for _, f := range files {
		mode := f.Mode
		if mode == 0 {
			mode = 0o644
		}
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
			return fmt.Errorf("%s: not below the directory to write to", f.Path)
		}
		name := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			return err
		}
		if err := os.WriteFile(name, f.Data, mode); err != nil {
			return err
		}
	}
	return nil
}
