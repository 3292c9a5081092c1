package prove

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubeseams/seams/internal/binaries"
	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/prove/rig"
	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/scrape"
)

// Options are what a proof is run with.
type Options struct {
	Ladder *recipe.Ladder
	// Rung is the one to prove; it has to have a proof.
	Rung recipe.Rung
	// Kubernetes is the version of the programs, "1.37.2".
	Kubernetes string
	Bin        binaries.Set
	// Scale multiplies the load; 0 is 1.
	Scale float64
	// Seconds replaces the proof's own duration; 0 keeps it.
	Seconds int
	// WithoutStock runs the rung alone, so that limits against stock fail.
	WithoutStock bool
	// Dir is where processes keep their data while they run; empty is the
	// system's directory for temporary files.
	Dir string
	// NodesBy is who renews the Leases of hollow nodes: load.Own, which is the
	// default, or load.Kwok, for which Bin needs kwok.
	NodesBy load.Renewer
	// KeepLogs leaves the logs of every process behind.
	KeepLogs bool
	// Version is that of this program, for the record.
	Version string
	// Today is the day of the record.
	Today time.Time
	// Log gets a line for every step; nil means nowhere.
	Log io.Writer
	// Progress is told where loads stand; may be nil.
	Progress func(load.Progress)
}

// seed of every load: runs differ by their control planes and nothing else.
const seed = 1

// Run proves one rung: the stock layout and then the rung's, each in a control
// plane of its own under the same load. Errors: the rung has no proof or cannot
// be rendered, programs fail to start, or a load cannot be driven. A limit that
// is not met is no error; it is in the record.
func Run(ctx context.Context, o Options) (*Record, error) {
	demand, err := Asked(o.Rung, o.Scale, o.Seconds)
	if err != nil {
		return nil, err
	}
	if demand.Kind == KindNodes && o.NodesBy == load.Kwok {
		demand.NodesBy = o.NodesBy
	}
	p, err := profilesOf(ctx, demand, Probed(o.Rung), o.Kubernetes)
	if err != nil {
		return nil, err
	}
	r := &runner{Options: o, demand: demand}
	record := r.record(ctx)
	for _, step := range r.steps() {
		layout, err := layoutOf(o.Ladder, p, step.rungs)
		if err != nil {
			return nil, fmt.Errorf("%s layout: %w", step.name, err)
		}
		level, err := r.level(ctx, step.name, layout)
		if err != nil {
			return nil, fmt.Errorf("%s layout: %w", step.name, err)
		}
		record.Levels = append(record.Levels, level.Level)
		record.Remarks = append(record.Remarks, level.remarks...)
		if step.name == LevelRung {
			if record.Digest, err = Digest(ctx, o.Ladder, o.Rung, o.Kubernetes); err != nil {
				return nil, err
			}
		}
	}
	record.Limits = Judge(o.Rung.Proof.Limits, figuresOf(record, LevelStock), figuresOf(record, LevelRung))
	record.Pass = Passed(record.Limits)
	return record, nil
}

// The names of levels.
const (
	LevelStock = "stock"
	LevelRung  = "rung"
)

type step struct {
	name  string
	rungs []string
}

func (r *runner) steps() []step {
	rung := step{LevelRung, pins(r.Rung)}
	if r.WithoutStock || r.Rung.Order == 0 {
		return []step{rung}
	}
	return []step{{LevelStock, stockRungs}, rung}
}

// Digest identifies what a run of a rung's proof would prove. It is the same
// at any scale: the proof itself is part of it, the scale of a run is not.
func Digest(ctx context.Context, ladder *recipe.Ladder, rung recipe.Rung, kubernetes string) (string, error) {
	demand, err := demandOf(rung.Proof)
	if err != nil {
		return "", fmt.Errorf("%s: %w", rung.ID, err)
	}
	p, err := profileOf(ctx, demand.rendered(), Probed(rung), kubernetes)
	if err != nil {
		return "", err
	}
	t, err := p.Target()
	if err != nil {
		return "", err
	}
	r, findings, err := ladder.Select(p, t, recipe.SelectOptions{Rungs: pins(rung)})
	if err == nil {
		err = refused(findings)
	}
	if err != nil {
		return "", err
	}
	return digestOf(r.Digest, rung.Proof)
}

func figuresOf(r *Record, level string) []scrape.Figure {
	i := slices.IndexFunc(r.Levels, func(l Level) bool { return l.Name == level })
	if i < 0 {
		return nil
	}
	return r.Levels[i].Figures
}

// runner is one call of Run.
type runner struct {
	Options
	demand Demand
}

func (r *runner) say(format string, args ...any) {
	if r.Log != nil {
		fmt.Fprintf(r.Log, format+"\n", args...)
	}
}

func (r *runner) record(ctx context.Context) *Record {
	versions := map[string]string{"seams": r.Version}
	for _, name := range r.Bin.Names() {
		if v, err := r.Bin.Version(ctx, name); err == nil {
			versions[name] = v
		}
	}
	scale := r.Scale
	if scale == 0 {
		scale = 1
	}
	return &Record{
		Rung: r.Rung.ID, Date: r.Today.UTC().Format(time.DateOnly), Versions: versions, Machine: thisMachine(),
		Scale: scale, Load: r.demand, Remarks: []string{},
	}
}

// levelRun is a level with what its figures should be read with.
type levelRun struct {
	Level
	remarks []string
}

// level brings a layout up, drives the load and measures.
func (r *runner) level(ctx context.Context, name string, layout *Layout) (_ *levelRun, err error) {
	r.say("%s: %s", name, strings.Join(layout.Rungs, ", "))
	control, err := rig.Start(ctx, rig.Options{Files: layout.Files, Bin: r.Bin, Dir: r.Dir, Keep: r.KeepLogs, Log: r.Log})
	if err != nil {
		return nil, err
	}
	defer control.Stop()
	defer func() {
		if err != nil {
			err = control.Blame(ctx, err)
		}
	}()
	if r.demand.NodesBy == load.Kwok {
		if err := startKwok(ctx, control, r.through(control)[0]); err != nil {
			return nil, err
		}
	}
	if err := r.enter(ctx, control); err != nil {
		return nil, err
	}
	loads, err := r.loads(control)
	if err != nil {
		return nil, err
	}
	driven, err := r.drive(ctx, control, loads)
	if err != nil {
		return nil, err
	}
	out := &levelRun{Level: Level{Name: name, Rungs: layout.Rungs, Recipe: layout.Digest, Changes: changesOf(control)}}
	figures, remarks, err := driven.seen.Figures()
	if err != nil {
		return nil, err
	}
	told, more := Told(driven.results)
	figures, remarks = append(figures, told...), append(remarks, more...)
	stored, more, err := driven.ledger.figures(ctx, control, loads)
	if err != nil {
		return nil, err
	}
	figures, remarks = append(figures, stored...), append(remarks, more...)
	out.Figures = Tidy(figures)
	for _, remark := range remarks {
		out.remarks = append(out.remarks, name+": "+remark)
	}
	return out, nil
}

// Told is what the loads say: their figures, and where a driver or a call failed.
func Told(results []*load.Result) (figures []scrape.Figure, remarks []string) {
	for _, r := range results {
		figures = append(figures, r.Figures...)
		for _, limit := range r.DriverLimits {
			remarks = append(remarks, "the driver of "+r.Load+" was a limit: "+limit)
		}
		for _, reason := range slices.Sorted(maps.Keys(r.Failures)) {
			remarks = append(remarks, fmt.Sprintf("%d calls of %s failed: %s", r.Failures[reason], r.Load, reason))
		}
	}
	return figures, remarks
}
