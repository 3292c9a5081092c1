package recipe

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/profile"
)

func TestZZ(t *testing.T) {
	lad, fs, err := Load(Options{})
	if err != nil || len(fs) > 0 {
		t.Fatal(err, fs)
	}
	files, _ := filepath.Glob("../../e2e/cases/profiles/*.yaml")
	files = append(files, "../../recipes/examples")
	l, _ := profile.NewLoader()
	for _, f := range files {
		got, found, err := l.Load(context.Background(), profile.Options{Path: f})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range got {
			tg, err := x.Profile.Target()
			if err != nil {
				t.Fatal(err)
			}
			t0 := time.Now()
			r, fs, err := lad.Select(x.Profile, tg, SelectOptions{})
			d := time.Since(t0)
			if err != nil {
				fmt.Println(x.Profile.Name, err)
				continue
			}
			fmt.Println("==", x.Profile.Name, d, len(found))
			for _, c := range r.Choices {
				fmt.Println("   ", c.Rung.ID, c.PastLadder, "BEYOND", c.Beyond)
				for _, j := range c.Rejected {
					fmt.Println("        ", j.ID, j.Reasons)
				}
			}
			for _, f := range fs {
				fmt.Println("    F", f)
			}
			fmt.Println("    agg", r.Layout.Aggregated, "uncached", r.Layout.Uncached, r.Layout.ConsumerTiers)
			e := estimate.Compute(x.Profile, r.Layout)
			for _, a := range estimate.Axes {
				fmt.Print("     ", a)
				for k, v := range e.Measures[a] {
					fmt.Printf(" %s=%.3g(%.3g)", k, v.Value, v.High)
				}
				fmt.Println()
			}
		}
	}
}
