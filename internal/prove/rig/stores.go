package rig

import (
	"context"
	"fmt"
)

// Members are the processes of a store's members, by host.
func (r *Rig) Members(store string) []*Process {
	var members []*Process
	for _, p := range r.Processes() {
		if store != "" && p.Store == store {
			members = append(members, p)
		}
	}
	return members
}

// Renew gives a store new life after the loss of all its members, as somebody
// would who puts the manifests of the first start back: every member ends,
// loses what data it still has, and all begin together, empty. The manifests
// for the time after the first start cannot do that: each member would look for
// the others to tell it of a cluster that is no more, and end.
func (r *Rig) Renew(ctx context.Context, store string) error {
	members := r.Members(store)
	if len(members) == 0 {
		return fmt.Errorf("the rig has no store %q", store)
	}
	for _, p := range members {
		if err := p.Wipe(); err != nil {
			return err
		}
		p.op.Lock()
		if p.first.argv != nil {
			p.Argv, p.Changes = p.first.argv, p.first.changes
		}
		p.op.Unlock()
	}
	return r.startAll(ctx, members)
}
