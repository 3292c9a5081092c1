// Command ladder evaluates the embedded rungs of the ladder, and every set of
// them that can be chosen, so that no render has to: CUE would take longer over
// them than over everything else.
//
//	go run ./hack/ladder > internal/recipe/data/ladder.jsonl
package main

import (
	"fmt"
	"os"

	"github.com/kubeseams/seams/internal/recipe"
)

func main() {
	data, err := recipe.Evaluate()
	if err == nil {
		_, err = os.Stdout.Write(data)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ladder:", err)
		os.Exit(2)
	}
}
