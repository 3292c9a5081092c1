package profile

import (
	"context"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// runawayError says which limit stopped an evaluation.
type runawayError struct{ reason string }

func (e *runawayError) Error() string { return e.reason }

// panicError is a panic of a parser or evaluator.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("the evaluator failed: %v", e.value) }

// bounded runs f beside a watch on the context, the time and the heap. What
// cannot be stopped is abandoned: f's goroutine goes on until it ends by
// itself, so the caller is expected to end soon.
func bounded[T any](ctx context.Context, limits Limits, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		// The parsers and evaluators behind f belong to others and have met input
		// that made them panic; a bad file must not end the program.
		defer func() {
			if p := recover(); p != nil {
				o.err = &panicError{p, debug.Stack()}
			}
			done <- o
		}()
		o.value, o.err = f()
	}()

	var zero T
	base := memoryNow()
	deadline := time.NewTimer(limits.Time)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case o := <-done:
			return o.value, o.err
		case <-ctx.Done():
			return zero, ctx.Err()
		case <-deadline.C:
			return zero, &runawayError{fmt.Sprintf("evaluation was stopped after %v", limits.Time)}
		case <-tick.C:
			now := memoryNow()
			if now.heap > base.heap+limits.HeapBytes {
				return zero, &runawayError{fmt.Sprintf("evaluation was stopped at %d MiB of memory", limits.HeapBytes>>20)}
			}
			if now.stacks > base.stacks+stackBytes {
				return zero, &runawayError{fmt.Sprintf("evaluation was stopped at %d MiB of stack", stackBytes>>20)}
			}
		}
	}
}

// stackBytes is what the stacks may grow by. At 1 GB the Go runtime ends the
// program, which nothing can catch, and a stack grows by doubling: a Jsonnet
// function that calls itself tailstrict is not among the calls that are counted.
const stackBytes = 200 << 20

// memory is the memory in objects, live or not yet swept, and in stacks.
type memory struct{ heap, stacks uint64 }

func memoryNow() memory {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(s)
	return memory{s[0].Value.Uint64(), s[1].Value.Uint64()}
}
