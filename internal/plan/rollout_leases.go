package plan

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

func hostPort(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// stepsSwitchTogether moves leases. While two apiservers disagree about the
// store, each Lease exists twice: nodes look stale through one side, and two
// candidates can each hold the same election. So nobody who acts on leases may
// run meanwhile, and the time is bounded by the grace period.
func (m *maker) stepsSwitchTogether(leases Store) {
	grace := m.profile.Nodes.MonitorGraceSeconds
	stop := Step{
		Title:  "Stop controller managers and schedulers",
		Why:    "They act on leases: with apiservers that disagree, a second leader could start, and nodes could be taken for dead.",
		Check:  "kubectl -n kube-system get pods -l component=kube-controller-manager -o name; kubectl -n kube-system get pods -l component=kube-scheduler -o name",
		Expect: "nothing",
		Hazard: "Nothing is scheduled and nothing heals until they are back. Other leader-elected controllers go on: scale those to zero that cannot bear two leaders for a minute.",
		Undo:   "Move the manifests back.",
	}
	together := Step{
		Title: "Switch all apiservers together",
		Why: fmt.Sprintf("Kubelets renew through whichever apiserver they are connected to. With all of them on the new store within the grace period of %d s, "+
			"every lease is there before anybody looks. The shorter it is, the shorter can operators have two leaders.", grace),
		Commands: m.together(apiserver),
		Check:    m.etcdctl(leases, leases.Members[0], "get /registry/leases/kube-node-lease/ --prefix --count-only --write-out=fields"),
		Expect:   fmt.Sprintf("a count of %d, one a node, within %d s", m.profile.Nodes.Count, grace),
		Hazard:   "Watchers that hold a resourceVersion of the main etcd, larger than those of the new one, see no change of a Lease until they list again.",
		Undo:     "Take the route away on all apiservers in the same way, with controller managers and schedulers stopped. The leases in the main etcd are still there, and are renewed at once.",
	}
	if m.single() {
		together.Hazard = "The API is away until the new process serves. " + together.Hazard
	}
	for _, h := range m.hostNames() {
		stop.Commands = append(stop.Commands, m.ssh(h, fmt.Sprintf("mkdir -p %s/stopped && mv %s/kube-controller-manager.yaml %s/kube-scheduler.yaml %s/stopped/", hostDir, manifestsDir, manifestsDir, hostDir)))
	}
	m.step(stop)
	m.step(together)
	m.stepManagers("All apiservers agree about leases again, and a fresh process lists before it watches.")
	m.step(Step{
		Title:    "Restart what elects a leader or watches leases",
		Why:      "Clients that were connected all the time hold resourceVersions of the main etcd and may be deaf in the new one; only a new list cures that.",
		Commands: []string{"kubectl get leases -A -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,HOLDER:.spec.holderIdentity,RENEWED:.spec.renewTime | grep -v ^kube-node-lease", "# for each holder that is a Deployment's: kubectl -n NAMESPACE rollout restart deployment NAME"},
		Check:    "kubectl get leases -A -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,RENEWED:.spec.renewTime && kubectl get nodes --no-headers",
		Expect:   "every lease renewed within its duration, every node Ready",
		Hazard:   "Two pods of one component may both have led while the apiservers disagreed: look at what those wrote that do not fence.",
	})
}

// stepDeleteOrphans clears the main etcd of what is no longer read from it.
func (m *maker) stepDeleteOrphans() {
	leases, ok := m.routed(leasesRoute)
	if !ok {
		return
	}
	main := m.plan.Stores[0]
	m.step(Step{
		Title: "Delete the old leases from the main etcd",
		Why:   "They have no expiry of their own and stay for ever. Only now, since until here they are the way back. Old Events need nothing: they expire.",
		// A kubelet that has just been restarted, as in the step before, knows none
		// of its pods for some seconds.
		Commands: []string{
			"until " + m.etcdctl(main, main.Members[0], "endpoint health") + "; do sleep 2; done",
			m.etcdctl(main, main.Members[0], "del --prefix /registry/leases/"),
		},
		Check:  m.etcdctl(main, main.Members[0], "get /registry/leases/ --prefix --count-only --write-out=fields") + " && " + m.etcdctl(leases, leases.Members[0], "get /registry/leases/ --prefix --count-only --write-out=fields"),
		Expect: "a count of 0 in the main etcd, and every lease in " + leases.Name,
		Hazard: "Mind the endpoint: in the etcd " + leases.Name + " the same command deletes every live lease. Do not shorten the prefix.",
		Undo:   "Restore the backup, which is not worth it for leases.",
	})
}

// stepKubelets changes nodes, a part of them at a time, and last: a longer
// lease before the longer grace period would have nodes NotReady.
func (m *maker) stepKubelets() {
	_, tier := m.tier("nodes")
	if m.plan.Kubelet == (Kubelet{}) && !tier {
		return
	}
	s := Step{
		Title:  "Change the kubelets, a part of the nodes at a time",
		Why:    m.whyKubeletsLast(tier),
		Check:  "kubectl get nodes --no-headers",
		Expect: "every node Ready",
		Hazard: "Thousands of kubelets that restart together list everything they watch together.",
		Undo:   "Put the former values back and restart the kubelets.",
	}
	if m.kubeadm() {
		s.Undo = "The same with " + former + ".yaml."
	}
	if m.plan.Kubelet != (Kubelet{}) && m.kubeadm() {
		s.Commands = append(s.Commands,
			m.ssh(m.hostNames()[0], "kubeadm init phase upload-config kubelet --config "+thisHost),
			"# on each node: kubeadm upgrade node phase kubelet-config && systemctl restart kubelet")
	} else if m.plan.Kubelet != (Kubelet{}) {
		s.Commands = append(s.Commands, "# on each node: kubelet/20-seams.conf into the directory that the kubelet's --config-dir names, which adds to its configuration, and systemctl restart kubelet")
	}
	if endpoint := m.plan.ControlPlane.NodeEndpoint; tier && endpoint != "" {
		if m.kubeadm() {
			// kubeadm fills kube-proxy's own kubeconfig with the main endpoint.
			s.Commands = append(s.Commands, fmt.Sprintf("kubectl -n kube-system get configmap kube-proxy -o yaml | sed 's#server: https://.*#server: https://%s#' | kubectl apply -f - && kubectl -n kube-system rollout restart daemonset kube-proxy", endpoint))
		}
		s.Commands = append(s.Commands, fmt.Sprintf(`# on each worker: sed -i "s#server: .*#server: https://%s#" /etc/kubernetes/kubelet.conf && systemctl restart kubelet`, endpoint))
		s.Check += " && kubectl --server=https://" + endpoint + " get --raw=/metrics | grep apiserver_registered_watchers | head -3"
		s.Expect += ", and watchers on the node tier"
	}
	m.step(s)
}

// whyKubeletsLast gives the reasons that this plan has.
func (m *maker) whyKubeletsLast(tier bool) string {
	why := "After the control plane, which has to take what the kubelets then send."
	if m.plan.Kubelet.NodeLeaseDurationSeconds > upstreamLeaseSeconds {
		why += " A longer lease before the longer grace period would make nodes NotReady."
	}
	if tier {
		why += " A tier has to stand before nodes are sent to it."
	}
	return why
}

func (m *maker) tier(name string) (Tier, bool) {
	for _, t := range m.plan.Tiers {
		if t.Name == name {
			return t, true
		}
	}
	return Tier{}, false
}

func (m *maker) stepStartTier(t Tier) {
	s := Step{
		Title:  "Start the apiservers of the tier " + t.Name,
		Why:    "After every main apiserver has the same stores and gates, so that no two disagree.",
		Check:  m.readyz(t.Hosts[0], t.Port),
		Expect: "ok",
		Hazard: "Each holds a copy of what it caches: look at the memory of its host. The manifest has the plan's flags alone: add your own of kube-apiserver and their volumes with --overlay before, " +
			"above all encryption-provider-config, without which this tier would store Secrets in the clear and could not read the others.",
		Undo: "Remove the manifest; nobody uses the tier yet.",
	}
	for _, h := range t.Hosts {
		s.Commands = append(s.Commands, m.scp("manifests/"+h+"/kube-apiserver-"+t.Name+".yaml", h, manifestsDir+"/"))
	}
	for _, h := range t.Hosts {
		s.Commands = append(s.Commands, waitReady("kube-apiserver-"+t.Name+"-"+h))
	}
	if t.Name != "nodes" {
		s.Commands = append(s.Commands, fmt.Sprintf("# give the pods of these clients KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT=%d of a load balancer before %s", t.Port, strings.Join(t.Hosts, ", ")))
	}
	m.step(s)
}
