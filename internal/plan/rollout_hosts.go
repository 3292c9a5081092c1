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

// apply renders one component of a host anew.
func (m *maker) apply(host, component string) string {
	if m.kubeadm() {
		phase := map[string]string{"kube-apiserver": "apiserver", "kube-controller-manager": "controller-manager", "kube-scheduler": "scheduler"}[component]
		return m.ssh(host, "kubeadm init phase control-plane "+phase+" --config "+thisHost)
	}
	return m.scp("manifests/"+host+"/"+component+".yaml", host, manifestsDir+"/")
}

// stepsSwitchInTurn restarts one apiserver after the other. Without a route
// for leases nothing that controllers rely on is in two places meanwhile:
// Events written through one side are only not seen through the other, and
// expire by themselves.
func (m *maker) stepsSwitchInTurn() {
	if m.apiserverChanges() {
		for _, h := range m.hostNames() {
			s := Step{
				Title:    "Switch the apiserver on " + h,
				Why:      "One at a time, so that the others serve meanwhile.",
				Commands: []string{m.apply(h, "kube-apiserver")},
				Check:    m.changed(h, "kube-apiserver") + "; " + m.readyz(h, m.plan.Tiers[0].Port),
				Expect:   "the plan's lines, and ok",
				Undo:     m.undoSwitch(),
			}
			if events, ok := m.routed(eventsRoute); ok {
				s.Why += " Events need no copy: what is left in the main etcd expires within its TTL."
				s.Hazard = "Until the last host is done, Events written through one apiserver are not listed by another."
				s.Check += " && " + m.etcdctl(events, events.Members[0], "get /registry/events/ --prefix --keys-only --limit=3")
				s.Expect = "the plan's lines, and ok, then keys below /registry/events/"
			}
			m.step(s)
		}
	}
	m.stepManagers("One host at a time: the leader steps down and another one takes over.")
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
	for _, h := range m.hostNames() {
		s.Commands = append(s.Commands, m.apply(h, "kube-controller-manager"), m.apply(h, "kube-scheduler"))
	}
	m.step(s)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
