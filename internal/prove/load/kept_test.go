package load

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// held are the keys of what a fake has of a resource.
func (f *fake) held(plural string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var keys []string
	for path := range f.objects {
		p := strings.Split(path, "|") // base, namespace, plural, name
		if p[2] == plural {
			keys = append(keys, strings.Join([]string{strings.Split(p[0], "/")[1], plural, p[1], p[3]}, "/"))
		}
	}
	slices.Sort(keys)
	return keys
}

// What a load says is there is there, by its key in etcd, and nothing else.
func TestKept(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := &Churn{Driver: f.driver(Options{}), PerSecond: 20, Bytes: 2000, Cycles: 1, StatusWrites: 1, Pause: 20 * time.Millisecond, Groups: []string{"a.test", "b.test"}}
	o := &Objects{Driver: f.driver(Options{}), Groups: []string{"a.test", "b.test"}, Custom: Set{Count: 5}, Namespaces: 2}
	for plural, l := range map[string]interface {
		Load
		Keeper
	}{"sessions": c, "dormants": o} {
		if err := l.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Run(t.Context(), 500*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if have, held := l.Kept(), f.held(plural); len(have) == 0 || !slices.Equal(have, held) {
			t.Errorf("%s: the load says %v, there are %v", plural, have, held)
		}
		if err := l.Cleanup(t.Context()); err != nil || len(l.Kept()) > 0 {
			t.Errorf("%s: %v after the end, %v", plural, l.Kept(), err)
		}
	}
}

// Definitions of a group with a server of its own go there, and others where
// they always go.
func TestDefiners(t *testing.T) {
	t.Parallel()
	main, tier := newFake(t), newFake(t)
	d := main.driver(Options{Definers: map[string]*rest.Config{"a.test": {Host: tier.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}}})
	if err := d.Define(t.Context(), Dormants("a.test")); err != nil {
		t.Fatal(err)
	}
	o := &Objects{Driver: d, Groups: []string{"a.test", "b.test"}, Custom: Set{Count: 3}}
	if err := o.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	for f, want := range map[*fake]string{main: "dormants.b.test", tier: "dormants.a.test"} {
		held := f.held("customresourcedefinitions")
		if len(held) != 1 || !strings.HasSuffix(held[0], "/"+want) {
			t.Errorf("definitions %v, want %s", held, want)
		}
	}
	// Objects go through the server that everybody talks to.
	if main.left("dormants") != 6 || tier.left("dormants") != 0 {
		t.Errorf("%d and %d objects", main.left("dormants"), tier.left("dormants"))
	}
	if err := o.Cleanup(t.Context()); err != nil || tier.left("customresourcedefinitions") != 0 {
		t.Errorf("%d definitions left, %v", tier.left("customresourcedefinitions"), err)
	}
}
