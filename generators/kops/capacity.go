package kops

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/yamltext"
)

// capacities are the fields of each block whose larger value carries more. A
// plan does not take away what somebody has raised; rates of Events it may lower
// on purpose, so those are none.
var capacities = map[string][]string{
	apiserver.block:         {"maxRequestsInflight", "maxMutatingRequestsInflight", "deleteCollectionWorkers", "http2MaxStreamsPerConnection"},
	controllerManager.block: {"kubeAPIQPS", "kubeAPIBurst"},
	scheduler.block:         {"qps", "burst", "kubeAPIQPS", "kubeAPIBurst"},
	"kubelet":               {"kubeAPIQPS", "maxPods"},
}

// keepCapacities leaves out of the wanted fields the capacities that are larger
// in the Cluster, and says so with both values.
func (m *merger) keepCapacities(spec map[string]any) {
	for _, block := range slices.Sorted(maps.Keys(capacities)) {
		want, ok := spec[block].(map[string]any)
		if !ok {
			continue
		}
		want = maps.Clone(want)
		spec[block] = want
		have := sub(m.clusterSpec(), block)
		for _, name := range capacities[block] {
			h, has := number(have[name])
			w, wants := number(yamltext.Plain(want[name]))
			if !has || !wants || h <= w {
				continue
			}
			delete(want, name)
			m.say(finding.Finding{
				Code: "kops-capacity-kept", Severity: finding.Info, Path: "spec." + block + "." + name,
				Message: fmt.Sprintf("stays at your own %g, more than the plan's %g", h, w),
			})
		}
		if len(want) == 0 {
			delete(spec, block)
		}
	}
}

// number reads a number or, as kOps writes quantities, a text of one.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), true
	case string:
		n, err := strconv.ParseFloat(v, 64)
		return n, err == nil
	}
	return 0, false
}
