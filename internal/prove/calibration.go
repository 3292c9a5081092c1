package prove

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/scrape"
)

// Calibration is docs/calibration.md: every measured figure that the estimator
// has, too, with how far apart they are. Errors: those of Predict.
func Calibration(ctx context.Context, ladder *recipe.Ladder, records map[string]*Record) (string, error) {
	var b strings.Builder
	b.WriteString(calibrationHead)
	rows, within := 0, 0
	for _, rung := range slices.Sorted(maps.Keys(records)) {
		r := records[rung]
		predicted, err := Predict(ctx, ladder, r)
		if err != nil {
			return "", fmt.Errorf("the record of %s: %w", rung, err)
		}
		for _, level := range r.Levels {
			for _, p := range predicted[level.Name] {
				rows++
				mark := "**outside**"
				if p.Within {
					within++
					mark = "within"
				}
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s to %s | %s | %s |\n", rung, level.Name, p.Metric,
					amount(p.Measured, p.Unit), amount(p.Predicted, p.Unit), amount(p.Low, p.Unit), amount(p.High, p.Unit), apart(p), mark)
			}
		}
	}
	fmt.Fprintf(&b, "\n%d of %d figures lie within their band.\n", within, rows)
	return b.String(), nil
}

const calibrationHead = `# The estimator beside measurements

Made from the records in ` + "`recipes/evidence`" + ` by ` + "`make generate`" + `. Each row is one figure of one run: what was
measured, what the estimator had said of the same load on the same layout, and its band. Error is measured over
estimated. A measurement outside its band means that the band is too narrow or the formula lacks something; the
constants and their sources are in [estimate.md](estimate.md). A measured rate is two readings of a counter, each up
to a second late: one that is 2 % outside the band still counts as within.

| rung | layout | figure | measured | estimated | band | error | |
|---|---|---|---|---|---|---|---|
`

// apart is the measured figure over the estimated one, as a difference in per cent.
func apart(p Prediction) string {
	if p.Predicted == 0 {
		return "-"
	}
	return fmt.Sprintf("%+.0f %%", (p.Measured/p.Predicted-1)*100)
}

// amount writes a number with three significant digits, bytes in MiB.
func amount(v float64, unit string) string {
	switch unit {
	case scrape.Bytes:
		return strconv.FormatFloat(v/(1<<20), 'f', 1, 64) + " MiB"
	case scrape.PerSecond:
		return strconv.FormatFloat(v, 'g', 3, 64) + "/s"
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
