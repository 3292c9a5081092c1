package estimate

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/target"
)

// The kinds of resource that the model knows by name.
var (
	grPods   = profile.GroupResource{Resource: "pods"}
	grNodes  = profile.GroupResource{Resource: "nodes"}
	grEvents = profile.GroupResource{Resource: "events"}
	grLeases = profile.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	grCRDs   = profile.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
)

const rbacGroup = "rbac.authorization.k8s.io"

// isEvents also knows the second name of events: both are stored as the core one.
func isEvents(gr profile.GroupResource) bool {
	return gr == grEvents || gr.Group == "events.k8s.io" && gr.Resource == "events"
}

// isLiveness is of the resources that exist and are written because nodes exist.
func isLiveness(gr profile.GroupResource) bool { return gr == grNodes || gr == grLeases }

// resourceID names a resource in figure IDs as kubectl does: "pods", "taskruns.tekton.dev".
func resourceID(gr profile.GroupResource) string {
	if gr.Group == "" {
		return gr.Resource
	}
	return gr.Resource + "." + gr.Group
}

// stock is how many objects of what size somebody said there are.
type stock struct{ count, bytes term }

// resource is everything the profile says of one kind, from all its parts.
type resource struct {
	profile.GroupResource
	id      string
	builtIn bool
	opaque  bool
	// stated are the stocks of state and churn rows; derived is what nodes bring.
	stated  []stock
	derived *stock
	// rate is the churn rows' write rate, creates what of it starts an object's life.
	rate, creates float64
	// updates is the part of rate known to be updates, and loops says that nothing else happens.
	updates   float64
	turnsOver bool
	// writeBytes is the stored size that one write leaves behind.
	writeBytes term
	live       float64
	watchers   float64
	recipients term
	listers    float64
}

func (r *resource) custom() bool { return !r.builtIn }

// label is the resource in a sentence: the core group has no name to write.
func (r *resource) label() string {
	if r.Group == "" {
		return r.Resource
	}
	return r.String()
}

// stateCount is the largest count that was stated, 0 without a row.
func (r *resource) stateCount() (n float64) {
	for _, s := range r.stated {
		n = max(n, s.count.value)
	}
	return n
}

// stateBytes is the largest total that was stated.
func (r *resource) stateBytes() (n float64) {
	for _, s := range r.stated {
		n = max(n, s.count.value*s.bytes.value)
	}
	return n
}

// gather merges the profile's rows by resource, in the order of their names.
func gather(p *profile.Profile) []*resource {
	// A version that cannot be read is the loader's to report; the newest tables serve.
	version, _ := target.ParseVersion(p.Kubernetes)
	byGR := map[profile.GroupResource]*resource{}
	get := func(gr profile.GroupResource) *resource {
		if isEvents(gr) {
			gr = grEvents
		}
		r := byGR[gr]
		if r == nil {
			r = &resource{GroupResource: gr, id: resourceID(gr),
				builtIn: target.BuiltIn(version, gr.Group, gr.Resource)}
			byGR[gr] = r
		}
		return r
	}
	for _, s := range p.State.Resources {
		addState(get(s.GroupResource), s)
	}
	for _, c := range p.Churn.Resources {
		addChurn(get(c.GroupResource), c)
	}
	addNodes(get, p)
	rs := slices.SortedFunc(maps.Values(byGR), func(a, b *resource) int {
		return cmp.Compare(a.id, b.id)
	})
	for _, r := range rs {
		r.finish()
	}
	return rs
}

// rowName makes an input's name unlike those of the resource's earlier rows:
// within a formula one name is one number.
func (r *resource) rowName(name string) string {
	if len(r.stated) == 0 {
		return name
	}
	return name + strconv.Itoa(len(r.stated)+1)
}

