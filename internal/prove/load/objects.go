package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeseams/seams/internal/scrape"
)

// Set is how many objects of one kind, and of what size.
type Set struct {
	Count int
	// Bytes of each as etcd stores it; 0 is as small as they come.
	Bytes int
}

// Objects is a load of objects that lie still: what they cost is being there.
type Objects struct {
	Driver *Driver
	// Custom resources in each of the groups.
	Custom Set
	// Groups of the custom resources; none is Group.
	Groups []string
	// Shape of the custom resources; empty is Maps.
	Shape Shape
	// Built-in objects.
	ConfigMaps, Secrets, Roles, RoleBindings Set
	// Namespaces that all are spread over; 0 is 1.
	Namespaces int
	// Namespace begins their names; empty is "prove-objects". A single one is
	// called that and nothing more where it is set.
	Namespace string
	// ListEvery lists all custom resources of the first group that often in a
	// run, unpaged and from etcd's newest state; 0 never.
	ListEvery time.Duration
	// UpdatesPerSecond writes a field of the custom resources in turn, in a run;
	// 0 leaves them alone.
	UpdatesPerSecond float64
	// KeepDefinitions leaves the definitions in place at the end.
	KeepDefinitions bool

	created  int
	took     time.Duration
	prepared []scrape.Figure
	kept     kept
}

// Name of the load.
func (o *Objects) Name() string { return "objects" }

// Resources are the custom resources, by group.
func (o *Objects) Resources() []Custom {
	if o.Custom.Count == 0 {
		return nil
	}
	groups := o.Groups
	if len(groups) == 0 {
		groups = []string{Group}
	}
	out := make([]Custom, len(groups))
	for i, g := range groups {
		out[i] = Dormants(g)
	}
	return out
}

func (o *Objects) namespace(i int) string {
	if o.Namespace != "" && o.Namespaces <= 1 {
		return o.Namespace
	}
	return fmt.Sprintf("%s-%04d", cmp.Or(o.Namespace, "prove-objects"), i%max(o.Namespaces, 1))
}

func (o *Objects) meta(i int) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: objectName(i), Namespace: o.namespace(i), Labels: map[string]string{loadLabel: o.Name()},
	}
}

// objectName always has the same length, for objects of the same size.
func objectName(i int) string { return fmt.Sprintf("object-%07d", i) }

// sizingName is as long, for dry runs, which are refused for what is there.
const sizingName = "sizing-0000000"

func (o *Objects) builtins() ([]builtin, []Set) {
	return []builtin{configMaps(), secrets(), roles(), roleBindings()}, []Set{o.ConfigMaps, o.Secrets, o.Roles, o.RoleBindings}
}

// Prepare creates all objects.
func (o *Objects) Prepare(ctx context.Context) error {
	o.created, o.took, o.prepared = 0, 0, nil
	for i := range max(o.Namespaces, 1) {
		if err := o.Driver.ensureNamespace(ctx, o.namespace(i)); err != nil {
			return err
		}
	}
	for _, c := range o.Resources() {
		if err := o.createCustom(ctx, c); err != nil {
			return err
		}
	}
	kinds, sets := o.builtins()
	for k, b := range kinds {
		if err := o.createBuiltin(ctx, b, sets[k]); err != nil {
			return err
		}
	}
	return nil
}

func (o *Objects) createCustom(ctx context.Context, c Custom) error {
	if err := o.Driver.define(ctx, c); err != nil {
		return err
	}
	pad, size := 0, 0
	if o.Custom.Bytes > 0 {
		var err error
		if pad, size, err = o.Driver.fitCustom(ctx, c, o.Shape, o.Name(), o.namespace(0), sizingName, o.Custom.Bytes); err != nil {
			return err
		}
	}
	return o.create(ctx, c.Name(), o.Custom.Count, size, func(ctx context.Context, i int) error {
		body, err := c.object(o.Name(), o.namespace(i), objectName(i), o.Shape.fill(o.random(c.Name(), i), pad))
		if err != nil {
			return err
		}
		if err := ignoreExists(o.Driver.client(i).createCustom(ctx, c, o.namespace(i), body)); err != nil {
			return err
		}
		o.kept.add(c.key(o.namespace(i), objectName(i)))
		return nil
	})
}

// Kept are the custom resources that were created.
func (o *Objects) Kept() []string { return o.kept.sorted() }

func (o *Objects) createBuiltin(ctx context.Context, b builtin, s Set) error {
	if s.Count == 0 {
		return nil
	}
	pad, size := 0, 0
	if s.Bytes > 0 {
		meta := o.meta(0)
		meta.Name = sizingName
		var err error
		if pad, size, err = o.Driver.fitBuiltin(ctx, b, meta, s.Bytes); err != nil {
			return err
		}
	}
	return o.create(ctx, b.plural, s.Count, size, func(ctx context.Context, i int) error {
		object := b.make(o.meta(i), text(o.random(b.plural, i), pad))
		_, err := b.create(ctx, o.Driver.client(i).core, object, metav1.CreateOptions{})
		return err
	})
}

