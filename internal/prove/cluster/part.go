package cluster

import (
	"context"
	"fmt"
	"path"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/prove"
	"github.com/kubeseams/seams/internal/prove/load"
)

// partSeed is the seed of the first part; the others follow.
const partSeed = 1

// pollEvery is how often a part looks whether it may go on.
const pollEvery = 500 * time.Millisecond

// lateStart is from when on a part says that it began late.
const lateStart = 200 * time.Millisecond

// Drive drives one part of a load from inside a cluster: it prepares when told,
// begins when all do, and writes what it measured where Run reads it. Nothing
// is cleaned up: Run does that, once for all.
func Drive(ctx context.Context, config *rest.Config, s Spec, index int) error {
	if index < 0 || index >= s.Parts {
		return fmt.Errorf("part %d of %d: there is none", index, s.Parts)
	}
	a, err := newAPI(config)
	if err != nil {
		return err
	}
	p := &part{api: a, spec: s, index: index}
	err = p.drive(ctx, config)
	if err == nil {
		return nil
	}
	// Also when the Pod is being ended: the reason is worth one more call.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	p.state.Phase, p.state.Error, p.state.Results = phaseFailed, err.Error(), nil
	if tellErr := p.tell(last); tellErr != nil {
		return fmt.Errorf("%w (and could not tell: %v)", err, tellErr)
	}
	return err
}

// part is one call of Drive.
type part struct {
	api   *api
	spec  Spec
	index int
	state state
}

func (p *part) drive(ctx context.Context, config *rest.Config) error {
	p.state.Phase = phaseStarted
	if err := p.tell(ctx); err != nil {
		return err
	}
	driver, err := load.NewDriver(load.Options{Servers: []*rest.Config{config}, Seed: partSeed + uint64(p.index), Provided: true})
	if err != nil {
		return err
	}
	steps, err := p.spec.Load.Part(p.index, p.spec.Parts).Steps(driver, prove.Place{
		Namespace: partNamespace(p.index), NodePrefix: partNodes(p.index), NodeLabels: map[string]string{RunLabel: p.spec.Run},
	}, p.index == 0, p.spec.Probe)
	if err != nil {
		return err
	}
	var loads []load.Load
	for i, step := range steps {
		if _, err := p.await(ctx, func(c control) bool { return c.Prepare > i }); err != nil {
			return err
		}
		if err := step.Prepare(ctx); err != nil {
			return fmt.Errorf("prepare %s: %w", step.Name(), err)
		}
		loads = append(loads, step.Load)
		p.state.Phase, p.state.Prepared = phasePrepared, i+1
		if err := p.tell(ctx); err != nil {
			return err
		}
	}
	c, err := p.await(ctx, func(c control) bool { return !c.Start.IsZero() })
	if err != nil {
		return err
	}
	return p.run(ctx, c.Start.Add(p.spec.Load.Lag(p.index)), loads)
}

// run waits for the start, drives, and tells the results.
func (p *part) run(ctx context.Context, start time.Time, loads []load.Load) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Until(start)):
	}
	late := time.Since(start)
	results, err := load.Together(ctx, p.spec.Load.Duration(), loads...)
	if err != nil {
		return err
	}
	if late > lateStart {
		results[0].DriverLimits = append(results[0].DriverLimits, fmt.Sprintf("it began %.1f s after the others", late.Seconds()))
	}
	p.state.Phase, p.state.Results = phaseDone, results
	return p.tell(ctx)
}

// tell writes the part's state.
func (p *part) tell(ctx context.Context) error {
	data, err := packed(p.state)
	if err != nil {
		return err
	}
	if err := p.api.patch(ctx, path.Join(configMaps(Namespace), partMap(p.index)), data); err != nil {
		return fmt.Errorf("tell the state of part %d: %w", p.index, err)
	}
	return nil
}

// await waits until the control says so.
func (p *part) await(ctx context.Context, ready func(control) bool) (control, error) {
	for {
		var data configData
		var c control
		err := p.api.get(ctx, path.Join(configMaps(Namespace), controlMap), &data)
		if err == nil {
			err = data.unpack(&c)
		}
		if err != nil {
			return c, fmt.Errorf("read what to do: %w", err)
		}
		if ready(c) {
			return c, nil
		}
		select {
		case <-ctx.Done():
			return c, ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}
