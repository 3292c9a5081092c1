// Command calibration writes docs/calibration.md from the records of the
// project's own runs.
package main

import (
	"fmt"
	"os"

	"github.com/kubeseams/seams/internal/prove"
)

func main() {
	records, err := prove.Records(os.DirFS("."), prove.EvidenceDir)
	if err == nil {
		err = os.WriteFile("docs/calibration.md", []byte(prove.Calibration(records)), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "calibration:", err)
		os.Exit(1)
	}
}