// random is the stream of one object, so that it does not matter in which order
// they are made.
func (o *Objects) random(kind string, i int) *rand.Rand {
	return rand.New(rand.NewPCG(o.Driver.random(kind).Uint64(), uint64(i)))
}

func (o *Objects) create(ctx context.Context, kind string, n, size int, do func(context.Context, int) error) error {
	began := time.Now()
	err := o.Driver.each(ctx, o.Name(), "prepare", n, func(ctx context.Context, i int) error {
		if err := ignoreExists(do(ctx, i)); err != nil {
			return fmt.Errorf("create %s %s: %w", kind, objectName(i), err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	o.created += n
	o.took += time.Since(began)
	if size > 0 {
		o.prepared = append(o.prepared, scrape.Figure{Name: "stored-bytes-" + kind, Value: float64(n * size), Unit: scrape.Bytes})
	}
	return nil
}

// Run keeps the objects for d, and lists them if asked.
func (o *Objects) Run(ctx context.Context, d time.Duration) (*Result, error) {
	if o.created == 0 {
		return nil, errors.New("objects are not prepared")
	}
	table, listing, writing := o.Driver.timetable(), newDelays(), newDelays()
	var fails failures
	o.planLists(table, listing, &fails)
	o.planUpdates(table, writing, &fails)
	saturation := o.Driver.watchSaturation()
	began := time.Now()
	err := table.run(ctx, d, func(at time.Duration) {
		o.Driver.progress(Progress{o.Name(), "run", int(at.Seconds()), int(d.Seconds())})
	})
	r := &Result{Load: o.Name(), Seconds: time.Since(began).Seconds(), Figures: slices.Clone(o.prepared)}
	r.count("objects", int64(o.created))
	r.put("created-per-second", scrape.PerSecond, float64(o.created)/o.took.Seconds())
	r.count("lists", listing.count())
	r.delay("list", listing)
	r.count("updates", writing.count())
	r.delay("update", writing)
	saturation.judge(r, table)
	return r.finish(o.Driver, &fails), err
}

func (o *Objects) planLists(table *timetable, listing *delays, fails *failures) {
	if o.ListEvery <= 0 || o.Custom.Count == 0 {
		return
	}
	at := o.Resources()[0].path("")
	table.every(0, o.ListEvery, func(i int, due time.Duration) {
		table.start(due, func(ctx context.Context) {
			if err := drain(ctx, o.Driver.client(i), at); err != nil {
				fails.add(err)
				return
			}
			listing.observe(table.since(due))
		})
	})
}

func (o *Objects) planUpdates(table *timetable, writing *delays, fails *failures) {
	if o.UpdatesPerSecond <= 0 || o.Custom.Count == 0 {
		return
	}
	resources := o.Resources()
	table.every(0, time.Duration(float64(time.Second)/o.UpdatesPerSecond), func(i int, due time.Duration) {
		table.start(due, func(ctx context.Context) {
			resource, k := resources[i%len(resources)], i/len(resources)%o.Custom.Count
			// Another value each time: a write that changes nothing is not stored.
			body := fmt.Appendf(nil, `{"status":{"round":%d,"at":%q}}`, i, time.Now().UTC().Format(time.RFC3339Nano))
			at := resource.path(o.namespace(k), objectName(k), "status")
			if err := o.Driver.client(k).call(ctx, http.MethodPatch, at, mergePatch, body, nil).Error(); err != nil {
				fails.add(err)
				return
			}
			writing.observe(table.since(due))
		})
	})
}

// drain lists a resource without paging and without keeping the answer.
func drain(ctx context.Context, c *client, path string) error {
	body, err := c.json.Get().AbsPath(path).SetHeader("Accept", "application/json").Stream(ctx)
	if err != nil {
		return fmt.Errorf("list %s: %w", path, err)
	}
	defer body.Close()
	_, err = io.Copy(io.Discard, body)
	return err
}

// Cleanup deletes all objects, the definitions and the namespaces.
func (o *Objects) Cleanup(ctx context.Context) error {
	o.kept.clear()
	for i := range max(o.Namespaces, 1) {
		for _, c := range o.Resources() {
			if err := o.Driver.sweep(ctx, o.Name(), c.path(o.namespace(i))); err != nil {
				return err
			}
		}
		kinds, _ := o.builtins()
		for _, b := range kinds {
			if err := o.Driver.sweep(ctx, o.Name(), b.path(o.namespace(i))); err != nil {
				return err
			}
		}
		if err := o.Driver.dropNamespace(ctx, o.namespace(i)); err != nil {
			return err
		}
	}
	if o.KeepDefinitions {
		return nil
	}
	for _, c := range o.Resources() {
		if err := o.Driver.undefine(ctx, c); err != nil {
			return err
		}
	}
	return nil
}