func addState(r *resource, s profile.StateResource) {
	bytes := fromProfile(r.rowName("objectBytes"), nonNegative(float64(s.Bytes)), "bytes")
	r.stated = append(r.stated, stock{fromProfile(r.rowName("objects"), nonNegative(float64(s.Count)), "objects"), bytes})
	r.listers += nonNegative(float64(s.Listers))
	r.opaque = r.opaque || s.Shape == "opaque"
}

func addChurn(r *resource, c profile.ChurnResource) {
	bytes := fromProfile(r.rowName("writtenBytes"), nonNegative(float64(c.ObjectBytes)), "bytes")
	if c.Live > 0 {
		r.stated = append(r.stated, stock{fromProfile(r.rowName("live"), float64(c.Live), "objects"), bytes})
		r.live += float64(c.Live)
	}
	if bytes.value > r.writeBytes.value {
		r.writeBytes = bytes
	}
	r.rate += nonNegative(c.WritesPerSecond())
	r.updates += nonNegative(c.UpdatesPerSecond)
	r.creates += nonNegative(c.CreatesPerSecond)
	if c.Sessions != nil {
		r.creates += nonNegative(c.Sessions.PerMinute / 60)
	}
	r.turnsOver = r.turnsOver || c.CreatesPerSecond+c.DeletesPerSecond > 0.1*c.UpdatesPerSecond || c.Sessions != nil
	r.opaque = r.opaque || c.Shape == "opaque"
	r.watchers += nonNegative(float64(c.Watchers))
	if n := recipientsOf(c); n.value > r.recipients.value {
		r.recipients = n
	}
}

// addNodes adds what exists because nodes do.
func addNodes(get func(profile.GroupResource) *resource, p *profile.Profile) {
	nodes := nodeCount(p)
	node := get(grNodes)
	node.derived = &stock{nodes, fromProfile("nodeBytes", nonNegative(float64(p.Nodes.NodeBytes)), "bytes")}
	lease := get(grLeases)
	lease.derived = &stock{nodes, leaseBytes.term()}
	pod := get(grPods)
	pod.derived = &stock{
		times(nodes, fromProfile("podsPerNode", nonNegative(float64(p.Nodes.PodsPerNode)), "pods")),
		fromProfile("podBytes", nonNegative(float64(p.Nodes.PodBytes)), "bytes"),
	}
	get(grEvents)
}

// finish settles what needs every row of the resource.
func (r *resource) finish() {
	if r.writeBytes.value == 0 {
		// End by end of the bands: a stated size has none, and may lie within that
		// of what nodes bring.
		var sizes []term
		for _, s := range append(slices.Clone(r.stated), r.derivedStocks()...) {
			sizes = append(sizes, s.bytes)
		}
		r.writeBytes = largest(sizes...)
	}
	if r.writeBytes.text == "" {
		r.writeBytes = number(0)
	}
	if r.recipients.text == "" {
		r.recipients = number(0)
	}
}

func (r *resource) derivedStocks() []stock {
	if r.derived == nil {
		return nil
	}
	return []stock{*r.derived}
}

// factor is the live heap that one stored byte becomes.
func (r *resource) factor() constant {
	switch {
	case r.opaque:
		return opaqueFactor
	case r.custom():
		return structuredFactor
	case r.GroupResource == grPods:
		return podFactor
	case r.GroupResource == grLeases:
		return leaseFactor
	case r.Group == rbacGroup:
		return rbacFactor
	case r.GroupResource == profile.GroupResource{Resource: "configmaps"}:
		return configMapFactor
	case r.GroupResource == profile.GroupResource{Resource: "secrets"}:
		return secretFactor
	case r.GroupResource == profile.GroupResource{Group: "apps", Resource: "replicasets"}:
		return replicaSetFactor
	}
	return builtInFactor
}

func nodeCount(p *profile.Profile) term {
	return fromProfile("nodes", nonNegative(float64(p.Nodes.Demand())), "nodes")
}

func nonNegative(v float64) float64 { return max(v, 0) }
