//go:build rig

package rig_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubeseams/seams/internal/binaries"
)

// plain gives the programs of a proof by their plain names in a directory, as
// somebody has who built them elsewhere.
func plain(t *testing.T) string {
	t.Helper()
	names := []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "apiextensions-apiserver"}
	set, err := binaries.Find("", "", names...)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range names {
		if err := os.Symlink(set.Path(name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Ctrl-C goes to everybody in the foreground of a terminal. A proof that gets
// it, while a control plane comes up or under load, leaves no process and no
// file, and writes no record.
func TestProveInterrupted(t *testing.T) {
	bin := plain(t)
	for _, says := range []string{"ready in", "driving it for"} {
		t.Run(strings.ReplaceAll(says, " ", "-"), func(t *testing.T) {
			work, evidence := t.TempDir(), t.TempDir()
			cmd := exec.Command(os.Args[0], "prove", "node/stock", "--scale", "0.05", "--seconds", "120", "--bin", bin, "--work-dir", work, "--evidence", evidence)
			// Without a home there is no cache of programs either.
			cmd.Env = []string{asProgram + "=1", "HOME=" + t.TempDir(), "PATH=/nowhere"}
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
			talk, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines, found := bufio.NewScanner(talk), false
			for !found && lines.Scan() {
				t.Log(lines.Text())
				found = strings.Contains(lines.Text(), says)
			}
			if !found {
				t.Fatalf("it never said %q: %v", says, cmd.Wait())
			}
			if n := len(children(t, work)); n < 2 {
				t.Errorf("%d processes name %s", n, work)
			}
			began := time.Now()
			if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			for lines.Scan() {
				t.Log(lines.Text())
			}
			err = cmd.Wait()
			t.Logf("ended after %s: %v", time.Since(began).Round(10*time.Millisecond), err)
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 2 {
				t.Errorf("%v, want exit code 2", err)
			}
			left, err := os.ReadDir(work)
			if err == nil && len(left) > 0 {
				err = fmt.Errorf("%s has %s", work, left[0])
			}
			records, failed := os.ReadDir(evidence)
			if len(records) > 0 {
				failed = fmt.Errorf("a record was written: %s", records[0])
			}
			if err := errors.Join(err, failed); err != nil {
				t.Error(err)
			}
			if still := children(t, work); len(still) > 0 {
				t.Errorf("still there: %v", still)
			}
		})
	}
}
