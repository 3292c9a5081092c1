// Package lint goes from existing files to findings: what people run today,
// judged by the code that judges what is rendered. It tells what each file is,
// puts together what belongs to one cluster, and hands that to package check;
// files of other kinds are counted and left alone.
package lint

import (
	"context"
	"io"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/lint/read"
	"github.com/kubeseams/seams/internal/target"
)

// Entry is a file to look at.
type Entry struct {
	// Path names the file, with forward slashes.
	Path string
	// Named files are those the user pointed at, and not found in a tree: one
	// that is of no known kind is a finding.
	Named bool
	// Config says that it holds the kubeadm configuration of the manifests.
	Config bool
}

// Input is what is linted.
type Input struct {
	// Entries are the files; an error among them is about the path beside it,
	// and does not keep others from being linted.
	Entries iter.Seq2[Entry, error]
	// Open opens an entry. It is called from several goroutines, and more than
	// once for a file.
	Open func(path string) (io.ReadCloser, error)
	// As is the kind of all files where it is not None.
	As read.Kind
	// Program is the program whose flags a list has; empty, it is told by the flags.
	Program string
	// Kubernetes and Kops are the versions where the files do not tell them; zero means the newest.
	Kubernetes, Kops target.Version
	// KopsFeatureFlags is the value of KOPS_FEATURE_FLAGS that kOps will run with.
	KopsFeatureFlags string
	// OneCluster says that all files are of one cluster.
	OneCluster bool
	// Before are documents of kOps as they are in force now: what kOps refuses or
	// cannot do on the way from them to the entries is said.
	Before []file.File
	// Upgrade says that kubeadm configurations are for kubeadm upgrade --config.
	Upgrade bool
	// Experimental lets kubeadm.k8s.io/v1 pass.
	Experimental bool
	// Ignore are suppressions for all files.
	Ignore []Ignore
	// Workers is how many files are judged at once; 0 means GOMAXPROCS.
	Workers int
}

// Ignore suppresses a code everywhere.
type Ignore struct{ What, Reason string }

// Suppressed is a finding that somebody has answered for.
type Suppressed struct {
	finding.Finding
	Reason string `json:"reason"`
	// InSource is false for one that was given with the command.
	InSource bool `json:"inSource"`
}

// Result is what came of it.
type Result struct {
	Findings   []finding.Finding `json:"findings"`
	Suppressed []Suppressed      `json:"suppressed"`
	// Files were linted; Skipped were of no kind that is.
	Files   int `json:"files"`
	Skipped int `json:"skipped"`
}

// Run lints the entries. Files are read twice, first to see what they are and
// then to judge them, so that no more than Workers units are in memory at once.
// Findings are in the order of files and lines. It fails only when ctx ends.
func Run(ctx context.Context, in Input) (Result, error) {
	l := &linter{in: in}
	if l.in.Workers <= 0 {
		l.in.Workers = runtime.GOMAXPROCS(0)
	}
	records := l.survey(ctx)
	units := form(records, in)
	each(l.in.Workers, slices.Values(units), func(u unit) {
		if ctx.Err() == nil {
			l.judge(u)
		}
	})
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	r := l.result
	r.Files, r.Skipped = len(records), int(l.skipped.Load())
	finding.Sort(r.Findings)
	r.Findings, r.Suppressed = ignore(r.Findings, r.Suppressed, in.Ignore)
	finding.Sort(r.Findings)
	r.Findings = slices.Compact(r.Findings)
	slices.SortFunc(r.Suppressed, func(a, b Suppressed) int { return strings.Compare(a.Finding.String(), b.Finding.String()) })
	if r.Findings == nil {
		r.Findings = []finding.Finding{}
	}
	if r.Suppressed == nil {
		r.Suppressed = []Suppressed{}
	}
	return r, nil
}

// linter gathers what is found.
type linter struct {
	in      Input
	skipped atomic.Int64

	mu      sync.Mutex
	result  Result
	records []record
	// big lets one file at a time be judged that takes much memory.
	big sync.Mutex
}

func (l *linter) add(findings []finding.Finding, suppressed []Suppressed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.result.Findings = append(l.result.Findings, findings...)
	l.result.Suppressed = append(l.result.Suppressed, suppressed...)
}

// survey looks at every entry and keeps a record of those of a known kind, in
// the order of their paths.
func (l *linter) survey(ctx context.Context) []record {
	type item struct {
		entry Entry
		err   error
	}
	items := func(yield func(item) bool) {
		for e, err := range l.in.Entries {
			if ctx.Err() != nil || !yield(item{e, err}) {
				return
			}
		}
	}
	each(l.in.Workers, items, func(it item) {
		if it.err != nil {
			l.add([]finding.Finding{unreadable(it.entry.Path, it.err)}, nil)
			return
		}
		r, findings := l.look(it.entry)
		l.add(findings, nil)
		switch {
		case r != nil:
			l.mu.Lock()
			l.records = append(l.records, *r)
			l.mu.Unlock()
		case len(findings) == 0:
			l.skipped.Add(1)
		}
	})
	slices.SortFunc(l.records, func(a, b record) int { return strings.Compare(a.path, b.path) })
	return slices.CompactFunc(l.records, func(a, b record) bool { return a.path == b.path })
}

// each hands items to a number of workers, and returns when all are done.
func each[T any](workers int, items iter.Seq[T], do func(T)) {
	work := make(chan T, workers)
	var done sync.WaitGroup
	for range workers {
		done.Go(func() {
			for x := range work {
				do(x)
			}
		})
	}
	for x := range items {
		work <- x
	}
	close(work)
	done.Wait()
}
