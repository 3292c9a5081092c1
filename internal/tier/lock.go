package tier

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// leasesPath and lockName are where the lock of all moves is.
const (
	leasesPath = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
	lockName   = "seams-tier-move"
)

// lock is a Lease that one mover holds at a time.
type lock struct {
	server   *Server
	holder   string
	duration time.Duration
	stop     context.CancelFunc
	done     sync.WaitGroup
	mu       sync.Mutex
	lease    coordinationv1.Lease
}

// acquire takes the lock, and gives a context that ends when it is lost. One
// that another holds is taken once it was not renewed for its whole duration, as
// seen here: clocks are not compared.
func acquire(ctx context.Context, s *Server, holder string, duration time.Duration, log func(string, ...any)) (*lock, context.Context, error) {
	l := &lock{server: s, holder: holder, duration: duration}
	seen, since, told := "", time.Now(), false
	for {
		var have coordinationv1.Lease
		err := s.get(ctx, path.Join(leasesPath, lockName), &have)
		switch {
		case apierrors.IsNotFound(err):
			have = coordinationv1.Lease{
				TypeMeta:   metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
				ObjectMeta: metav1.ObjectMeta{Name: lockName, Namespace: "kube-system"},
			}
		case err != nil:
			return nil, nil, fmt.Errorf("lock of moves: %w", err)
		}
		if have.ResourceVersion != seen {
			seen, since = have.ResourceVersion, time.Now()
		}
		held := have.Spec.HolderIdentity != nil && *have.Spec.HolderIdentity != "" && *have.Spec.HolderIdentity != holder
		expiry := duration
		if d := have.Spec.LeaseDurationSeconds; d != nil {
			expiry = time.Duration(*d) * time.Second
		}
		if !held || time.Since(since) > expiry {
			l.lease = have
			if err := l.renew(ctx); err == nil {
				break
			} else if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
				return nil, nil, fmt.Errorf("lock of moves: %w", err)
			}
			continue
		}
		if !told {
			told = true
			log("waiting for %s, which holds the lock of moves, or for %s without a sign of it", *have.Spec.HolderIdentity, expiry)
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(min(duration, time.Second) / 4):
		}
	}
	held, cancel := context.WithCancelCause(ctx)
	life, stop := context.WithCancel(ctx)
	l.stop = stop
	l.done.Go(func() { l.keep(life, cancel) })
	return l, held, nil
}

// renew writes the lease with what was read last; a conflict means that another
// has written it.
func (l *lock) renew(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, seconds := metav1.NowMicro(), int32((l.duration+time.Second-1)/time.Second)
	l.lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: &l.holder, LeaseDurationSeconds: &seconds, RenewTime: &now}
	if l.lease.ResourceVersion == "" {
		return l.server.create(ctx, leasesPath, nil, l.lease, &l.lease)
	}
	return l.server.update(ctx, path.Join(leasesPath, lockName), l.lease, &l.lease)
}

func (l *lock) keep(ctx context.Context, lost context.CancelCauseFunc) {
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(l.duration / 4):
		}
		attempt, cancel := context.WithTimeout(ctx, l.duration/2)
		err := l.renew(attempt)
		if apierrors.IsConflict(err) {
			err = l.reread(attempt, err)
		}
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			last = time.Now()
		case apierrors.IsConflict(err), apierrors.IsNotFound(err), time.Since(last) > l.duration*3/4:
			lost(errors.Join(errors.New("the lock of moves was lost; look whether another mover runs, and resume"), err))
			return
		}
	}
}

// reread looks who has written the lease. A renewal whose answer came too late
// was our own: whoever takes the lock is another holder.
func (l *lock) reread(ctx context.Context, conflict error) error {
	var have coordinationv1.Lease
	if err := l.server.get(ctx, path.Join(leasesPath, lockName), &have); err != nil {
		return err
	}
	if have.Spec.HolderIdentity == nil || *have.Spec.HolderIdentity != l.holder {
		return conflict
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lease = have
	return nil
}

// release lets others have the lock at once.
func (l *lock) release() {
	l.stop()
	l.done.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lease.Spec.HolderIdentity = nil
	// When it fails, the lock is free after its duration.
	_ = l.server.update(ctx, path.Join(leasesPath, lockName), l.lease, nil)
}
