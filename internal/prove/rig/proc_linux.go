package rig

import (
	"os/exec"
	"runtime"
	"syscall"
)

// supported is nil where the rig can keep its promises.
func supported() error { return nil }

// spawner starts processes from one thread that lives as long as the rig. The
// kernel sends the signal of a parent's death when the thread that started the
// child ends, not the process, and Go ends threads as it likes.
type spawner struct{ work chan func() }

func newSpawner() *spawner {
	s := &spawner{work: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for f := range s.work {
			f()
		}
	}()
	return s
}

// start starts a command in a process group of its own, which Ctrl-C at the
// terminal does not reach, and which dies with this process.
func (s *spawner) start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	done := make(chan error)
	s.work <- func() { done <- cmd.Start() }
	return <-done
}

// close ends the thread, and with it every child that is still there.
func (s *spawner) close() { close(s.work) }
