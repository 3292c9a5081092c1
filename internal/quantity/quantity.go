// Package quantity writes numbers as people read them. Estimate, recipe and the
// command line share it, so that one number looks the same wherever it is said.
package quantity

import (
	"math"
	"strconv"
	"strings"
)

// Count writes a number with thousands separators, and with two digits after
// the point at most below 10.
func Count(v float64) string {
	if math.Abs(v) >= 9.995 {
		return separate(strconv.FormatFloat(math.Round(v), 'f', 0, 64))
	}
	text := strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}

// separate puts a comma before every three digits of a whole number.
func separate(text string) string {
	sign := ""
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		sign, text = "-", rest
	}
	var b strings.Builder
	for i, d := range text {
		if i > 0 && (len(text)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

// Exact writes a limit, which is a decision and not an estimate, with all its digits.
func Exact(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return separate(strconv.FormatFloat(v, 'f', 0, 64))
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Ratio writes a ratio with two digits after the point, and none from a hundred on.
func Ratio(v float64) string {
	if math.Abs(v) >= 99.995 {
		return Count(v)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// Bytes writes bytes in binary units, as memory and etcd quotas are sold.
func Bytes(v float64) string { return scaled(v, 1024, "B", "KiB", "MiB", "GiB", "TiB", "PiB") }

// Decimal writes bytes in powers of ten, as rates and upstream's thresholds are given.
func Decimal(v float64) string { return scaled(v, 1000, "B", "kB", "MB", "GB", "TB", "PB") }

// scaled takes the unit in which fewer than base are left after rounding, and
// one digit after the point below 100.
func scaled(v, base float64, units ...string) string {
	sign, i := "", 0
	if v < 0 {
		sign, v = "-", -v
	}
	for i < len(units)-1 && math.Round(v*10)/10 >= base-0.5 {
		v /= base
		i++
	}
	digits := 1
	if i == 0 || v >= 99.95 {
		digits = 0
	}
	text := strings.TrimSuffix(strconv.FormatFloat(v, 'f', digits, 64), ".0")
	return sign + text + " " + units[i]
}

// With writes a number and its unit, given in the plural: "2 writes/s", "1 write/s".
func With(v float64, unit string) string {
	text := Count(v)
	head, rest, _ := strings.Cut(unit, "/")
	if rest != "" {
		rest = "/" + rest
	}
	switch {
	case text != "1" || len(head) < 3:
		return text + " " + unit
	case strings.HasSuffix(head, "sses"), strings.HasSuffix(head, "ches"):
		head = strings.TrimSuffix(head, "es")
	default:
		head = strings.TrimSuffix(head, "s")
	}
	return text + " " + head + rest
}

// InUnit writes a number as its unit wants it, which is a figure's own word for
// it: "1,200 writes/s", "0.35" of a ratio, "2.4 GiB" of bytes.
func InUnit(v float64, unit string) string {
	switch unit {
	case "bytes":
		return Bytes(v)
	case "bytes/s":
		return Bytes(v) + "/s"
	case "ratio", "":
		return Ratio(v)
	}
	return With(v, unit)
}
