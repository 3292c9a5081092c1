package cli

import (
	"fmt"
	"math"
	"strings"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/quantity"
)

// The short names of what package quantity does.
func ratio(v float64) string     { return quantity.Ratio(v) }
func count(v float64) string     { return quantity.Count(v) }
func bytesText(v float64) string { return quantity.Bytes(v) }

// band writes a figure with its range.
func band(f estimate.Figure) string {
	if f.Low == f.Value && f.High == f.Value {
		return quantity.InUnit(f.Value, f.Unit)
	}
	return fmt.Sprintf("%s (%s to %s)", quantity.InUnit(f.Value, f.Unit), quantity.InUnit(f.Low, f.Unit), quantity.InUnit(f.High, f.Unit))
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
