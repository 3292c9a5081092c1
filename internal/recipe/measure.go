package recipe

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kubeseams/seams/internal/estimate"
)

// measures say how a measure is called and written in a reason.
var measures = map[string]struct{ label, unit string }{
	"nodes":                         {"nodes", ""},
	"livenessWritesPerSecond":       {"liveness", "/s"},
	"eventWritesPerSecond":          {"Events", "/s"},
	"eventDatabaseRatio":            {"Events over etcd's quota", ""},
	"leaderElectionWritesPerSecond": {"leader election", "/s"},
	"builtinWritesPerSecond":        {"writes of built-in resources", "/s"},
	"customWritesPerSecond":         {"writes of custom resources", "/s"},
	"customServerWritesPerSecond":   {"custom writes on one server", "/s"},
	"customBytesPerSecond":          {"custom bytes into the main etcd", " B/s"},
	"seatsRatio":                    {"seats needed over seats there are", ""},
	"memoryRatio":                   {"largest apiserver over its host's memory", ""},
	"tierMemoryRatio":               {"largest aggregated server over a host's memory", ""},
	"databaseRatio":                 {"main database over its quota", ""},
	"typeBytes":                     {"bytes of the largest resource", " B"},
	"typeObjects":                   {"objects of the most numerous resource", ""},
}

// exceeded says which limits of an axis the demand's high band is beyond, in
// figures: "liveness 2,583/s (high 2,700/s) > 600/s".
func exceeded(r Rung, e *estimate.Estimate, axis estimate.Axis) ([]string, error) {
	var beyond []string
	limits := r.Envelope[axis]
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		figure, ok := e.Measures[axis][name]
		if !ok {
			return nil, fmt.Errorf("%s limits %s %s, which the estimate does not measure", r.ID, axis, name)
		}
		if figure.High <= limits[name] {
			continue
		}
		m := measures[name]
		text := m.label + " " + number(figure.Value) + m.unit
		if number(figure.High) != number(figure.Value) {
			text += " (high " + number(figure.High) + m.unit + ")"
		}
		beyond = append(beyond, text+" > "+number(limits[name])+m.unit)
	}
	return beyond, nil
}

// number writes three significant digits below a hundred, and whole numbers
// with separators above.
func number(v float64) string {
	if math.Abs(v) < 100 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	digits := strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	var b strings.Builder
	for i, d := range digits {
		if left := len(digits) - i; i > 0 && left%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
