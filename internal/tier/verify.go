package tier

import (
	"context"
	"encoding/json"
	"fmt"
	"path"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeseams/seams/internal/apiclient"
)

// verify compares both etcds to the byte, and what every kube-apiserver serves
// with them. A write that got past the freeze late is copied once more, since
// none gets to the target yet.
func (m *Mover) verify(ctx context.Context) error {
	from, to := m.side(m.o.To.Other()), m.side(m.o.To)
	for {
		c, err := compare(ctx, from, to, false)
		if err != nil {
			return err
		}
		if c.Differ == 0 {
			m.j.Moved = &c.Digest
			m.log("        %d objects, %d bytes, equal in both etcds", c.Objects, c.Bytes)
			break
		}
		m.log("        %d objects have changed since they were copied", c.Differ)
		if err := m.copy(ctx); err != nil {
			return err
		}
	}
	if err := m.leadsTo(ctx, m.o.To); err != nil {
		return err
	}
	if err := m.serves(ctx, m.o.Cluster.Main); err != nil {
		return err
	}
	return m.j.save(ctx)
}

// serves compares what servers list with the keys of the target: as many
// objects of each resource in each version, with the same uids.
func (m *Mover) serves(ctx context.Context, servers []*Server) error {
	to := m.side(m.o.To)
	stored, err := compare(ctx, to, to, false)
	if err != nil {
		return err
	}
	crds, err := m.definitions(ctx, m.o.To)
	if err != nil {
		return err
	}
	for _, s := range servers {
		for _, crd := range crds {
			for _, version := range servedVersions(crd) {
				at := path.Join("/apis", m.o.Group, version, crd.Spec.Names.Plural)
				listed, err := uids(ctx, s, at)
				if err != nil {
					return err
				}
				want, known := stored.uids[crd.Spec.Names.Plural]
				if !known {
					want = &uidSum{}
				}
				if want != nil && listed != *want {
					return fmt.Errorf("%s lists %d objects at %s, where the etcd has %d, or they are others", s.Host, listed.objects, at, want.objects)
				}
			}
		}
	}
	return nil
}

// uids are those of all objects of a collection.
func uids(ctx context.Context, s *Server, at string) (uidSum, error) {
	var sum uidSum
	get := func(ctx context.Context, p params, out any) error {
		raw, err := s.Read(ctx, at, p, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
		if err != nil {
			return fmt.Errorf("list %s of %s: %w", at, s.Host, err)
		}
		return json.Unmarshal(raw, out)
	}
	err := apiclient.Pages(ctx, get, nil, func(items []metav1.PartialObjectMetadata) bool {
		for _, o := range items {
			sum.add(string(o.UID))
		}
		return true
	})
	return sum, err
}
