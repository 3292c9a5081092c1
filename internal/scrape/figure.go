package scrape

import (
	"cmp"
	"math"
	"slices"
)

// Figure is one measured number.
type Figure struct {
	// Name is words joined by "-", with the unit last when it has one:
	// "database-bytes".
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	// Unit is one of the constants below, or empty for counts and ratios.
	Unit string `json:"unit,omitempty"`
}

// The units of figures.
const (
	Seconds        = "s"
	Bytes          = "bytes"
	PerSecond      = "1/s"
	BytesPerSecond = "bytes/s"
	Cores          = "cores"
)

// SortFigures orders figures by name.
func SortFigures(fs []Figure) {
	slices.SortStableFunc(fs, func(a, b Figure) int { return cmp.Compare(a.Name, b.Name) })
}

// Find is the figure of that name.
func Find(fs []Figure, name string) (Figure, bool) {
	i := slices.IndexFunc(fs, func(f Figure) bool { return f.Name == name })
	if i < 0 {
		return Figure{}, false
	}
	return fs[i], true
}

// figures collects those that the process could give: an absent one is left
// out, never zero, and so is one that is no finite number, such as a quantile
// above the last bound of its histogram. A limit on a figure that is not there
// is not met.
type figures []Figure

func (fs *figures) put(name, unit string, value float64, ok bool) {
	if ok && !math.IsNaN(value) && !math.IsInf(value, 0) {
		*fs = append(*fs, Figure{Name: name, Value: value, Unit: unit})
	}
}
