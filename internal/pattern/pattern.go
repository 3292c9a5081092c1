// Package pattern has regular expressions that are compiled when they are first
// used. It is no arrow of the flow: a program that reads, judges and explains
// has dozens of them and needs few in any one run, and to compile all of them is
// a tenth of what a run takes to start.
package pattern

import (
	"regexp"
	"sync"
)

// Of gives a function that compiles the expression once. One that does not
// compile is a mistake in the program, which panics at its first use; a test
// compiles all of them.
func Of(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
