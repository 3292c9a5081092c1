package rig

import (
	"strings"
	"testing"
)

// Two rigs never get one range, and an address in use is passed over.
func TestReserve(t *testing.T) {
	seen := map[string]bool{}
	for range 20 {
		hosts := []Host{{Name: "a"}, {Name: "b"}}
		r, err := reserve(hosts, []int{2379, 6443})
		if err != nil {
			t.Fatal(err)
		}
		defer r.release()
		if seen[r.prefix] || hosts[0].Address == hosts[1].Address || !strings.HasPrefix(hosts[1].Address, r.prefix) {
			t.Errorf("range %s given twice, or hosts %v", r.prefix, hosts)
		}
		seen[r.prefix] = true
		if again := (&reservation{prefix: r.prefix}).take(hosts, nil); again == nil {
			t.Errorf("range %s is taken twice", r.prefix)
		}
	}
}
