package kops

import (
	"testing"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/target"
)

// TestUnknownVersionHasAPlace: a comment in a file can only suppress what is
// said of that file.
func TestUnknownVersionHasAPlace(t *testing.T) {
	at := target.Target{Platform: target.Kops, Kops: target.Version{Major: 1, Minor: 28}}
	text := "# ours\napiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nmetadata: {name: a.example.com}\nspec: {kubernetesVersion: 1.28.1}\n"
	for _, f := range Check(Input{Target: at, Files: []file.File{{Path: "a/cluster.yaml", Data: []byte(text)}}}) {
		if f.Code == "kops-version-unknown" {
			if f.File != "a/cluster.yaml" || f.Line == 0 {
				t.Errorf("at %s:%d", f.File, f.Line)
			}
			return
		}
	}
	t.Error("not said")
}
