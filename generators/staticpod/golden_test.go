package staticpod_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/kubeseams/seams/generators/internal/plantest"
	"github.com/kubeseams/seams/generators/staticpod"
	"github.com/kubeseams/seams/internal/golden"
	"github.com/kubeseams/seams/internal/target"
)

func TestGolden(t *testing.T) {
	for _, c := range plantest.Cases(target.StaticPod, 37) {
		t.Run(c.Name, func(t *testing.T) {
			files, _, err := staticpod.Generate(c.Plan)
			if err != nil {
				t.Fatal(err)
			}
			golden.Dir(t, filepath.Join("testdata", c.Name), files)
		})
	}
}

func TestGenerateIsDeterministic(t *testing.T) {
	for _, c := range plantest.Cases(target.StaticPod, 36) {
		first, findings, err := staticpod.Generate(c.Plan)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			again, findingsAgain, err := staticpod.Generate(c.Plan)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(first, findings) != fmt.Sprint(again, findingsAgain) {
				t.Fatalf("%s: two runs differ", c.Name)
			}
		}
	}
}

func BenchmarkGenerate(b *testing.B) {
	for _, c := range plantest.Cases(target.StaticPod, 37) {
		b.Run(c.Name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := staticpod.Generate(c.Plan); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
