//go:build !linux

package rig

import (
	"errors"
	"os/exec"
)

// supported is why the rig does not run here: other systems have one address
// on loopback and no signal on the death of a parent.
func supported() error {
	return errors.New("the rig runs on Linux only: it needs all of 127.0.0.0/8 and processes that die with their parent")
}

type spawner struct{}

func newSpawner() *spawner { return &spawner{} }

func (*spawner) start(*exec.Cmd) error { return supported() }

func (*spawner) close() {}
