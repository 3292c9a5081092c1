package plan

import (
	"fmt"
	"strconv"
)

// stepQuota raises main's quota, where it is to be larger than etcd's own: the
// cheapest of all steps, and the one that keeps the others from being refused for
// space. A profile that names the quota says what somebody wants and not what an
// etcd has, so the step is there for both, and leaves alone what is large enough.
// kubeadm's own phase would write the member as the only one of a new cluster,
// so the argument is put into the manifest that is there.
func (m *maker) stepQuota() {
	main := m.plan.Stores[0]
	if !m.raisesQuota() {
		return
	}
	s := Step{
		Title: "Raise the quota of the main etcd",
		Why: fmt.Sprintf("To %s, where it is less: etcd's own is %s, and takes effect wherever its manifest says nothing. An etcd takes its quota when it starts. "+
			"One member at a time, so that the others keep the majority. "+
			"The apiserver of its host, which uses no other member, is away for the same seconds: its clients go to the others, and the kubelet does not wait for it before it starts the etcd again.",
			gib(float64(main.QuotaBytes)), gib(etcdQuotaBytes)),
		Check:  m.etcdctl(main, main.Members[0], "endpoint health --cluster") + " && " + m.etcdctl(main, main.Members[0], "alarm list"),
		Expect: plural(len(main.Members), "healthy endpoint") + ", and no alarm",
		Hazard: `An alarm NOSPACE of before stays until "etcdctl alarm disarm".`,
		Undo:   "The same with the manifest of the etcd in " + former + ", one member at a time. Where a command was cut off, move the manifests in " + aside + " back first.",
	}
	if len(main.Members) == 1 {
		s.Why = fmt.Sprintf("To %s, where it is less: etcd's own is %s, and takes effect wherever its manifest says nothing. An etcd takes its quota when it starts. "+
			"There is one etcd and one apiserver: both are away until the etcd serves again, for less than half a minute. Pods go on.",
			gib(float64(main.QuotaBytes)), gib(etcdQuotaBytes))
		s.Hazard = "Nothing is scheduled, healed or admitted meanwhile. " + s.Hazard
	}
	s.Commands = restartFunctions()
	for _, h := range main.Members {
		etcd := switched{h, "etcd"}
		s.Commands = append(s.Commands,
			etcd.remember(),
			m.ssh(h, etcd.keep()+"; "+m.restartMain(main)),
			m.untilServes(h))
		s.Commands = append(s.Commands, m.renewed(etcd)...)
	}
	m.step(s)
}

// restartMain raises the quota in the manifest of a host's main etcd, unless it
// is that large already or without bound, and takes both away, etcd and main
// apiserver, until the etcd has ended. It has to be done well within the grace
// period of nodes, since newer minors' kubelets renew their leases through the
// apiserver beside them:
//
//   - An apiserver answers after 34 s that its etcd is gone, and the kubelet waits
//     for that answer, in which it would delete the etcd's mirror pod, before it
//     starts the new etcd. Where nobody listens it hears so at once.
//   - Asked to end, an apiserver with watches takes the 30 s of its pod.
//   - A manifest that is changed in place starts 10 to 15 s after the old pod has
//     ended, and one that is new at once.
func (m *maker) restartMain(main Store) string {
	const flag = "--quota-backend-bytes"
	return fmt.Sprintf(`cd %[1]s && test -e etcd.yaml && { has=$(sed -n "s/^ *- *[^-]*%[4]s=\(-*[0-9]*\).*/\1/p" etcd.yaml); [ "${has:-0}" -lt 0 ] || [ "${has:-0}" -ge %[3]s ] || { mkdir -p %[2]s && `+
		`cp -p etcd.yaml %[2]s/ && sed -i "/%[4]s=/d; s/^\( *\)- etcd$/&\n\1- %[4]s=%[3]s/" %[2]s/etcd.yaml && mv kube-apiserver.yaml %[2]s/ && sleep 3 && `+
		`{ pkill -KILL -f "^kube-apiserver .*--secure-port=%[6]d( |$)"; rm etcd.yaml; `+
		`while pgrep -f "^etcd .*--listen-client-urls=[^ ]*:%[5]d([ ,]|$)" >/dev/null; do sleep 0.2; done; sleep 3; mv %[2]s/*.yaml .; }; }; }`,
		manifestsDir, aside, strconv.FormatInt(main.QuotaBytes, 10), flag, main.ClientPort, m.plan.Tiers[0].Port)
}
