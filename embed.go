// Package seams holds the project's CUE module: the schemas a profile, a rung
// and a recipe must satisfy, and the ladder of rungs itself. The program
// embeds it, and the same files can be vetted and imported with plain cue.
package seams

import "embed"

// CUE is the module rooted at cue.mod, with schemas and recipes beneath it.
//
//go:embed cue.mod schemas recipes
var CUE embed.FS
