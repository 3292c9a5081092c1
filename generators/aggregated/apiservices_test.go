package aggregated_test

import (
	"crypto/sha256"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/kubeseams/seams/generators/aggregated"
)

// kubectl stands in for the cluster: patch --local is what upstream's does with
// these arguments, a merge into each document, and what is applied is kept.
const kubectl = `#!/bin/sh
case $1 in
patch) for a in "$@"; do case $a in --patch=*) printf '%s' "${a#--patch=}" ;; esac; done ;;
apply) cat >"$KEEP" ;;
esac
`

// The script fills in the public certificate that it is given, and refuses what
// is none.
func TestAPIServicesScript(t *testing.T) {
	h := newHost(t)
	bin, kept := t.TempDir(), filepath.Join(t.TempDir(), "applied")
	if err := os.WriteFile(filepath.Join(bin, "kubectl"), []byte(kubectl), 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(ca string) error {
		cmd := exec.Command("sh", filepath.Join(h.files, tierPath, aggregated.APIServicesScript), ca)
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "KEEP="+kept)
		return cmd.Run()
	}
	if err := run(filepath.Join(h.dir, "ca.crt")); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	var patch struct{ Spec struct{ CABundle []byte } }
	if err := json.Unmarshal(data, &patch); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	if sha256.Sum256(patch.Spec.CABundle) != sha256.Sum256(h.read("ca.crt")) {
		t.Errorf("the bundle is not the certificate: %q", patch.Spec.CABundle)
	}
	for _, bad := range []string{filepath.Join(h.dir, "ca.key"), filepath.Join(h.dir, "none.crt")} {
		if err := run(bad); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}
