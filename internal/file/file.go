// Package file is the value that travels over the last two arrows,
// generators → files → check: a named text that is not on disk yet.
package file

import (
	"cmp"
	"io/fs"
	"slices"
)

// File is one rendered file.
type File struct {
	// Path is relative to the output directory, with forward slashes.
	Path string
	// Data is the content, without the tool's header comment.
	Data []byte
	// Mode is the permission bits; 0 means 0644. Files with keys are 0600.
	Mode fs.FileMode
}

// How the lines of the header begin that is put before a file's content: what
// rendered it, for which profile, by which recipe.
const (
	RenderedBy = "Rendered by seams "
	OfProfile  = "Profile "
	ByRecipe   = "Recipe "
)

// Sort orders files by path.
func Sort(files []File) {
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
}
