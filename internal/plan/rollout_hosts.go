package plan

import (
	"fmt"
	"strings"

	"github.com/kubeseams/seams/internal/target"
)

// rolloutHosts is the order for hosts that are reached by ssh: kubeadm's and
// those with plain static pods.
func (m *maker) rolloutHosts() {
	m.stepBackUp()
	if m.kubeadm() {
		m.stepMerge()
		m.stepCopyMerged()
	} else {
		m.stepCompare()
		m.stepCopy()
	}
	m.stepQuota()
	for _, s := range m.extraStores() {
		m.stepStartStore(s)
	}
	if m.plan.ControlPlane.NodeEndpoint != "" && len(m.plan.Tiers) > 1 {
		m.stepServingCertificate()
	}
	if leases, ok := m.routed(leasesRoute); ok {
		m.stepsSwitchTogether(leases)
	} else {
		m.stepsSwitchInTurn()
	}
	for _, t := range m.plan.Tiers[1:] {
		m.stepStartTier(t)
	}
	m.stepKubelets()
	m.stepsControllerGroups()
	m.stepSharding()
	m.stepsAggregated()
	m.stepDeleteOrphans()
}

func (m *maker) kubeadm() bool { return m.target.Platform == target.Kubeadm }

func (m *maker) stepBackUp() {
	main := m.plan.Stores[0]
	host := main.Members[0]
	m.step(Step{
		Title:    "Back up the main etcd",
		Why:      "It holds everything that is not routed away, and the steps below restart every process that writes to it.",
		Commands: []string{m.etcdctl(main, host, "snapshot save "+main.DataDir+"/before-seams.db"), m.scpBack(host, main.DataDir+"/before-seams.db", ".")},
		Check:    "etcdutl snapshot status before-seams.db --write-out=table",
		Expect:   "a hash, and a number of keys that fits the cluster",
	})
}

func (m *maker) scpBack(host, file, to string) string {
	address := m.address(host)
	if strings.Contains(address, ":") {
		address = "[" + address + "]"
	}
	return "scp 'root@" + address + ":" + file + "' " + to
}

// stepCopy brings to hosts of plain static pods what their pods refer to.
func (m *maker) stepCopy() {
	files := m.copiedBesides()
	if files == "" {
		return
	}
	s := Step{
		Title:  "Copy the files to the control-plane hosts",
		Why:    "The manifests refer to them there. Nothing changes yet.",
		Check:  m.ssh(m.hostNames()[0], "ls "+hostDir),
		Expect: "the copied files",
		Undo:   "Remove " + hostDir + " on each host.",
	}
	for _, h := range m.hostNames() {
		s.Commands = append(s.Commands, m.ssh(h, "mkdir -p "+hostDir), m.scp(strings.TrimSpace(files), h, hostDir+"/"))
	}
	m.step(s)
}

func etcdFile(s Store) string { return "etcd-" + s.Name + ".yaml" }

// stepServingCertificate gives the apiservers the name of the nodes' endpoint.
func (m *maker) stepServingCertificate() {
	s := Step{
		Title:  "Add the nodes' endpoint to the serving certificates",
		Why:    "Kubelets refuse an apiserver whose certificate does not carry the name they call.",
		Check:  m.ssh(m.hostNames()[0], "openssl x509 -in /etc/kubernetes/pki/apiserver.crt -noout -ext subjectAltName"),
		Expect: "the host of " + m.plan.ControlPlane.NodeEndpoint + " among the names",
		Undo:   "Move the saved certificate back.",
	}
	for _, h := range m.hostNames() {
		if m.kubeadm() {
			s.Commands = append(s.Commands, m.ssh(h, "mkdir -p "+hostDir+"/saved && mv /etc/kubernetes/pki/apiserver.crt /etc/kubernetes/pki/apiserver.key "+hostDir+"/saved/ && kubeadm init phase certs apiserver --config "+thisHost))
		}
	}
	if !m.kubeadm() {
		s.Why += " Whoever signs for these hosts makes a certificate with it."
	}
	m.step(s)
}

// stepsSwitchInTurn restarts one apiserver after the other. Without a route
// for leases nothing that controllers rely on is in two places meanwhile:
// Events written through one side are only not seen through the other, and
// expire by themselves.
func (m *maker) stepsSwitchInTurn() {
	if m.apiserverChanges() {
		for _, h := range m.hostNames() {
			m.stepSwitch(h)
		}
	}
	if !m.managersChange() {
		return
	}
	if m.single() {
		m.stepManagers("There is one of each: from its end to its start nobody schedules, and nobody heals.")
		return
	}
	m.stepManagers("One host at a time: the leader steps down and another one takes over.")
}

func (m *maker) stepSwitch(host string) {
	s := Step{
		Title:    "Switch the apiserver on " + host,
		Why:      "One at a time, so that the others serve meanwhile: go on when the new process is the one that answers.",
		Commands: append(restartFunctions(), m.inTurn(host, apiserver)...),
		Check:    m.changed(host, apiserver) + "; " + m.runs(host, apiserver) + " && " + m.readyz(host, m.plan.Tiers[0].Port),
		Expect:   "the plan's lines, 1/1 since a few minutes at most, and ok",
		Undo:     m.undoSwitch(),
	}
	if m.single() {
		s.Why = "It is the only one: the API is away until the new process is the one that answers, for half a minute or a whole one. Pods go on."
		s.Hazard = "Nothing is scheduled, healed or admitted meanwhile, and a new apiserver that does not start keeps it so: the way back is the copy of the former manifest."
	}
	if events, ok := m.routed(eventsRoute); ok {
		s.Why += " Events need no copy: what is left in the main etcd expires within its TTL."
		if !m.single() {
			s.Hazard = "Until the last host is done, Events written through one apiserver are not listed by another."
		}
		s.Check += " && " + m.etcdctl(events, events.Members[0], "get /registry/events/ --prefix --keys-only --limit=3")
		s.Expect = "the plan's lines, 1/1 since a few minutes at most, ok, then keys below /registry/events/"
	}
	m.step(s)
}

// single reports whether the control plane is one host.
func (m *maker) single() bool { return len(m.hostNames()) == 1 }

// runs shows since when a component of a host does.
func (m *maker) runs(host, component string) string {
	return "kubectl -n kube-system get pod " + switched{host, component}.pod()
}

func (m *maker) undoSwitch() string { return "Copy the former manifest back from " + former + "." }

// changed shows what became different in a manifest of a host.
func (m *maker) changed(host, component string) string {
	return m.ssh(host, "diff "+former+"/"+component+".yaml "+manifestsDir+"/")
}

// stepManagers brings controller manager and scheduler to their new flags.
func (m *maker) stepManagers(why string) {
	s := Step{
		Title:  "Start controller manager and scheduler with their settings",
		Why:    why,
		Check:  "kubectl -n kube-system get leases kube-controller-manager kube-scheduler -o custom-columns=NAME:.metadata.name,HOLDER:.spec.holderIdentity,RENEWED:.spec.renewTime",
		Expect: "one holder each, renewed within the last seconds",
		Undo:   m.undoSwitch(),
	}
	s.Commands = restartFunctions()
	for _, h := range m.hostNames() {
		s.Commands = append(s.Commands, m.inTurn(h, controllerManager, scheduler)...)
	}
	m.step(s)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
