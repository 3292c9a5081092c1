package runbook

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// goldens are the rollouts that the generator is held to.
const goldens = "../../../generators/rollout/testdata"

// Every step of every rollout is found, with every line of its fences.
func TestReadsEveryRollout(t *testing.T) {
	files := 0
	err := filepath.WalkDir(goldens, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		markdown := string(data)
		fenced, titles := 0, strings.Count(markdown, "\n### ")
		in := false
		for _, line := range strings.Split(markdown, "\n") {
			if strings.HasPrefix(line, "```") {
				in = !in
			} else if in {
				fenced++
			}
		}
		var steps []Step
		for _, section := range []string{"A new cluster", "A cluster that runs"} {
			if found, err := Steps(markdown, section); err == nil {
				steps = append(steps, found...)
			}
		}
		lines := 0
		for _, s := range steps {
			lines += strings.Count(s.Commands, "\n") + strings.Count(s.Check, "\n")
			if s.Title == "" || s.Expect == "" {
				t.Errorf("%s: a step without a title or what to expect: %+v", path, s)
			}
		}
		if len(steps) != titles || lines != fenced {
			t.Errorf("%s: %d steps of %d, %d lines of %d", path, len(steps), titles, lines, fenced)
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Fatal(files, err)
	}
}

func TestStepsAreAnErrorWithoutTheSection(t *testing.T) {
	for _, markdown := range []string{"", "## Another\n\n### 1. A\n", "## Wanted\n\ntext\n", "## Wanted\n\n### 1. A\n\n```sh\nls\n"} {
		if steps, err := Steps(markdown, "Wanted"); err == nil {
			t.Errorf("%q: %+v", markdown, steps)
		}
	}
}

func TestForNodes(t *testing.T) {
	got := ForNodes("a\n# on each node: b && c\n# of another kind\n", []string{"n1", "n2"})
	if want := "a\nssh -n root@n1 'b && c'\nssh -n root@n2 'b && c'\n# of another kind\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A docker that runs what it is told to on this machine stands in for containers.
func TestShellRunsOnHosts(t *testing.T) {
	dir, host := t.TempDir(), t.TempDir()
	docker := filepath.Join(t.TempDir(), "docker")
	script := "#!/bin/bash\nshift\n[[ $1 != -i ]] || shift\necho \"on $1\" >&2\nshift\nexec \"$@\"\n"
	if err := os.WriteFile(docker, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	s := &Shell{Dir: dir, Hosts: map[string]string{"10.0.0.1": "node-a"}, Programs: map[string]string{"docker": docker}, Env: []string{"WORD=x y"}}
	if err := os.WriteFile(filepath.Join(dir, "file.yaml"), []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := s.Run(t.Context(), "scp -r file.yaml root@10.0.0.1:"+host+"/\nssh root@10.0.0.1 'cp "+host+"/file.yaml "+host+"/b.yaml'\nmkdir back\nscp 'root@10.0.0.1:"+host+"/*.yaml' back/\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{filepath.Join(host, "file.yaml"), filepath.Join(dir, "back/file.yaml"), filepath.Join(dir, "back/b.yaml")} {
		if data, err := os.ReadFile(file); string(data) != "text" {
			t.Errorf("%s: %q, %v", file, data, err)
		}
	}
	if out, err := s.Ask(t.Context(), `ssh -n root@10.0.0.1 'false'; echo "$WORD"`); err != nil || out != "on node-a\nx y\n" {
		t.Errorf("%q, %v", out, err)
	}
	if err := s.Run(t.Context(), "false\ntouch after"); err == nil {
		t.Error("a command that failed ended nothing")
	}
	if err := s.Run(t.Context(), "ssh root@10.9.9.9 true"); err == nil {
		t.Error("a host that is not there was reached")
	}
}
