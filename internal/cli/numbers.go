package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/kubeseams/seams/internal/estimate"
)

// quantity writes a number as people read it: "1,200", "0.35", "2.4 GiB".
func quantity(v float64, unit string) string {
	switch unit {
	case "bytes":
		return bytesText(v)
	case "bytes/s":
		return bytesText(v) + "/s"
	case "ratio", "":
		return ratio(v)
	}
	return count(v) + " " + unit
}

// ratio writes a pressure with two digits after the point, fewer when large.
func ratio(v float64) string {
	if v >= 100 {
		return count(v)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// count writes a number with thousands separators and no needless digits.
func count(v float64) string {
	if v != 0 && math.Abs(v) < 10 {
		return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0"), ".")
	}
	digits := strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// bytesText writes bytes in binary units, as memory and etcd quotas are sold.
func bytesText(v float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	i := 0
	for v >= 1024 && i < len(units)-1 {
		v /= 1024
		i++
	}
	if v >= 100 || i == 0 {
		return fmt.Sprintf("%.0f %s", v, units[i])
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}

// band writes a figure with its range.
func band(f estimate.Figure) string {
	if f.Low == f.Value && f.High == f.Value {
		return quantity(f.Value, f.Unit)
	}
	return fmt.Sprintf("%s (%s to %s)", quantity(f.Value, f.Unit), quantity(f.Low, f.Unit), quantity(f.High, f.Unit))
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
