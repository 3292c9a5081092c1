package plan

import (
	"fmt"
	"strings"
)

// stepStartStore starts an etcd that apiservers will be routed to. kubeadm's
// manifests grow it host by host; those of plain static pods begin with all
// members at once.
func (m *maker) stepStartStore(s Store) {
	step := Step{
		Title:  "Start the etcd " + s.Name,
		Why:    "An apiserver that is told of a store which does not answer never becomes ready, so the store comes before the route.",
		Check:  m.etcdctl(s, s.Members[0], "endpoint health --cluster"),
		Expect: plural(len(s.Members), "healthy endpoint"),
		Undo:   "Remove " + etcdFile(s) + " from " + manifestsDir + " on each host; nothing uses the store yet.",
	}
	for _, host := range s.Members {
		if s.Durability == "ephemeral" {
			step.Commands = append(step.Commands, m.mountMemory(s, host))
		}
	}
	if m.kubeadm() {
		step.Hazard = "One member at a time, to the end: etcd takes one learner at once, and a member that never starts must not count."
		step.Commands = append(step.Commands, m.growStore(s)...)
	} else {
		for _, host := range s.Members {
			step.Commands = append(step.Commands, m.scp("manifests/"+host+"/"+etcdFile(s), host, manifestsDir+"/"))
		}
		for _, host := range s.Members {
			step.Commands = append(step.Commands, waitReady(etcdPod(s, host)))
		}
	}
	m.step(step)
	if s.Durability == "ephemeral" && len(s.Members) > 1 {
		m.stepSettle(s)
	}
}

// growStore begins with one member and adds the others as learners, which have
// no vote until they have caught up.
func (m *maker) growStore(s Store) []string {
	call := "etcdctl_" + strings.ReplaceAll(s.Name, "-", "_")
	var commands []string
	for i, host := range s.Members {
		if i == 1 {
			commands = append(commands, call+"() { "+m.etcdctl(s, s.Members[0], `"$@"`)+"; }")
		}
		if i > 0 {
			commands = append(commands, call+" member add "+host+" --learner --peer-urls="+m.peerURL(s, host))
		}
		commands = append(commands, m.scp("manifests/"+host+"/"+etcdFile(s), host, manifestsDir+"/"))
		if i > 0 {
			// A learner is never ready (etcd's /readyz says non_learner).
			commands = append(commands, fmt.Sprintf(`until %s member promote "$(%s member list | grep ", %s," | cut -d, -f1)"; do sleep 2; done`, call, call, host))
		}
		commands = append(commands, waitReady(etcdPod(s, host)))
	}
	return commands
}

func (m *maker) peerURL(s Store, host string) string {
	return "https://" + hostPort(m.address(host), s.PeerPort)
}

// waitReady waits for a static pod, which is unknown to the apiserver until the
// kubelet has read its manifest.
func waitReady(pod string) string {
	return "kubectl -n kube-system wait --for=create pod/" + pod + " --timeout=180s && kubectl -n kube-system wait --for=condition=Ready pod/" + pod + " --timeout=300s"
}

// memoryBytes bounds the tmpfs of a store in memory: its database twice, as it
// is during a defragmentation, and 1 GiB for the log.
func memoryBytes(s Store) int64 { return 2*s.QuotaBytes + 1<<30 }

// mountMemory mounts a tmpfs at a store's data directory, now and whenever the
// host starts. It is the host's and not the pod's, so that a new manifest costs
// no data; and bounded, so that it cannot take all of /run.
func (m *maker) mountMemory(s Store, host string) string {
	return m.ssh(host, fmt.Sprintf(`grep -q " %[1]s " /etc/fstab || echo "tmpfs %[1]s tmpfs size=%[2]d,mode=0700,nosuid,nodev,noexec,x-mount.mkdir 0 0" >> /etc/fstab; mkdir -p %[1]s && mount %[1]s`,
		s.DataDir, memoryBytes(s)))
}

// stepSettle gives the members of a store in memory the manifests that they
// keep.
func (m *maker) stepSettle(s Store) {
	last := s.Members[len(s.Members)-1]
	step := Step{
		Title: "Give the members of " + s.Name + " the manifests that they keep",
		Why: "The first manifests begin a cluster, which is right once: a member that comes back from a restart of its host, with empty memory, would begin a second one beside the first. " +
			"With these it waits for the others.",
		Check:  m.etcdctl(s, s.Members[0], "endpoint health --cluster"),
		Expect: plural(len(s.Members), "healthy endpoint"),
		Hazard: "After a restart of a host, and before that of the next: remove its member (etcdctl member remove), empty " + s.DataDir + " there, and add it again (member add --learner, then member promote). " +
			"An etcd that lost its data must not come back as its former self. " + AllMembersLost(s.Name, s.DataDir),
		Undo: "Copy the manifests of the step before back.",
	}
	for _, host := range s.Members {
		step.Commands = append(step.Commands,
			m.scp("manifests-steady/"+host+"/"+etcdFile(s), host, manifestsDir+"/"),
			fmt.Sprintf("until kubectl -n kube-system get pod %s -o jsonpath='{.spec.containers[0].command}' | grep -q '%s=%s.*initial-cluster-state=existing'; do sleep 2; done", etcdPod(s, host), last, m.peerURL(s, last)),
			waitReady(etcdPod(s, host)))
	}
	m.step(step)
}

// AllMembersLost is what to do when a store in memory is gone as a whole. The
// order is that of e2e/rig/faults_test.go: without it two controller managers led
// together for ten seconds, and nodes were taken for dead.
func AllMembersLost(store, dataDir string) string {
	return "When all members are lost together, these manifests never bring the store back: each member asks the others about a cluster that is no more, and ends. Then, in this order: " +
		"stop controller managers and schedulers on all hosts, since the old leader and a new one can both hold an election of the empty store; " +
		"empty " + dataDir + " on each host, and start " + store + " by the manifests and the steps of its first start; " +
		"restart every apiserver, which hears of no change in the new store otherwise; start controller managers and schedulers; give the members these manifests again."
}
