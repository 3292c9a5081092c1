package cli

import (
	"fmt"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/quantity"
)

// processMemory is what one process of a kind holds, now and with the recipe.
// The figures are in bytes; a process that is not there has none.
type processMemory struct {
	// Process is "apiserver", "nodetier", "consumertier" or "tier.NAME", as in the
	// names of figures.
	Process string `json:"process"`
	// Count is how many run, with the recipe where it has them.
	Count      int              `json:"count"`
	HeapBefore *estimate.Figure `json:"heapBefore,omitempty"`
	HeapAfter  *estimate.Figure `json:"heapAfter,omitempty"`
	RSSBefore  *estimate.Figure `json:"rssBefore,omitempty"`
	RSSAfter   *estimate.Figure `json:"rssAfter,omitempty"`
}

// processMemories lists the processes of either layout, the main ones first.
func processMemories(before, after *estimate.Estimate) []processMemory {
	figure := func(e *estimate.Estimate, id string) *estimate.Figure {
		if f, ok := e.Figure(id); ok {
			return &f
		}
		return nil
	}
	var rows []processMemory
	for _, p := range after.Layout.Processes() {
		heap, rss := p.ID+".heap", p.ID+".rss"
		rows = append(rows, processMemory{Process: p.ID, Count: p.Count,
			HeapBefore: figure(before, heap), HeapAfter: figure(after, heap), RSSBefore: figure(before, rss), RSSAfter: figure(after, rss)})
	}
	return rows
}

// memoryTable shows what leaves the main servers' memory and where it goes; of
// one kind of process alone the table of changes says as much.
func memoryTable(s Streams, rows []processMemory) {
	if len(rows) < 2 {
		return
	}
	section(s, "What each process would hold")
	size := func(f *estimate.Figure) string {
		if f == nil {
			return "-"
		}
		return bytesText(f.Value)
	}
	t := newTable("PROCESS", ">RUN", ">HEAP NOW", ">HEAP THEN", ">RESIDENT THEN", "RANGE")
	for _, r := range rows {
		t.add(estimate.Words(r.Process), quantity.Count(float64(r.Count)), size(r.HeapBefore), size(r.HeapAfter), size(r.RSSAfter),
			fmt.Sprintf("%s to %s", bytesText(r.RSSAfter.Low), bytesText(r.RSSAfter.High)))
	}
	t.print(s.Out, s, "  ")
}
