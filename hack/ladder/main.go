// Command ladder evaluates the embedded rungs of the ladder, and every set of
// them that can be chosen, so that no render has to: CUE would take longer over
// them than over everything else.
//
//	go run ./hack/ladder > internal/recipe/data/ladder.jsonl.gz
package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"

	"github.com/kubeseams/seams/internal/recipe"
)

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "ladder:", err)
		os.Exit(2)
	}
}

// write packs the lines without name and time, so that the same ladder gives
// the same bytes.
func write(w io.Writer) error {
	lines, err := recipe.Evaluate()
	if err != nil {
		return err
	}
	packed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := packed.Write(lines); err != nil {
		return err
	}
	return packed.Close()
}
