// Package yamltext treats YAML as the text its author wrote: it splits a
// stream without decoding it, says on which line a field stands, and changes
// single fields while every other byte stays. It knows nothing of kOps or of
// any other part of this program.
package yamltext
