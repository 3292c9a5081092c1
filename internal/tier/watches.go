package tier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// canary is a watch that shows when a server ends all watches of a resource: it
// is served from the same storage as those of clients, and ends with it.
type canary struct {
	what  string
	body  io.Closer
	ended chan struct{}
}

func (c *canary) close() { _ = c.body.Close() }

func (m *Mover) drop() {
	for _, c := range m.canaries {
		c.close()
	}
	m.canaries = nil
}

// watchOut opens a watch of every resource at every server of a place that is
// about to serve no longer. After an interruption the group may lead elsewhere
// already, and then there is nothing to see.
func (m *Mover) watchOut(ctx context.Context, p Place) error {
	m.drop()
	if p == Main && m.quick(ctx, p) != nil {
		return nil
	}
	crds, err := m.definitions(ctx, p)
	if err != nil {
		return err
	}
	for _, s := range m.servers(p) {
		for _, crd := range staying(crds) {
			c, err := watch(ctx, s, path.Join("/apis", m.o.Group, servedVersions(crd)[0], crd.Spec.Names.Plural))
			if err != nil {
				return err
			}
			m.canaries = append(m.canaries, c)
		}
	}
	return nil
}

// quick asks once whether the main servers serve the group themselves.
func (m *Mover) quick(ctx context.Context, _ Place) error {
	services, err := apiServices(ctx, m.o.Cluster.Main[0], m.o.Group)
	if err != nil {
		return err
	}
	for _, a := range services {
		if !a.local() {
			return errors.New("it leads elsewhere")
		}
	}
	return nil
}

func watch(ctx context.Context, s *Server, at string) (*canary, error) {
	var page struct{ Metadata metav1.ListMeta }
	if err := s.do(ctx, http.MethodGet, at, params{"limit": "1"}, "", nil, &page); err != nil {
		return nil, err
	}
	body, err := s.Get().AbsPath(at).SetHeader("Accept", "application/json").Param("watch", "true").
		Param("resourceVersion", page.Metadata.ResourceVersion).Param("timeoutSeconds", "86400").Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("watch %s of %s: %w", at, s.Host, err)
	}
	c := &canary{what: at + " of " + s.Host, body: body, ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		_, _ = io.Copy(io.Discard, body)
	}()
	return c, nil
}

// blindWait is how long watches take to end that cannot be seen: a server waits
// a second for requests to register, and for those on their way.
const blindWait = 15 * time.Second

// closeWatches has a place that serves no longer end its watches, by a change of
// its definitions that means nothing else. Without it clients would hold on to
// a store that nothing is written to any more, for minutes and up to an hour. A
// mover that was killed may have made the change already, and watches may have
// been opened since: it is made once more.
func (m *Mover) closeWatches(ctx context.Context, p Place) error {
	crds, err := m.definitions(ctx, p)
	if err != nil {
		return err
	}
	for _, crd := range staying(crds) {
		if err := m.remark(ctx, p, p.Other(), crd); err != nil {
			return err
		}
	}
	if len(m.canaries) == 0 {
		return sleep(ctx, blindWait)
	}
	limit := time.After(3 * time.Minute) // upstream drains requests for two minutes at most
	for _, c := range m.canaries {
		select {
		case <-c.ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-limit:
			return fmt.Errorf("the watch %s has not ended", c.what)
		}
	}
	m.log("        %d watches of our own ended, and with them those of others", len(m.canaries))
	m.drop()
	return m.level(ctx, p.Other())
}
