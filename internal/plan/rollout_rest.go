package plan

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// stepsControllerGroups splits the controller manager. The first one has
// dropped the groups' controllers already, so none ever runs twice.
func (m *maker) stepsControllerGroups() {
	for _, g := range m.plan.ControllerGroups {
		name := "kube-controller-manager-" + g.Name
		s := Step{
			Title:  "Start the controller managers of the group " + g.Name,
			Why:    "The first controller manager no longer runs these: from its restart to here nobody does, and nobody does so twice.",
			Check:  "kubectl -n kube-system get lease " + name + " -o jsonpath='{.spec.holderIdentity},{.spec.renewTime}'",
			Expect: "one holder, renewed within the last seconds",
			Hazard: "Alert on the age of this lease: a group without a process is not noticed otherwise.",
			Undo:   "Remove the manifests, then give the first controller manager its controllers back.",
		}
		for _, h := range m.hostNames() {
			s.Commands = append(s.Commands, m.scp("manifests/"+h+"/"+name+".yaml", h, manifestsDir+"/"))
		}
		for _, h := range m.hostNames() {
			s.Commands = append(s.Commands, waitReady(name+"-"+h))
		}
		m.step(s)
	}
}

// stepSharding shows that the gate is on in every apiserver.
func (m *maker) stepSharding() {
	s := m.plan.Sharding
	if s == nil {
		return
	}
	var checks []string
	for _, h := range m.plan.ControlPlane.Hosts {
		server := ""
		if h.Address != "" && !m.kops() {
			server = " --server=https://" + hostPort(h.Address, m.plan.Tiers[0].Port)
		}
		checks = append(checks, "kubectl"+server+" get --raw '/api/v1/configmaps?limit=1&shardSelector="+url.QueryEscape(s.Ranges[0].Selector)+"'")
	}
	m.step(Step{
		Title:  "See that every apiserver filters",
		Why:    "One without the gate ignores the selector and sends everything, so that each shard would act on every object.",
		Check:  strings.Join(slices.Compact(checks), " && "),
		Expect: "shardInfo in the metadata of each list",
		Hazard: "For custom resources shardInfo is not sent back even where the filter works: a client has to count.",
		Undo:   "Turn sharding off in the clients first, the gate after.",
	})
}

// rolloutKind is one step: a kind cluster is made, not changed.
func (m *maker) rolloutKind() {
	m.step(Step{
		Title:    "Create the cluster",
		Why:      "kind sets a cluster up once; to change it, delete it and create it anew.",
		Commands: []string{"kind create cluster --name " + m.plan.Name + " --config kind.yaml --retain"},
		Check:    "kubectl --context kind-" + m.plan.Name + " get nodes",
		Expect:   "every node Ready",
		Hazard:   "All nodes share one disk and one kernel: this shows that the parts fit, not what they carry.",
		Undo:     "kind delete cluster --name " + m.plan.Name,
	})
	m.stepSharding()
	m.stepsAggregated()
}

