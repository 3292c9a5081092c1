// Package seams holds the project's CUE module: the schemas a profile, a rung
// and a recipe must satisfy, and the ladder of rungs itself. The program
// embeds it, and the same files can be vetted and imported with plain cue.
package seams

import "embed"

// CUE is the module rooted at cue.mod, with schemas and recipes beneath it.
// schemas/kops stays out: no rung or profile is made from it, and the program
// judges kOps documents by the definitions that package check/kops packs.
//
//go:embed cue.mod schemas/*.cue recipes
var CUE embed.FS
