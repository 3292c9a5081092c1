package cli

import (
	"fmt"
	"math"
	"strings"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/quantity"
)

// withUnit writes a number as people read it: "1,200 writes/s", "0.35", "2.4 GiB".
func withUnit(v float64, unit string) string {
	switch unit {
	case "bytes":
		return quantity.Bytes(v)
	case "bytes/s":
		return quantity.Bytes(v) + "/s"
	case "ratio", "":
		return quantity.Ratio(v)
	}
	return quantity.With(v, unit)
}

// The short names of what package quantity does.
func ratio(v float64) string     { return quantity.Ratio(v) }
func count(v float64) string     { return quantity.Count(v) }
func bytesText(v float64) string { return quantity.Bytes(v) }

// band writes a figure with its range.
func band(f estimate.Figure) string {
	if f.Low == f.Value && f.High == f.Value {
		return withUnit(f.Value, f.Unit)
	}
	return fmt.Sprintf("%s (%s to %s)", withUnit(f.Value, f.Unit), withUnit(f.Low, f.Unit), withUnit(f.High, f.Unit))
}

// gauge draws a pressure as a bar whose full length is the wall; what lies past it ends in an arrow.
func gauge(v float64) string {
	const width = 20
	full := int(math.Round(min(v, 1) * width))
	bar := strings.Repeat("█", full) + strings.Repeat("░", width-full)
	if v > 1 {
		bar += "▶"
	}
	return bar
}

// gaugeColour is green well below the wall, yellow near it and red past it.
func gaugeColour(v float64) colour {
	switch {
	case v >= 1:
		return red
	case v >= 0.6:
		return yellow
	}
	return green
}
