package measure

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/profile"
)

// Observation is what was seen of a cluster.
type Observation struct {
	// Name of the cluster, for the profile.
	Name string
	// Kubernetes is the version that answered, "v1.37.2"; empty when unseen.
	Kubernetes string
	// Seconds between the two looks; 0 when there was one.
	Seconds float64
	// Servers are the apiservers that were looked at, and Alive how many there
	// are; 0 when unseen.
	Servers []Server
	Alive   int
	// Restarted are apiservers that began anew between the looks.
	Restarted []Restart
	// Apart are processes whose two looks were no window, and why.
	Apart []Refusal
	// Uncounted are series whose value is no count, by process.
	Uncounted []Uncounted
	// WritesFrom is the metric that writes were read from.
	WritesFrom string
	// Kinds are the resources, by group and resource.
	Kinds map[profile.GroupResource]*Kind
	// DeletedCollections is how many calls deleted many objects at once.
	DeletedCollections float64

	Leases Leases
	Etcd   Etcd
	Hosts  []Host
	// Endpoint is host:port that clients reach the apiservers by.
	Endpoint string
	// EventTTLSeconds is --event-ttl; 0 when unseen.
	EventTTLSeconds int
	// GraceSeconds is --node-monitor-grace-period; 0 when unseen.
	GraceSeconds int
	// Kops says that kOps made the nodes.
	Kops bool
	// Live says that the cluster itself was asked, and not only metrics.
	Live bool
	// Refused are the questions that the cluster did not answer, and why.
	Refused []Refusal
}

// Refusal is a question that had no answer.
type Refusal struct{ What, Why string }

// Restart is a process that began anew. Told is whether it says so itself;
// otherwise its counters went back, and the looks may as well be swapped.
type Restart struct {
	Name string
	Told bool
}

// Uncounted is what a process said of series that no process counts.
type Uncounted struct {
	Name   string
	Series []string
}

// Server is one apiserver.
type Server struct {
	Name string
	// ResidentBytes is what the process takes, 0 when unseen.
	ResidentBytes float64
	// StorageBytes is the size of each etcd that it sees.
	StorageBytes map[string]float64
}

// Kind is one resource.
type Kind struct {
	// Objects is how many there are.
	Objects float64
	// Bytes is the mean stored size of one, in bytes; 0 when unseen. BytesFrom
	// says how it is known.
	Bytes     float64
	BytesFrom string
	// Creates, Updates and Deletes are counts between the looks.
	Creates, Updates, Deletes float64
	// Watchers are open watches by their scope: cluster, namespace, resource.
	Watchers map[string]float64
	// Opaque is the share of the sampled bytes that is in long texts; -1 when unseen.
	Opaque float64
}

// Writes between the looks.
func (k *Kind) Writes() float64 { return k.Creates + k.Updates + k.Deletes }

// Leases is what is known of them besides their number.
type Leases struct {
	// NodeSeconds is the duration that most node leases have, 0 when unseen, and
	// NodeCount how many node leases were seen.
	NodeSeconds int
	NodeCount   int
	// Elections are renewed leases that are neither a node's nor an apiserver's; -1 when unseen.
	Elections int
}

// Etcd is what the main etcd says of itself; zero where unseen.
type Etcd struct {
	QuotaBytes, DatabaseBytes, FsyncP99Seconds float64
}

// Host is a machine of the control plane.
type Host struct {
	Name, Address string
	CPU           int
	MemoryGiB     float64
}

func newObservation() *Observation {
	return &Observation{Kinds: map[profile.GroupResource]*Kind{}, Leases: Leases{Elections: -1}}
}

// kind finds or makes a resource.
func (o *Observation) kind(group, resource string) *Kind {
	gr := kindOf(group, resource)
	k := o.Kinds[gr]
	if k == nil {
		k = &Kind{Watchers: map[string]float64{}, Opaque: -1}
		o.Kinds[gr] = k
	}
	return k
}

// kindOf names a resource as it is stored: events are one under two names.
func kindOf(group, resource string) profile.GroupResource {
	if resource == "events" && group == "events.k8s.io" {
		group = ""
	}
	return profile.GroupResource{Group: group, Resource: resource}
}

// look finds a resource; an empty one when there is none.
func (o *Observation) look(group, resource string) *Kind {
	if k := o.Kinds[profile.GroupResource{Group: group, Resource: resource}]; k != nil {
		return k
	}
	return &Kind{Opaque: -1}
}

// sorted lists the resources by group and name, the core group first.
func (o *Observation) sorted() []profile.GroupResource {
	return slices.SortedFunc(maps.Keys(o.Kinds), func(a, b profile.GroupResource) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource))
	})
}

func (o *Observation) refuse(what string, err error) {
	why, _, _ := strings.Cut(err.Error(), "\n")
	o.Refused = append(o.Refused, Refusal{what, why})
}
