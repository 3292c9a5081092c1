// Command calibration writes docs/calibration.md from the records of the
// project's own runs.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/kubeseams/seams/internal/prove"
	"github.com/kubeseams/seams/internal/recipe"
)

func main() {
	if err := write(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "calibration:", err)
		os.Exit(1)
	}
}

func write(ctx context.Context) error {
	records, err := prove.Records(os.DirFS("."), prove.EvidenceDir)
	if err != nil {
		return err
	}
	ladder, _, err := recipe.Load(recipe.Options{})
	if err != nil {
		return err
	}
	text, err := prove.Calibration(ctx, ladder, records)
	if err != nil {
		return err
	}
	return os.WriteFile("docs/calibration.md", []byte(text), 0o644)
}