// rolloutKops is the order for kOps, which replaces whole instances.
func (m *maker) rolloutKops() {
	name := m.plan.KopsClusterName()
	m.step(Step{
		Title:    "Save the present specification",
		Why:      "It is the way back. etcd-manager backs the etcds up by itself; see that a fresh one is there.",
		Commands: []string{"kops get all --name " + name + " -o yaml > before-seams.yaml"},
		Check:    "grep -c ^kind: before-seams.yaml",
		Expect:   "the cluster and every instance group",
	})
	m.step(Step{
		Title:    "Replace the specification and update the cloud",
		Why:      "Instances take it up when they are replaced, below.",
		Commands: []string{"kops replace -f cluster.yaml", "kops update cluster --name " + name + " --yes"},
		Check:    "kops get cluster --name " + name + " -o yaml",
		Expect:   "every field of cluster.yaml: kOps drops what it does not know, in silence",
		Hazard:   "An etcd cluster that was added cannot be removed again.",
		Undo:     "kops replace -f before-seams.yaml, then update; an etcd cluster that was added stays.",
	})
	if leases, ok := m.routed(leasesRoute); ok {
		m.stepKopsTogether(leases)
	} else {
		m.step(Step{
			Title:    "Replace the control-plane instances one by one",
			Why:      "Without a route for leases nothing that controllers rely on is in two places meanwhile; Events need no copy and expire.",
			Commands: []string{"kops rolling-update cluster --name " + name + " --instance-group-roles=control-plane --yes"},
			Check:    "kops validate cluster --name " + name + " --wait 10m",
			Expect:   "the cluster is ready",
			Undo:     "Replace and roll the former specification.",
		})
	}
	if m.plan.Kubelet != (Kubelet{}) {
		m.step(Step{
			Title:    "Replace the nodes",
			Why:      m.whyKubeletsLast(false) + " kOps brings a kubelet's settings to new instances only.",
			Commands: []string{"kops rolling-update cluster --name " + name + " --instance-group-roles=node --yes"},
			Check:    "kops validate cluster --name " + name + " --wait 10m",
			Expect:   "the cluster is ready",
		})
	}
	m.stepSharding()
	m.stepsAggregated()
	if _, ok := m.routed(leasesRoute); ok {
		m.step(Step{
			Title: "Delete the old leases from the main etcd",
			Why:   "They have no expiry of their own and stay for ever. Only now, since until here they are the way back.",
			Commands: []string{
				"POD=$(kubectl -n kube-system get pods -o name | grep /etcd-manager-main- | head -n 1)",
				kopsEtcdctl(4001, "del --prefix /registry/leases/"),
			},
			Check:  kopsEtcdctl(4001, "get /registry/leases/ --prefix --count-only --write-out=fields"),
			Expect: "a count of 0",
			Hazard: "Mind the port: on 4004 the same command deletes every live lease.",
		})
	}
}

// kopsEtcdctl runs etcdctl in etcd-manager's pod $POD, which has it beside each
// etcd below /opt, and the apiserver's client certificate of the host
// (kubernetes/kops docs/operations/etcd_administration.md).
func kopsEtcdctl(port int, args string) string {
	const pki = "/rootfs/srv/kubernetes/kube-apiserver/"
	return fmt.Sprintf(`kubectl -n kube-system exec "$POD" -- sh -c '$(ls /opt/etcd-*/etcdctl | tail -n 1) --endpoints=https://127.0.0.1:%d --cacert=%[2]setcd-ca.crt --cert=%[2]setcd-client.crt --key=%[2]setcd-client.key %[3]s'`, port, pki, args)
}

// stepKopsTogether replaces the control plane as a whole. kOps has no way to
// switch flags without replacing instances, and replaces them one by one, which
// takes far longer than the grace period: meanwhile nodes whose kubelets are
// connected to the other side would look dead.
func (m *maker) stepKopsTogether(leases Store) {
	m.step(Step{
		Title: "Replace all control-plane instances together, in a maintenance window",
		Why: fmt.Sprintf("Rolled one by one, apiservers with and without the etcd %s would disagree for many minutes: every Lease exists twice, two leaders can hold one election, and half of the nodes look dead after %d s. "+
			"kOps has no gentler way for a cluster that is there; a new cluster is created with it and needs none of this.", leases.Name, m.profile.Nodes.MonitorGraceSeconds),
		Commands: []string{"kops rolling-update cluster --name " + m.plan.KopsClusterName() + " --instance-group-roles=control-plane --cloudonly --control-plane-interval=1s --force --yes"},
		Check:    "kops validate cluster --name " + m.plan.KopsClusterName() + " --wait 20m && kubectl get leases -n kube-node-lease --no-headers | wc -l",
		Expect:   fmt.Sprintf("the cluster is ready, with %d node leases", m.profile.Nodes.Count),
		Hazard:   "The API is away for several minutes, until the volumes of the etcds are mounted again; pods go on. If an old instance is still alive when the first new one serves, the two disagree: see in the cloud's console that all old ones are gone.",
		Undo:     "Replace the specification with before-seams.yaml and roll together in the same way.",
	})
}
