package cluster

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/prove"
	"github.com/kubeseams/seams/internal/prove/load"
)

// steps are those of the load as it was before it was cut, with the objects of
// all parts together, and how many of them each part has: what cannot be cut is
// the first one's.
func (s Spec) steps() (whole []prove.Step, counts []int, err error) {
	// Only what there is to do is asked: nothing is called.
	driver, err := load.NewDriver(load.Options{Servers: []*rest.Config{{}}})
	if err != nil {
		return nil, nil, err
	}
	if whole, err = s.Load.Steps(driver, prove.Place{}, true, s.Probe); err != nil {
		return nil, nil, err
	}
	for i := range s.Parts {
		steps, err := s.Load.Part(i, s.Parts).Steps(driver, prove.Place{}, i == 0, s.Probe)
		if err != nil {
			return nil, nil, err
		}
		counts = append(counts, len(steps))
	}
	return whole, counts, nil
}

// tell tells all parts what to do.
func (p *Plan) tell(ctx context.Context, c control) error {
	data, err := packed(c)
	if err != nil {
		return err
	}
	if err := p.api.patch(ctx, path.Join(configMaps(Namespace), controlMap), data); err != nil {
		return fmt.Errorf("tell the parts what to do: %w", err)
	}
	return nil
}

// states are those of all parts, in their order.
func (p *Plan) states(ctx context.Context) ([]state, error) {
	all := make([]state, p.spec.Parts)
	for i := range all {
		var data configData
		err := p.api.get(ctx, path.Join(configMaps(Namespace), partMap(i)), &data)
		if err == nil {
			err = data.unpack(&all[i])
		}
		if err != nil {
			return nil, fmt.Errorf("read the state of part %d: %w", i, err)
		}
	}
	return all, nil
}

// await waits until every part is ready. Error: one failed, a Pod ended without
// a word, or time is over; who was not ready is named.
func (p *Plan) await(ctx context.Context, d time.Duration, ready func(part int, s state) bool) error {
	var waiting []string
	err := within(ctx, d, func() (bool, error) {
		states, err := p.states(ctx)
		if err != nil {
			return false, err
		}
		waiting = nil
		for i, s := range states {
			if s.Phase == phaseFailed {
				return false, fmt.Errorf("part %d: %s", i, s.Error)
			}
			if !ready(i, s) {
				waiting = append(waiting, fmt.Sprint(i))
			}
		}
		if len(waiting) == 0 {
			return true, nil
		}
		return false, p.jobFailed(ctx)
	})
	if err != nil && len(waiting) > 0 {
		return fmt.Errorf("part %s was waited for: %w", strings.Join(waiting, ", "), err)
	}
	return err
}

// jobFailed is an error when a Pod of the Job ended badly.
func (p *Plan) jobFailed(ctx context.Context) error {
	var job struct {
		Status struct {
			Failed int `json:"failed"`
		} `json:"status"`
	}
	if err := p.api.get(ctx, path.Join(inNamespace("/apis/batch/v1", Namespace, "jobs"), loadName), &job); err != nil {
		return fmt.Errorf("look at the Job: %w", err)
	}
	if job.Status.Failed > 0 {
		return fmt.Errorf("%d Pods of the Job failed%s", job.Status.Failed, p.podsText(ctx))
	}
	return nil
}
