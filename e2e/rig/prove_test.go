//go:build rig

package rig_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubeseams/seams/internal/prove"
	"github.com/kubeseams/seams/internal/recipe"
)

// TestShortProof proves two rungs, of two axes, with a part of their load and in
// little time: that the rungs hold, and that the whole way from recipe to
// verdict works. make prove runs everything in full.
func TestShortProof(t *testing.T) {
	ladder, findings, err := recipe.Load(recipe.Options{})
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	bin := programs(t)
	for _, c := range []struct {
		rung    string
		scale   float64
		seconds int
	}{
		{"node/leases-store", 0.1, 20},
		// Which shard an object is of its UID's hash decides: of 600 objects one in
		// seventy draws has 55 % or more on one side, of 2,000 one in a hundred thousand.
		{"state/client-shards", 1, 20},
	} {
		t.Run(strings.ReplaceAll(c.rung, "/", "-"), func(t *testing.T) {
			rung, ok := ladder.Rung(c.rung)
			if !ok {
				t.Fatal("not on the ladder")
			}
			record, err := prove.Run(t.Context(), prove.Options{
				Ladder: ladder, Rung: rung, Kubernetes: bin.Kubernetes, Bin: bin, Scale: c.scale, Seconds: c.seconds,
				Dir: t.TempDir(), Version: "test", Today: time.Now(), Log: t.Output(),
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range record.Limits {
				t.Logf("%s %s %g: measured %s, stock %s, compared %s %s", l.Metric, l.Op, l.Value, text(l.Measured), text(l.Stock), text(l.Compared), l.Problem)
				if !l.Pass && !delay(l.Metric) {
					t.Errorf("%s is not met", l.Metric)
				}
			}
			if len(record.Levels) != 2 || len(record.Levels[0].Figures) < 20 {
				t.Errorf("%d levels were measured", len(record.Levels))
			}
		})
	}
}

// delay is of metrics that the machine decides as much as the layout: on a busy
// one they say nothing about it. They are logged, and judged by make prove.
func delay(metric string) bool { return strings.HasSuffix(metric, "-seconds") }

func text(v *float64) string {
	if v == nil {
		return "nothing"
	}
	return strconv.FormatFloat(*v, 'g', 4, 64)
}
