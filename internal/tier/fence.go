package tier

import (
	"context"
	"fmt"

	"github.com/kubeseams/seams/internal/etcdclient"
)

// fenceKey is what is written to raise a revision; no server reads it.
const fenceKey = "/seams.dev/fence"

// fence raises the revision of an etcd to at least a given one, and then
// forgets its past.
//
// A resourceVersion is a revision of the etcd an object came from. A client that
// comes from another etcd with a larger one would be told "Too large resource
// version", or worse: its watch would wait, and be silent about everything up
// to there. With a smaller one it would be given the changes since, of another
// history. Raised and compacted, every resourceVersion of the other etcd is of
// the past, is answered with 410 Gone, and the client lists anew: the same as
// etcdutl snapshot restore --bump-revision --mark-compacted on an etcd that runs.
func fence(ctx context.Context, e *etcdclient.Client, above, maxWrites int64) (int64, error) {
	head, err := e.Head(ctx)
	if err != nil {
		return 0, err
	}
	revision := head.Revision
	missing := above - revision
	if missing > maxWrites {
		return 0, fmt.Errorf(`the %s etcd is at revision %d and has to be above %d: %d writes, and --max-bump allows %d.
Allow more (some thousands are made in a second), or, with the etcd stopped, restore it from a snapshot of itself:
  etcdutl snapshot restore SNAPSHOT --bump-revision %d --mark-compacted --data-dir NEW`, e.Name, revision, above, missing, maxWrites, missing+missing/10+100_000)
	}
	for missing > 0 {
		err := parallel(ctx, int(missing), func(ctx context.Context, _ int) error {
			_, err := e.Put(ctx, []byte(fenceKey), []byte("x"))
			return err
		})
		if err != nil {
			return 0, err
		}
		if head, err = e.Head(ctx); err != nil {
			return 0, err
		}
		revision, missing = head.Revision, above-head.Revision
	}
	if err := e.Remove(ctx, []byte(fenceKey)); err != nil {
		return 0, err
	}
	return revision, e.Compact(ctx, revision)
}
