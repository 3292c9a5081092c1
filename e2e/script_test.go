package e2e

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubeseams/seams/internal/cli"
)

// TestMain lets transcripts call the program as a command.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"seams":         func() { os.Exit(cli.Main(context.Background(), cli.OSStreams(), os.Args[1:])) },
		"kops-seams":    func() { os.Exit(cli.KopsMain(context.Background(), cli.OSStreams(), os.Args[1:])) },
		"kubectl-seams": func() { os.Exit(cli.PluginMain(context.Background(), cli.OSStreams(), "kubectl seams", os.Args[1:])) },
	})
}

// TestScripts replays the transcripts in scripts/. SEAMS_UPDATE=1 rewrites
// what their cmp lines expect, and still fails, so that no run passes by
// rewriting.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs("../recipes/examples")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := filepath.Abs("cases")
	if err != nil {
		t.Fatal(err)
	}
	update := os.Getenv("SEAMS_UPDATE") != ""
	testscript.Run(t, testscript.Params{
		Dir:                 "scripts",
		UpdateScripts:       update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("EXAMPLES", examples)
			env.Setenv("CASES", cases)
			return nil
		},
	})
	if update {
		t.Error("transcripts rewritten; look at the change and run again without SEAMS_UPDATE")
	}
}
