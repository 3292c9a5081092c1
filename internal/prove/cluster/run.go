package cluster

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubeseams/seams/internal/prove"
	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/scrape"
)

// How long things may take.
const (
	// beginWithin is for Pods to be scheduled, their image fetched, and the
	// program to tell that it runs.
	beginWithin = 5 * time.Minute
	// prepareWithin is for one load to be prepared.
	prepareWithin = 45 * time.Minute
	// endWithin is for calls that were made at the very end, and to tell.
	endWithin = 2 * time.Minute
	// startIn is from when the start is told until then: parts look twice a second.
	startIn = 3 * time.Second
	// removeWithin is for everything to be removed.
	removeWithin = 10 * time.Minute
)

func (p *Plan) say(format string, args ...any) {
	if p.options.Log != nil {
		fmt.Fprintf(p.options.Log, format+"\n", args...)
	}
}

// Run makes what was planned, drives the load, measures, judges, and removes
// everything again, also when it fails or ctx ends. Errors: something could not
// be made, driven or removed; what is left is named.
func (p *Plan) Run(ctx context.Context) (record *prove.Record, err error) {
	defer func() {
		cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeWithin)
		defer cancel()
		p.say("removing what was made")
		if left := p.remove(cleaning); left != nil {
			err = errors.Join(err, left)
		}
	}()
	for _, o := range p.objects {
		if err := p.api.create(ctx, o.collection, o.body); err != nil {
			return nil, fmt.Errorf("make %s: %w", o, err)
		}
	}
	if err := p.awaitAccounts(ctx); err != nil {
		return nil, err
	}
	observer := prove.Observe(p.view.seen...)
	remarks, err := observer.Base(ctx)
	if err != nil {
		return nil, err
	}
	results, err := p.drive(ctx, observer)
	if err != nil {
		return nil, err
	}
	return p.record(ctx, observer, results, append(p.view.told(), remarks...))
}

// awaitAccounts waits for the default ServiceAccount of each part's namespace,
// without which no Pod is admitted there.
func (p *Plan) awaitAccounts(ctx context.Context) error {
	for i := range p.spec.Parts {
		at := path.Join(inNamespace("/api/v1", partNamespace(i), "serviceaccounts"), "default")
		err := within(ctx, time.Minute, func() (bool, error) {
			err := p.api.get(ctx, at, nil)
			if apierrors.IsNotFound(err) {
				return false, nil
			}
			return err == nil, err
		})
		if err != nil {
			return fmt.Errorf("wait for the ServiceAccount default of %s: %w", partNamespace(i), err)
		}
	}
	return nil
}

