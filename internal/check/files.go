package check

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/kubeseams/seams/internal/file"
)

// judgeEach judges each file by itself, on all processors. Every file has a
// checker of its own; what they found and saw is put together in the files'
// order, so that the outcome is the same on one processor.
func (c *checker) judgeEach(files []file.File) {
	alone := make([]*checker, len(files))
	for i := range alone {
		alone[i] = &checker{target: c.target, existing: c.existing, experimental: c.experimental, names: c.names}
	}
	each(len(files), func(i int) { alone[i].judgeFile(files[i]) })
	for _, one := range alone {
		c.take(one)
	}
}

// take adds what another checker found and saw.
func (c *checker) take(one *checker) {
	c.findings = append(c.findings, one.findings...)
	c.clusters = append(c.clusters, one.clusters...)
	c.patches = append(c.patches, one.patches...)
	c.patchReferences = append(c.patchReferences, one.patchReferences...)
	c.processes = append(c.processes, one.processes...)
	c.kubelets = append(c.kubelets, one.kubelets...)
	c.joins = append(c.joins, one.joins...)
	c.kindControlPlanes += one.kindControlPlanes
}

// each calls f with 0 to n-1, from as many goroutines as there are processors.
// A panic of f, which upstream's code has for odd input, is the caller's, as it
// would be without the goroutines.
func each(n int, f func(i int)) {
	var (
		next    atomic.Int64
		workers sync.WaitGroup
		failure atomic.Pointer[any]
	)
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					failure.Store(&p)
				}
			}()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	workers.Wait()
	if p := failure.Load(); p != nil {
		panic(*p)
	}
}
