package load

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// Keeper is a load of custom resources that knows which of them a server has
// acknowledged and not been asked to delete.
type Keeper interface {
	// Kept are the keys of the objects that have to be there, "GROUP/PLURAL/
	// NAMESPACE/NAME", sorted. A call without an answer leaves open what became
	// of its object, which is then not among them.
	Kept() []string
}

// kept are the keys of acknowledged objects. The zero one is empty.
type kept struct {
	mu   sync.Mutex
	keys map[string]bool
}

func (k *kept) add(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.keys == nil {
		k.keys = map[string]bool{}
	}
	k.keys[key] = true
}

func (k *kept) drop(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.keys, key)
}

func (k *kept) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.keys)
}

func (k *kept) sorted() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Sorted(maps.Keys(k.keys))
}

// key of an object as etcd has it, without the prefix of all keys.
func (c Custom) key(namespace, name string) string {
	return strings.Join([]string{c.Group, c.Plural, namespace, name}, "/")
}
