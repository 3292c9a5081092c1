//go:build rig

package rig_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeseams/seams/internal/tier"
)

// killAt begins a move and kills the mover once it has begun a step: at once, or
// a little later.
func (l *liveTier) killAt(t *testing.T, to tier.Place, step tier.Step) {
	t.Helper()
	l.kill(t, "] "+string(step)+": ", "--to", string(to), "--yes")
}

// kill runs a mover and kills it once it has said something, or a little later.
func (l *liveTier) kill(t *testing.T, says string, args ...string) {
	t.Helper()
	cmd := l.program(t.Context(), slices.Concat([]string{"tier", "move", movedGroup}, args, l.moveFlags(t))...)
	talk, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said []string
	lines, found := bufio.NewScanner(talk), false
	for !found && lines.Scan() {
		said = append(said, lines.Text())
		found = strings.Contains(lines.Text(), says)
	}
	wait := time.Duration(rand.IntN(2)) * time.Duration(rand.IntN(700)) * time.Millisecond
	time.Sleep(wait)
	_ = cmd.Process.Kill()
	err = cmd.Wait()
	switch exit, ok := err.(*exec.ExitError); {
	case !found || ok && exit.ExitCode() > 0:
		t.Fatalf("seams tier move %v never said %q: %v\n%s", args, says, err, strings.Join(said, "\n"))
	case !ok:
		t.Logf("seams tier move %v ended before it was killed at %q", args, says)
	default:
		t.Logf("seams tier move %v killed %s into %q", args, wait, says)
	}
}

// at is how far the move is, as its journal has it.
func (l *liveTier) at(t *testing.T) tier.Step {
	t.Helper()
	m, err := l.kube.CoreV1().ConfigMaps("kube-system").Get(t.Context(), "seams-move-"+movedGroup, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	var j tier.Journal
	if err := json.Unmarshal([]byte(m.Data["journal"]), &j); err != nil {
		t.Fatal(err)
	}
	return j.Step
}

var killSteps = []tier.Step{tier.Freeze, tier.Fence, tier.Copy, tier.Define, tier.Switch, tier.Close, tier.Verify, tier.Thaw}

// A mover that is killed at any step goes on from there, to either side.
func TestTierMoveResumes(t *testing.T) {
	l := startTier(t)
	l.fill(t)
	f := l.follow(t)
	place := tier.Main
	for i, step := range append(slices.Clone(killSteps), tier.Switch) {
		to := place.Other()
		t.Run(fmt.Sprintf("%d-%s-to-%s", i, step, to), func(t *testing.T) {
			before := l.snapshot(t)
			l.killAt(t, to, step)
			if at := l.at(t); at != tier.Done {
				same(t, "after the kill", before, l.snapshot(t))
				l.move(t, 0, "is in "+string(to), "--resume")
			}
			same(t, "after resuming", before, l.snapshot(t))
			if by := l.served(t, "v1.hot.example.dev"); by != string(to) {
				t.Errorf("served by %s", by)
			}
			f.consistent(t, l)
		})
		if t.Failed() {
			return
		}
		place = to
	}
}

// A mover that is killed at any step before writes are taken goes back from
// there.
func TestTierMoveRollsBack(t *testing.T) {
	l := startTier(t)
	l.fill(t)
	f := l.follow(t)
	for _, step := range killSteps {
		t.Run(string(step), func(t *testing.T) {
			before := l.snapshot(t)
			l.killAt(t, tier.Tier, step)
			if at := l.at(t); at == tier.Thaw || at == tier.Done {
				// Too late: clients may have written.
				l.move(t, 2, "has been written to there since", "--rollback")
				return
			}
			l.move(t, 0, "is in main, as it was", "--rollback")
			l.unmoved(t, before, tier.Main)
			f.consistent(t, l)
		})
		if t.Failed() {
			return
		}
	}
}

// unmoved wants a group to be in a place, as it was, and nowhere else.
func (l *liveTier) unmoved(t *testing.T, before map[string]string, in tier.Place) {
	t.Helper()
	same(t, "after going back", before, l.snapshot(t))
	if by := l.served(t, "v1.hot.example.dev"); by != string(in) {
		t.Errorf("served by %s", by)
	}
	main, there := l.stored(t, "/registry/"+movedGroup+"/")
	if in == tier.Tier {
		main, there = there, main
	}
	if main != len(before) || there != 0 {
		t.Errorf("%d keys where it is, and %d where it is not", main, there)
	}
	if at := l.at(t); at != "" {
		t.Errorf("a journal is left, at %s", at)
	}
}

// A rollback that is killed goes on, by either of its names; and a move out of
// the tier goes back into it.
func TestTierRollbackResumes(t *testing.T) {
	l := startTier(t)
	l.fill(t)
	f := l.follow(t)
	for i, says := range []string{"going back from", "leads to main again", "watches of our own ended", "keys deleted from", "definitions of tier", "take writes again"} {
		t.Run(strings.ReplaceAll(says, " ", "-"), func(t *testing.T) {
			before := l.snapshot(t)
			l.killAt(t, tier.Tier, tier.Close)
			l.kill(t, says, "--rollback")
			if l.at(t) != "" {
				l.move(t, 0, "is in main, as it was", []string{"--resume", "--rollback"}[i%2])
			}
			l.unmoved(t, before, tier.Main)
			f.consistent(t, l)
		})
		if t.Failed() {
			return
		}
	}
	t.Run("into the tier", func(t *testing.T) {
		l.move(t, 0, "is in tier", "--to", "tier", "--yes")
		l.move(t, 0, "keys deleted", "--clean-up", "--keep-definition")
		for _, step := range []tier.Step{tier.Define, tier.Switch, tier.Close} {
			before := l.snapshot(t)
			l.killAt(t, tier.Main, step)
			l.move(t, 0, "is in tier, as it was", "--rollback")
			l.unmoved(t, before, tier.Tier)
			f.consistent(t, l)
		}
	})
}
