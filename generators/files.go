package generators

import (
	"fmt"
	"io/fs"

	"github.com/kubeseams/seams/internal/file"
)

// Writer collects the files of one generator. After an error it does nothing
// more, so that a generator looks at it once, in Files.
type Writer struct {
	files []file.File
	err   error
}

// Configs adds a file of component configurations.
func (w *Writer) Configs(path string, objects ...any) { w.add(path, Configs, objects) }

// Objects adds a file of API objects.
func (w *Writer) Objects(path string, objects ...any) { w.add(path, Objects, objects) }

// Text adds a file that is no YAML: a script, a recipe for an image. A mode of 0
// is a plain file's.
func (w *Writer) Text(path, text string, mode fs.FileMode) {
	if w.err == nil {
		w.files = append(w.files, file.File{Path: path, Data: []byte(text), Mode: mode})
	}
}

// Fail makes the writer's result an error about a file.
func (w *Writer) Fail(path string, err error) {
	if w.err == nil && err != nil {
		w.err = fmt.Errorf("%s: %w", path, err)
	}
}

// Files gives the files by path, or the first error.
func (w *Writer) Files() ([]file.File, error) {
	if w.err != nil {
		return nil, w.err
	}
	file.Sort(w.files)
	return w.files, nil
}

func (w *Writer) add(path string, serialise func(...any) ([]byte, error), objects []any) {
	if w.err != nil {
		return
	}
	data, err := serialise(objects...)
	if err != nil {
		w.Fail(path, err)
		return
	}
	w.files = append(w.files, file.File{Path: path, Data: data})
}
