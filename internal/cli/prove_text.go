package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/prove"
	"github.com/kubeseams/seams/internal/scrape"
)

// recordText prints a record: the verdict, each limit with what was measured,
// and the figures of both layouts side by side.
func recordText(s Streams, r *prove.Record, predicted map[string][]prove.Prediction) {
	verdict := cell{"PASS", green}
	switch {
	case r.Undecided:
		verdict = cell{"UNDECIDED", yellow}
	case !r.Pass:
		verdict = cell{"FAIL", red}
	}
	fmt.Fprintf(s.Out, "%s  %s\n", paint(s, bold, r.Rung), paint(s, verdict.colour, verdict.text))
	fmt.Fprintln(s.Out, paint(s, dim, strings.Join(versionsOf(r), ", ")+
		fmt.Sprintf("; %d CPUs, %s GiB; load x%s", r.Machine.CPUs, count(r.Machine.MemoryGiB), count(r.Scale))))
	section(s, "Limits")
	limitsTable(s, r)
	section(s, "Figures")
	levelsTable(s, r)
	if len(predicted) > 0 {
		section(s, "The estimator beside it")
		predictionsTable(s, r, predicted)
	}
	if len(r.Remarks) > 0 {
		section(s, "To be read with it")
		for _, remark := range r.Remarks {
			wrap(s.Out, "- "+remark, "  ")
		}
	}
}

func versionsOf(r *prove.Record) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		all = append(all, name+" "+r.Versions[name])
	}
	return all
}

func limitsTable(s Streams, r *prove.Record) {
	t := newTable("", "LIMIT", ">STOCK", ">RUNG", ">COMPARED", "")
	for _, l := range r.Limits {
		mark, note := cell{"met", green}, l.Problem
		switch {
		case strings.HasPrefix(l.Problem, prove.NotSeen):
			mark = cell{"not seen", yellow}
			note = strings.TrimPrefix(note, prove.NotSeen+": ")
		case !l.Pass:
			mark = cell{"not met", red}
		}
		limit := l.Metric + " " + l.Op + " " + count(l.Value)
		if l.Against == "stock" {
			limit += " of stock"
		} else if l.Unit != "" {
			limit += " " + l.Unit
		}
		unit := l.Unit
		if i := slices.IndexFunc(figuresNamed(r, l.Metric), func(f scrape.Figure) bool { return f.Unit != "" }); i >= 0 {
			unit = figuresNamed(r, l.Metric)[i].Unit
		}
		compared := ""
		if l.Against == "stock" && l.Compared != nil {
			compared = measured(l.Compared, "")
		}
		t.add(mark, limit, measured(l.Stock, unit), measured(l.Measured, unit), compared, note)
	}
	t.print(s.Out, s, "  ")
}

func figuresNamed(r *prove.Record, name string) []scrape.Figure {
	var all []scrape.Figure
	for _, level := range r.Levels {
		if f, ok := scrape.Find(level.Figures, name); ok {
			all = append(all, f)
		}
	}
	return all
}

// measured writes a figure, and a dash for one that there is not.
func measured(v *float64, unit string) string {
	switch {
	case v == nil:
		return "-"
	case unit == scrape.Bytes:
		return bytesText(*v)
	case unit == scrape.BytesPerSecond:
		return bytesText(*v) + "/s"
	case unit == scrape.Seconds && *v < 1:
		return count(*v*1000) + " ms"
	case unit == scrape.PerSecond:
		return count(*v) + "/s"
	case unit == "":
		return count(*v)
	}
	return count(*v) + " " + unit
}

// shownFigures are those that tell most, by the end of their names; -o json has
// all of them.
var shownFigures = []string{
	".puts-per-second", ".commits-per-second", ".database-in-use-bytes", ".fsync-p99-seconds",
	".requests-per-second", ".heap-bytes", "-per-object", ".added-heap-bytes", ".resident-bytes", ".cpu-cores", ".watch-bytes-per-second",
	"-renewal-p99-seconds", "write-p99-seconds", "read-p99-seconds", "list-p99-seconds", "achieved-ratio", "nodes-ready-ratio", "resident-copies",
	"leader-changes", "two-leaders", "host-cpu-ratio",
}

func levelsTable(s Streams, r *prove.Record) {
	head := []string{"FIGURE"}
	names := map[string]string{}
	for _, level := range r.Levels {
		head = append(head, ">"+strings.ToUpper(level.Name))
		for _, f := range level.Figures {
			if slices.ContainsFunc(shownFigures, func(end string) bool { return strings.HasSuffix(f.Name, end) }) {
				names[f.Name] = f.Unit
			}
		}
	}
	t := newTable(head...)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		row := []any{name}
		for _, level := range r.Levels {
			if f, ok := scrape.Find(level.Figures, name); ok {
				row = append(row, measured(&f.Value, f.Unit))
			} else {
				row = append(row, "-")
			}
		}
		t.add(row...)
	}
	t.print(s.Out, s, "  ")
}

func predictionsTable(s Streams, r *prove.Record, predicted map[string][]prove.Prediction) {
	t := newTable("LAYOUT", "MEASURED", ">", ">ESTIMATED", "RANGE", "")
	for _, level := range r.Levels {
		for _, p := range predicted[level.Name] {
			mark := cell{"within", green}
			if !p.Within {
				mark = cell{"outside", yellow}
			}
			t.add(level.Name, p.Metric, measured(&p.Measured, p.Unit), measured(&p.Predicted, p.Unit),
				measured(&p.Low, p.Unit)+" to "+measured(&p.High, p.Unit), mark)
		}
	}
	t.print(s.Out, s, "  ")
}

// standingCell is how the project's own run of a rung stands today; empty for a
// rung that was never run.
func standingCell(standings map[string]prove.Evidence, rung string) cell {
	colours := map[prove.Standing]colour{prove.Proven: green, prove.Failed: red, prove.Stale: yellow}
	e, ok := standings[rung]
	if !ok {
		return cell{text: "-"}
	}
	return cell{string(e.Standing), colours[e.Standing]}
}

// standingText tells of the last run: how it stands, on what, and each limit.
func standingText(s Streams, e prove.Evidence) {
	r := e.Record
	meaning := map[prove.Standing]string{
		prove.Proven: "all limits were met",
		prove.Failed: "a limit was not met",
		prove.Stale:  "of a recipe or a proof that has changed since, so it proves nothing about this one",
	}[e.Standing]
	wrap(s.Out, fmt.Sprintf("%s on %s: %s. %s on %d CPUs and %s GiB; the load of the proof x%s.", e.Standing, r.Date, meaning,
		strings.Join(versionsOf(r), ", "), r.Machine.CPUs, count(r.Machine.MemoryGiB), count(r.Scale)), "  ")
	limitsTable(s, r)
	for _, remark := range r.Remarks {
		wrap(s.Out, "- "+remark, "  ")
	}
}