// within calls done twice a second until it says so, fails, or time is over.
func within(ctx context.Context, d time.Duration, done func() (bool, error)) error {
	deadline := time.Now().Add(d)
	for {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not within %s", d)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}

// drive leads the parts through preparing, settling and driving, and merges
// what they measured.
func (p *Plan) drive(ctx context.Context, observer *prove.Observer) ([]*load.Result, error) {
	p.say("waiting for %d Pods to begin", p.spec.Parts)
	if err := p.await(ctx, beginWithin, func(_ int, s state) bool { return s.Phase != "" }); err != nil {
		return nil, fmt.Errorf("%w%s", err, p.podsText(ctx))
	}
	whole, counts, err := p.spec.steps()
	if err != nil {
		return nil, err
	}
	for i, step := range whole {
		p.say("preparing %s", step.Name())
		if err := p.tell(ctx, control{Prepare: i + 1}); err != nil {
			return nil, err
		}
		if err := p.await(ctx, prepareWithin, func(part int, s state) bool { return s.Prepared > i || s.Prepared == counts[part] }); err != nil {
			return nil, err
		}
		if step.Count > 0 {
			if err := observer.Weigh(ctx, step.Kind, step.Count); err != nil {
				return nil, err
			}
		}
	}
	if err := prove.Pause(ctx, p.spec.Load.Settle()); err != nil {
		return nil, err
	}
	return p.measure(ctx, observer, len(whole))
}

// measure looks before and after the load, which all parts begin at one time.
func (p *Plan) measure(ctx context.Context, observer *prove.Observer, steps int) ([]*load.Result, error) {
	p.say("driving it for %s", p.spec.Load.Duration())
	start := time.Now().Add(startIn)
	if err := p.tell(ctx, control{Prepare: steps, Start: start}); err != nil {
		return nil, err
	}
	if err := prove.Pause(ctx, time.Until(start)); err != nil {
		return nil, err
	}
	if err := observer.Before(ctx); err != nil {
		return nil, err
	}
	if err := prove.Pause(ctx, time.Until(start.Add(p.spec.Load.Duration()))); err != nil {
		return nil, err
	}
	if err := observer.After(ctx); err != nil {
		return nil, err
	}
	if err := p.await(ctx, endWithin, func(_ int, s state) bool { return s.Phase == phaseDone }); err != nil {
		return nil, err
	}
	if err := observer.Settled(ctx); err != nil {
		return nil, err
	}
	states, err := p.states(ctx)
	if err != nil {
		return nil, err
	}
	return merged(states)
}

// merged merges the results of all parts, load by load.
func merged(states []state) ([]*load.Result, error) {
	var names []string
	byLoad := map[string][]*load.Result{}
	for _, s := range states {
		seen := map[string]int{}
		for _, r := range s.Results {
			// Two loads of one part may have one name, in the same order everywhere.
			key := fmt.Sprintf("%s %d", r.Load, seen[r.Load])
			seen[r.Load]++
			if byLoad[key] == nil {
				names = append(names, key)
			}
			byLoad[key] = append(byLoad[key], r)
		}
	}
	var all []*load.Result
	for _, name := range names {
		r, err := load.Merge(byLoad[name]...)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// record judges, and writes down what was seen.
func (p *Plan) record(ctx context.Context, observer *prove.Observer, results []*load.Result, remarks []string) (*prove.Record, error) {
	o, version := p.options, p.survey.kubernetes()
	digest, err := prove.Digest(ctx, o.Ladder, o.Rung, version)
	if err != nil {
		return nil, err
	}
	figures, restarts, err := observer.Figures()
	if err != nil {
		return nil, err
	}
	remarks = append(remarks, restarts...)
	told, more := prove.Told(results)
	figures, remarks = append(figures, told...), append(remarks, more...)
	figures = prove.Tidy(figures)
	lines, undecided := prove.JudgeSeen(o.Rung.Proof.Limits, seenOnly(figures), p.view.why)
	scale := o.Scale
	if scale == 0 {
		scale = 1
	}
	return &prove.Record{
		Rung: o.Rung.ID, Pass: prove.Passed(lines), Undecided: undecided, Digest: digest, Date: o.Today.UTC().Format(time.DateOnly),
		Versions: map[string]string{"seams": o.Version, "kube-apiserver": version},
		Machine:  p.survey.machine(), Scale: scale, Load: p.spec.Load, Limits: lines,
		Levels: []prove.Level{{Name: prove.LevelRung, Rungs: []string{o.Rung.ID}, Recipe: digest, Figures: figures, Changes: []string{}}},
		Remarks: append([]string{
			"an existing cluster: that it is laid out as the rung says was not looked at, and what else it does is in the figures",
		}, remarks...),
	}, nil
}

// seenOnly leaves out what speaks for a part only.
func seenOnly(figures []scrape.Figure) []scrape.Figure {
	return slices.DeleteFunc(slices.Clone(figures), func(f scrape.Figure) bool {
		return len(f.Name) > len(oneApiserver) && f.Name[:len(oneApiserver)] == oneApiserver
	})
}

// podsText says where Pods of the run stand that do not run.
func (p *Plan) podsText(ctx context.Context) string {
	text := ""
	_ = list(context.WithoutCancel(ctx), p.api, inNamespace("/api/v1", Namespace, "pods"), selectorOf(p.spec.Run), func(pod core.Pod) {
		why := string(pod.Status.Phase)
		for _, c := range pod.Status.Conditions {
			if c.Status == core.ConditionFalse && c.Message != "" {
				why += ", " + c.Message
			}
		}
		for _, c := range pod.Status.ContainerStatuses {
			if c.State.Waiting != nil {
				why += ", " + c.State.Waiting.Reason + " " + c.State.Waiting.Message
			}
			if c.State.Terminated != nil {
				why += fmt.Sprintf(", ended with %d %s", c.State.Terminated.ExitCode, c.State.Terminated.Message)
			}
		}
		text += "\n  Pod " + pod.Name + ": " + why
	})
	return text
}
