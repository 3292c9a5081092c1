//go:build kind

package kind

import (
	"testing"
	"time"
)

// The witness's own arithmetic, without a cluster: what it would call two
// leaders, and what it would not.
func TestOverlaps(t *testing.T) {
	began := time.Now()
	at := func(leads string, first int) []sample {
		var all []sample
		for i, c := range leads {
			if c != '?' {
				all = append(all, sample{began.Add(time.Duration(first+i) * time.Second), c == '1'})
			}
		}
		return all
	}
	for name, test := range map[string]struct {
		a, b string
		want time.Duration
	}{
		"one after the other": {"1111000000", "0000011111", 0},
		"handed over at once": {"1111100000", "0000111111", 0},
		"both for a while":    {"1111111000", "0000111111", 2 * time.Second},
		"nobody":              {"0000000000", "0000000000", 0},
		"a single sample":     {"1111111111", "0000100000", 0},
		"no samples between":  {"1???????1?", "0111111100", 0},
	} {
		w := &witness{began: began, hosts: []string{"a", "b"}, leads: map[string]map[string][]sample{"p": {"a": at(test.a, 0), "b": at(test.b, 0)}}}
		var got time.Duration
		for _, o := range w.overlaps() {
			got += o.length
		}
		if got != test.want {
			t.Errorf("%s: two leaders for %s, want %s", name, got, test.want)
		}
	}
}
