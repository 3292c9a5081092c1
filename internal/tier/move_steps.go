package tier

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeseams/seams/internal/etcdclient"
)

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// definitions are those of the group in a place, in order.
func (m *Mover) definitions(ctx context.Context, p Place) ([]*CRD, error) {
	crds, err := crdsOf(ctx, m.servers(p)[0], []string{m.o.Group})
	return sortedCRDs(crds), err
}

// asked are the servers that take writes to the group while a place serves it:
// every kube-apiserver, and the tier's own, which somebody may call directly.
func (m *Mover) asked(p Place) []*Server {
	if p == Main {
		return m.o.Cluster.Main
	}
	return slices.Concat(m.o.Cluster.Main, m.o.Cluster.Tier)
}

func (m *Mover) freeze(ctx context.Context) error {
	from := m.o.To.Other()
	if err := freezeGroup(ctx, m.o.Cluster.Main[0], m.o.Group, m.o.To); err != nil {
		return err
	}
	crds, err := m.definitions(ctx, from)
	if err != nil {
		return err
	}
	if err := waitFor(ctx, m.asked(from), m.o.Group, crds, frozen); err != nil {
		return err
	}
	return sleep(ctx, m.o.Settle)
}

func (m *Mover) thaw(ctx context.Context) error {
	if err := thawGroup(ctx, m.o.Cluster.Main[0], m.o.Group); err != nil {
		return err
	}
	at := m.o.To
	if m.j.RollingBack {
		at = at.Other()
	}
	crds, err := m.definitions(ctx, at)
	if err != nil {
		return err
	}
	return waitFor(ctx, m.asked(at), m.o.Group, crds, open)
}

// copy copies until nothing differs: what was on its way past admission when the
// group was frozen may come after the first pass.
func (m *Mover) copy(ctx context.Context) error {
	for {
		c, err := compare(ctx, m.side(m.o.To.Other()), m.side(m.o.To), true)
		if err != nil {
			return err
		}
		m.log("        %d of %d objects written", c.Differ, c.Objects)
		if c.Differ == 0 {
			return nil
		}
	}
}

// ownStore makes sure that a place's etcd is the one its server writes to: the
// resourceVersion of an object is the revision its key was written at.
func (m *Mover) ownStore(ctx context.Context, p Place, at, key string) error {
	s := m.side(p)
	prefix := s.prefix[:len(s.prefix)-len(m.o.Group)-1]
	return until(ctx, 5*time.Second, 100*time.Millisecond, func(ctx context.Context) error {
		var o struct{ Metadata metav1.ObjectMeta }
		if err := m.servers(p)[0].get(ctx, at, &o); err != nil {
			return err
		}
		there, err := s.Get(ctx, etcdclient.Range{Key: []byte(prefix + key), KeysOnly: true})
		if err != nil {
			return err
		}
		if len(there.KVs) == 0 || strconv.FormatInt(there.KVs[0].ModRevision, 10) != o.Metadata.ResourceVersion {
			return fmt.Errorf("the %s etcd has no key %s%s of resourceVersion %s: it is not the one that %s writes to, or its prefix is another", s.Name, prefix, key, o.Metadata.ResourceVersion, m.servers(p)[0].Host)
		}
		return nil
	})
}

// switchOver leads every version of the group to a place, and waits until every
// kube-apiserver does.
func (m *Mover) switchOver(ctx context.Context, to Place) error {
	if err := m.level(ctx, to); err != nil {
		return err
	}
	if err := m.watchOut(ctx, to.Other()); err != nil {
		return err
	}
	main := m.o.Cluster.Main[0]
	for _, version := range m.j.Versions {
		change := func() error { return point(ctx, main, m.o.Cluster.Target, m.o.Group, version) }
		if to == Main {
			change = func() error { return unpoint(ctx, main, m.o.Group, version) }
		}
		if err := change(); err != nil {
			return err
		}
	}
	return m.leadsTo(ctx, to)
}

// leadsTo is an error unless every kube-apiserver sends every version to a place.
func (m *Mover) leadsTo(ctx context.Context, to Place) error {
	crds, err := crdsOf(ctx, m.servers(to)[0], []string{m.o.Group})
	if err != nil {
		return err
	}
	if len(crds) == 0 {
		return fmt.Errorf("%s has no definition of %s", to, m.o.Group)
	}
	if to == Tier {
		_, err := verifyRoutes(ctx, m.o.Cluster, m.o.Group)
		return err
	}
	for _, v := range allServed(crds) {
		if err := waitAvailable(ctx, m.o.Cluster.Main[0], m.o.Group, v.version, routeWait); err != nil {
			return err
		}
		for _, s := range m.o.Cluster.Main {
			err := until(ctx, routeWait, 250*time.Millisecond, func(ctx context.Context) error {
				marked, err := discovered(ctx, s, m.o.Cluster.Target, m.o.Group, v.version)
				if err != nil {
					return err
				}
				for _, plural := range v.plurals {
					if is, ok := marked[plural]; !ok || is {
						return fmt.Errorf("%s/%s through %s: %s is not served by the main server yet", m.o.Group, v.version, s.Host, plural)
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
