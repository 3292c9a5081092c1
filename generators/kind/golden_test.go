package kind_test

import (
	"path/filepath"
	"testing"

	"github.com/kubeseams/seams/generators/internal/plantest"
	"github.com/kubeseams/seams/generators/kind"
	"github.com/kubeseams/seams/internal/golden"
	"github.com/kubeseams/seams/internal/target"
)

func TestGolden(t *testing.T) {
	for dir, minor := range map[string]int{"v1beta4": 37, "v1beta3": 35} {
		for _, c := range plantest.Cases(target.Kind, minor) {
			t.Run(dir+"/"+c.Name, func(t *testing.T) {
				files, _, err := kind.Generate(c.Plan)
				if err != nil {
					t.Fatal(err)
				}
				golden.Dir(t, filepath.Join("testdata", dir, c.Name), files)
			})
		}
	}
}
