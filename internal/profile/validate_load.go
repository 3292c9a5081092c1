package profile

import (
	"fmt"

	"github.com/kubeseams/seams/internal/target"
)

// churn checks the churn axis.
func (v *validator) churn() {
	seen := map[GroupResource]int{}
	for i, r := range v.Churn.Resources {
		at := fmt.Sprintf("churn.resources[%d]", i)
		v.resource(at, r.GroupResource, i, seen)
		v.countedInChurn(at, r.GroupResource)
		v.objectSize(at+".objectBytes", r.ObjectBytes)
		if !(r.WritesPerSecond() > 0) {
			v.err(CodeChurnWithoutRate, at, fmt.Sprintf("%s has no write rate", r.GroupResource),
				"give createsPerSecond, updatesPerSecond, deletesPerSecond or sessions; what only lies there belongs in state.resources", "")
		}
	}
	e := v.Churn.Events
	v.objectSize("churn.events.bytes", e.Bytes)
	if e.TTLSeconds == 0 {
		v.err(CodeEventTTLZero, "churn.events.ttlSeconds", eventTTLZero.message, eventTTLZero.fix, eventTTLZero.ref)
	}
}

// state checks the state axis.
func (v *validator) state() {
	seen := map[GroupResource]int{}
	for i, r := range v.State.Resources {
		at := fmt.Sprintf("state.resources[%d]", i)
		v.resource(at, r.GroupResource, i, seen)
		v.objectSize(at+".bytes", r.Bytes)
		switch r.GroupResource {
		case GroupResource{"", "nodes"}, GroupResource{"", "pods"}, GroupResource{"coordination.k8s.io", "leases"}:
			v.warn(CodeCountedTwice, at, fmt.Sprintf("%s are counted already, from nodes", r.Resource),
				"leave the entry out, and set nodes.count, podsPerNode and the sizes there", "")
		}
	}
}

// resource checks one entry of either list: named once, and by a group and
// resource that can exist.
func (v *validator) resource(at string, g GroupResource, i int, seen map[GroupResource]int) {
	if first, ok := seen[g]; ok {
		v.err(CodeDuplicateResource, at, fmt.Sprintf("%s is listed twice, first as entry %d", g, first), "add the two up in one entry", "")
	} else {
		seen[g] = i
	}
	if g.Group == "core" || g.Group == "v1" {
		v.err(CodeGroupIsCore, at+".group", fmt.Sprintf("the core group is written \"\", not %q", g.Group), "leave group out", "")
		return
	}
	kube, err := target.ParseVersion(v.Kubernetes)
	if err != nil {
		return
	}
	if kube, err = target.Resolve(kube); err != nil || g.Group != "" || target.BuiltIn(kube, "", g.Resource) {
		return
	}
	fix := "give the group of a custom resource, and write the plural"
	if named := target.BuiltInsNamed(kube, g.Resource); len(named) > 0 {
		fix = fmt.Sprintf("set group to %q", named[0].Group)
	} else if plural := g.Resource + "s"; target.BuiltIn(kube, "", plural) {
		fix = fmt.Sprintf("write %q", plural)
	}
	v.err(CodeNotCoreResource, at+".resource", fmt.Sprintf("the core group of Kubernetes %s has no resource %q", kube.Line(), g.Resource), fix, "")
}

// countedInChurn warns of writes that other fields stand for already.
func (v *validator) countedInChurn(at string, g GroupResource) {
	switch g {
	case GroupResource{"", "events"}, GroupResource{"events.k8s.io", "events"}:
		v.warn(CodeCountedTwice, at, "events have fields of their own, with their expiry", "use churn.events", "")
	case GroupResource{"", "nodes"}, GroupResource{"coordination.k8s.io", "leases"}:
		v.warn(CodeCountedTwice, at, fmt.Sprintf("writes of %s are counted already, from nodes and leaderElections", g.Resource), "leave the entry out", "")
	case GroupResource{"", "pods"}:
		if v.Nodes.PodChurnPerSecond > 0 {
			v.warn(CodeCountedTwice, at, "writes of pods are counted already, from nodes.podChurnPerSecond", "keep one of the two", "")
		}
	}
}
