package tier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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

// define has the target serve the group, from the definitions of the source: it
// begins to only now, so that what it keeps in memory begins beyond the fence,
// and no client finds an event there that it should not.
func (m *Mover) define(ctx context.Context) error {
	from, to := m.o.To.Other(), m.o.To
	crds, err := m.definitions(ctx, from)
	if err != nil {
		return err
	}
	there, err := crdsOf(ctx, m.servers(to)[0], []string{m.o.Group})
	if err != nil {
		return err
	}
	for _, crd := range crds {
		if there[crd.Name] == nil && !slices.Contains(m.j.Made, crd.Name) {
			m.j.Made = append(m.j.Made, crd.Name)
		}
	}
	if err := m.j.save(ctx); err != nil {
		return err
	}
	for _, crd := range crds {
		if have := there[crd.Name]; have != nil && sameSpec(have, crd) {
			err = m.remark(ctx, to, to, have)
		} else {
			err = define(ctx, m.servers(to), m.as(to, crd))
		}
		if err != nil {
			return err
		}
		if err := m.ownStore(ctx, to, path.Join(crdsPath, crd.Name), "apiextensions.k8s.io/customresourcedefinitions/"+crd.Name); err != nil {
			return err
		}
		// Objects may be stored as versions that are not the storage version now.
		stored := map[string]any{"status": map[string]any{"storedVersions": union(crd, there[crd.Name])}}
		at := path.Join(crdsPath, crd.Name, "status")
		if err := m.servers(to)[0].do(ctx, http.MethodPatch, at, nil, string(types.MergePatchType), stored, nil); err != nil {
			return fmt.Errorf("stored versions of %s: %w", crd.Name, err)
		}
	}
	if to == Main {
		// Nothing tells whether every kube-apiserver has learnt of the definitions,
		// as all requests still lead to the tier.
		return sleep(ctx, m.o.Settle)
	}
	return until(ctx, establishWait, 500*time.Millisecond, func(ctx context.Context) error { return m.serves(ctx, m.o.Cluster.Tier) })
}

// union are the stored versions of two states of a definition.
func union(crd, other *CRD) []string {
	all := slices.Clone(crd.Status.StoredVersions)
	if other != nil {
		for _, v := range other.Status.StoredVersions {
			if !slices.Contains(all, v) && hasVersion(crd, v) {
				all = append(all, v)
			}
		}
	}
	return all
}

// as is a definition as it stands, in either place, while one of them serves the
// group: with the tier's category or without.
func (m *Mover) as(served Place, crd *CRD) *CRD {
	c := unmarked(crd)
	if served == Tier {
		c = m.o.Cluster.Target.marked(crd)
	}
	// What kubectl applied is not what is applied here. Other annotations are
	// looked at: upstream wants one for groups of its own domain.
	delete(c.Annotations, "kubectl.kubernetes.io/last-applied-configuration")
	return c
}

// mark writes the categories of the definitions of a place as they stand while
// served serves, and nothing else of them: they are somebody else's.
func (m *Mover) mark(ctx context.Context, p, served Place) error {
	crds, err := m.definitions(ctx, p)
	if err != nil {
		return err
	}
	for _, crd := range crds {
		if err := categorize(ctx, m.servers(p), m.as(served, crd)); err != nil {
			return err
		}
	}
	return nil
}

// remark is mark, but changes every definition, also one that stands right
// already: its server drops what it keeps of the resource and begins anew.
func (m *Mover) remark(ctx context.Context, p, served Place, crd *CRD) error {
	if slices.Equal(crd.Spec.Names.Categories, m.as(served, crd).Spec.Names.Categories) {
		if err := categorize(ctx, m.servers(p), m.as(served.Other(), crd)); err != nil {
			return err
		}
	}
	return categorize(ctx, m.servers(p), m.as(served, crd))
}

// undefine takes definitions away that the move has made, and marks those that
// it found as they were.
func (m *Mover) undefine(ctx context.Context, p Place, made []string) error {
	for _, name := range made {
		if err := removeCRD(ctx, m.servers(p)[0], name); err != nil {
			return err
		}
	}
	return m.mark(ctx, p, p.Other())
}

// removeCRD deletes a definition whose objects are gone, and waits for it.
func removeCRD(ctx context.Context, s *Server, name string) error {
	at := path.Join(crdsPath, name)
	var crd CRD
	err := s.get(ctx, at, &crd)
	if err == nil {
		err = s.remove(ctx, at, crd.ObjectMeta)
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete definition %s of %s: %w", name, s.Host, err)
	}
	return wrap(until(ctx, removeWait, 200*time.Millisecond, func(ctx context.Context) error {
		err := s.get(ctx, at, &crd)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return cmp.Or(err, lingers(&crd))
	}), "delete definition %s of %s", name, s.Host)
}

// removeWait is a little more than twice what upstream looks for objects that
// are left before it begins anew.
const removeWait = 150 * time.Second

// lingers says why a definition that was deleted is still there.
func lingers(crd *CRD) error {
	for _, c := range crd.Status.Conditions {
		if c.Type == apiextensionsv1.Terminating {
			return fmt.Errorf("it is still there: %s: %s", c.Reason, c.Message)
		}
	}
	return errors.New("it is still there")
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
		there, err := s.get(ctx, rangeRequest{Key: []byte(prefix + key), KeysOnly: true})
		if err != nil {
			return err
		}
		if len(there.KVs) == 0 || strconv.FormatInt(there.KVs[0].ModRevision, 10) != o.Metadata.ResourceVersion {
			return fmt.Errorf("the %s etcd has no key %s%s of resourceVersion %s: it is not the one that %s writes to, or its prefix is another", s.name, prefix, key, o.Metadata.ResourceVersion, m.servers(p)[0].Host)
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
