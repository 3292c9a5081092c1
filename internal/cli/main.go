// Package cli is the edge of the program: the only place that reads flags and
// writes files and the terminal. Each command composes the arrows of the flow
// and prints what they return.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Exit codes; every command keeps to them.
const (
	exitClean      = 0
	exitFindings   = 1 // findings at or above --fail-on
	exitFailure    = 2 // usage, load or tool failure
	exitPastLadder = 3 // only an open rung is left on some axis
)

// Streams are where a command reads and writes: Out is the product, Err the talk.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
	// Colour allows escape sequences on Out, Progress moving lines on Err.
	Colour   bool
	Progress bool
	// Width is the columns of Out, 0 when it is no terminal.
	Width int
}

// exitError carries an exit code; its message, when not empty, is printed once.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exit ends a command with a code and no further message.
func exit(code int) error { return &exitError{code: code} }

// Main runs the program as args say and returns its exit code.
func Main(ctx context.Context, streams Streams, args []string) int {
	return PluginMain(ctx, streams, "seams", args)
}

// PluginMain runs the program under another tool's name for it, so that help
// and examples show what the user typed ("kubectl seams").
func PluginMain(ctx context.Context, streams Streams, name string, args []string) int {
	return execute(ctx, streams, name, func(s Streams) *cobra.Command { return NewRootCmd(s, name) }, args)
}

// KopsMain runs the one command that is a filter of kOps' documents.
func KopsMain(ctx context.Context, streams Streams, args []string) int {
	return execute(ctx, streams, "kops-seams", NewKopsCmd, args)
}

// execute runs a command and sees that its output was written.
func execute(ctx context.Context, streams Streams, name string, command func(Streams) *cobra.Command, args []string) int {
	out := &checkedWriter{w: streams.Out}
	streams.Out = out
	status := run(ctx, command(streams), streams, args)
	if out.err != nil && status != exitFailure {
		fmt.Fprintf(streams.Err, "%s: write the output: %v\n", strings.Fields(name)[0], out.err)
		return exitFailure
	}
	return status
}

// checkedWriter keeps the first error of a writer, so that a product that was
// cut off, on a full disk say, is never taken for a whole one.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.w.Write(p)
	c.err = err
	return n, err
}

func run(ctx context.Context, cmd *cobra.Command, streams Streams, args []string) int {
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return exitClean
	}
	var e *exitError
	if !errors.As(err, &e) {
		e = &exitError{code: exitFailure, err: err}
	}
	if msg := e.Error(); msg != "" {
		fmt.Fprintf(streams.Err, "%s: %s\n", strings.Fields(cmd.Name())[0], msg)
	}
	return e.code
}

// OSStreams are the process's own; colour and progress only on a terminal, and
// colour not where NO_COLOR is set.
func OSStreams() Streams {
	s := Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	if term.IsTerminal(int(os.Stdout.Fd())) {
		s.Colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		s.Width, _, _ = term.GetSize(int(os.Stdout.Fd()))
	}
	s.Progress = term.IsTerminal(int(os.Stderr.Fd()))
	return s
}

// displayPath shortens an absolute path below the working directory.
func displayPath(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(wd, path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}
