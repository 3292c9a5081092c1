package cluster

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/kubeseams/seams/internal/prove"
	"github.com/kubeseams/seams/internal/prove/load"
)

// Spec is the load, as the Pods of the Job read it.
type Spec struct {
	Run string `json:"run"`
	// Load is the whole; a Pod takes the part of its completion index.
	Load  prove.Demand `json:"load"`
	Parts int          `json:"parts"`
	// Probe says that the first part feels core calls as well.
	Probe bool `json:"probe"`
}

// control is what parts are told, in controlMap. Each looks twice a second.
type control struct {
	// Prepare is how many loads of a part may be prepared by now.
	Prepare int `json:"prepare"`
	// Start is when the first part begins to drive; zero until it is known.
	Start time.Time `json:"start"`
}

// The phases of a part.
const (
	phaseStarted  = "started"
	phasePrepared = "prepared"
	phaseDone     = "done"
	phaseFailed   = "failed"
)

// state is what a part tells, in its own ConfigMap.
type state struct {
	Phase string `json:"phase"`
	// Prepared loads; the loads after them wait for control.
	Prepared int            `json:"prepared"`
	Error    string         `json:"error,omitempty"`
	Results  []*load.Result `json:"results,omitempty"`
}

// dataKey is the key of both in their ConfigMaps.
const dataKey = "data"

// configData is a ConfigMap, as far as it is read and patched here.
type configData struct {
	Data map[string]string `json:"data"`
}

func packed(v any) (configData, error) {
	text, err := json.Marshal(v)
	return configData{map[string]string{dataKey: string(text)}}, err
}

// unpack reads what packed wrote; nothing when there is nothing yet.
func (c configData) unpack(v any) error {
	text := c.Data[dataKey]
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return fmt.Errorf("decode a ConfigMap's %s: %w", dataKey, err)
	}
	return nil
}

// ReadSpec reads the file that the Job mounts. Errors: it is not one, or has no
// parts.
func ReadSpec(data []byte) (Spec, error) {
	var s Spec
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("decode the load: %w", err)
	}
	if s.Parts < 1 || s.Run == "" || s.Load.Kind == "" {
		return s, fmt.Errorf("the load has %d parts, run %q and kind %q: all are needed", s.Parts, s.Run, s.Load.Kind)
	}
	return s, nil
}
