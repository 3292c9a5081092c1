package target

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
)

// Pack makes the archive that this package embeds out of the directory with
// the tables, which hack/update-minors.sh writes. Equal tables give equal bytes:
// files are in order and without time. Errors: a file that cannot be read.
func Pack(tables fs.FS) ([]byte, error) {
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	err := fs.WalkDir(tables, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(tables, name)
		if err != nil {
			return err
		}
		w, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("pack tables: %w", err)
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("pack tables: %w", err)
	}
	return b.Bytes(), nil
}
