package target

import (
	"encoding/json"
	"slices"
	"strings"
)

// Storage says what becomes of a built-in resource that an entry of
// --etcd-servers-overrides names.
type Storage int

const (
	// Routable resources are stored where their override says.
	Routable Storage = iota
	// Alias resources are stored under another group's name, whose override
	// counts: events.k8s.io/events under /events.
	Alias
	// MainOnly resources are stored in --etcd-servers whatever the overrides
	// say: the servers for CRDs and APIServices use a SimpleStorageFactory
	// (pkg/controlplane/apiserver/{apiextensions,aggregator}.go).
	MainOnly
	// Unstored resources are answered and forgotten, such as tokenreviews.
	Unstored
)

// Resource is a kind of resource compiled into kube-apiserver.
type Resource struct {
	Group    string  `json:"group"`
	Resource string  `json:"resource"`
	Storage  Storage `json:"-"`
	// AliasOf is GROUP/RESOURCE of what an alias is stored as.
	AliasOf string `json:"-"`
}

// UnmarshalJSON reads a line of resources.json, where storage is empty, none,
// main or alias:GROUP/RESOURCE.
func (r *Resource) UnmarshalJSON(text []byte) error {
	var line struct{ Group, Resource, Storage string }
	if err := json.Unmarshal(text, &line); err != nil {
		return err
	}
	*r = Resource{Group: line.Group, Resource: line.Resource}
	alias, isAlias := strings.CutPrefix(line.Storage, "alias:")
	switch {
	case isAlias:
		r.Storage, r.AliasOf = Alias, alias
	case line.Storage == "main":
		r.Storage = MainOnly
	case line.Storage == "none":
		r.Storage = Unstored
	}
	return nil
}

// Key writes the resource as an override names it: "/events",
// "coordination.k8s.io/leases".
func (r Resource) Key() string { return r.Group + "/" + r.Resource }

type resourceTable struct {
	list   []Resource
	byKey  map[string]Resource
	byName map[string][]Resource
}

func newResourceTable(list []Resource) resourceTable {
	t := resourceTable{list, map[string]Resource{}, map[string][]Resource{}}
	for _, r := range list {
		t.byKey[r.Key()] = r
		t.byName[r.Resource] = append(t.byName[r.Resource], r)
	}
	return t
}

// BuiltIn reports whether the resource is compiled into kube-apiserver of this
// version; everything else is a custom or an aggregated resource, which
// --etcd-servers-overrides cannot route. Not every built-in one can be routed
// either: see LookUp.
func BuiltIn(kubernetes Version, group, resource string) bool {
	_, ok := LookUp(kubernetes, group, resource)
	return ok
}

// LookUp finds a built-in resource; ok is false for any other.
func LookUp(kubernetes Version, group, resource string) (r Resource, ok bool) {
	r, ok = tablesOf(kubernetes).resources().byKey[group+"/"+resource]
	return r, ok
}

// BuiltIns lists the resources compiled into kube-apiserver of this version,
// by group and name.
func BuiltIns(kubernetes Version) []Resource {
	return slices.Clone(tablesOf(kubernetes).resources().list)
}

// BuiltInsNamed lists the built-in resources of that name in any group, for a
// suggestion where the group is wrong.
func BuiltInsNamed(kubernetes Version, resource string) []Resource {
	return slices.Clone(tablesOf(kubernetes).resources().byName[resource])
}
