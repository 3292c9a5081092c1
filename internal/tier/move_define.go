package tier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

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
	for _, crd := range staying(crds) {
		if err := categorize(ctx, m.servers(p), m.as(served, crd)); err != nil {
			return err
		}
	}
	return nil
}

// staying are definitions without those that are being deleted, as a rollback
// that was killed may have begun to do: they go at any moment, their watches with
// them, and what they are marked with no longer matters.
func staying(crds []*CRD) []*CRD {
	return slices.DeleteFunc(slices.Clone(crds), func(crd *CRD) bool { return crd.DeletionTimestamp != nil })
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
	crds, err := crdsOf(ctx, m.servers(p)[0], []string{m.o.Group})
	if err != nil {
		return err
	}
	for _, name := range made {
		if crd := crds[name]; crd != nil {
			if err := m.removeEmpty(ctx, p, crd); err != nil {
				return err
			}
		}
	}
	return m.mark(ctx, p, p.Other())
}

// removeEmpty deletes a definition whose keys are gone, once the servers of the
// tier have seen that: upstream would go on to delete what they still list.
// Those of main cannot be asked while the group leads to the tier.
func (m *Mover) removeEmpty(ctx context.Context, p Place, crd *CRD) error {
	for _, s := range m.o.Cluster.Tier {
		if p == Main || crd.DeletionTimestamp != nil || len(servedVersions(crd)) == 0 {
			break
		}
		at := path.Join("/apis", m.o.Group, servedVersions(crd)[0], crd.Spec.Names.Plural)
		err := until(ctx, time.Minute, 200*time.Millisecond, func(ctx context.Context) error {
			left, err := uids(ctx, s, at)
			if err == nil && left.objects > 0 {
				err = fmt.Errorf("%s still lists %d objects whose keys are gone", s.Host, left.objects)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return removeCRD(ctx, m.servers(p)[0], crd.Name)
}

// removeCRD deletes a definition whose objects are gone, and waits for it.
//
// Upstream's finalizer lists the objects without a limit, which a server refuses
// with 429 as long as its cache of them is being filled: always, when nobody asked
// for the resource since its storage was made anew. It tries again within
// milliseconds, from a copy of the definition that may be of before its last own
// write; that conflict it takes for somebody else's change that will call it
// again, but a change of nothing but its own condition does not, and it sleeps
// until its next resync, up to five minutes later. A change of anything else
// wakes it.
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
	next := time.Now().Add(wakeEvery)
	return wrap(until(ctx, removeWait, 200*time.Millisecond, func(ctx context.Context) error {
		err := s.get(ctx, at, &crd)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err == nil && time.Now().After(next) {
			err = wake(ctx, s, at)
			next = time.Now().Add(wakeEvery)
		}
		return cmp.Or(err, lingers(&crd))
	}), "delete definition %s of %s", name, s.Host)
}

// wakeEvery is longer than a finalizer takes that goes on by itself: it looks
// every five seconds whether the objects are gone.
const wakeEvery = 8 * time.Second

// wake changes a definition that is being deleted, so that its finalizer looks
// at it.
func wake(ctx context.Context, s *Server, at string) error {
	err := s.merge(ctx, at, map[string]any{"metadata": map[string]any{"annotations": map[string]any{
		"seams.dev/deletion-awaited": time.Now().UTC().Format(time.RFC3339Nano),
	}}}, nil)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
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
