package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/target"
)

// tierCA is where the rollout keeps the public half of the tiers' authority.
const tierCA = "aggregated-ca.crt"

// stepsAggregated places the tiers: what kube-apiserver has to know of them,
// then for each its keys, its etcd, its servers, and last its groups.
func (m *maker) stepsAggregated() {
	if len(m.plan.Aggregated) == 0 {
		return
	}
	m.stepTierObjects()
	for i, t := range m.plan.Aggregated {
		if t.Form == StaticForm {
			m.stepHostKeys(t, i == 0)
			s, _ := m.plan.Store(t.Store)
			m.stepStartStore(s)
			m.stepStartServers(t)
		} else {
			m.stepStartWorkload(t, i == 0)
		}
		for _, group := range t.Groups {
			m.stepGroup(t, group)
		}
	}
}

func (m *maker) stepTierObjects() {
	user := m.plan.Aggregated[0].User()
	why, role, may := "A tier's server ends when it may not read how kube-apiserver's front proxy shows itself, so its rights come first.", "seams:aggregated-server", "list services"
	if m.plan.Aggregated[0].Second() {
		why, role, may = "A tier's server asks kube-apiserver who somebody is and what they may, so its rights come first.", "system:auth-delegator", "create subjectaccessreviews.authorization.k8s.io"
	}
	s := Step{
		Title:    "Prepare for the aggregated tiers",
		Why:      why + " Nothing changes for any group yet.",
		Commands: append(m.tierImage(), "kubectl apply --server-side -f aggregated/objects.yaml"),
		Check:    "kubectl get clusterrole " + role + " && kubectl get prioritylevelconfiguration seams-aggregated && kubectl auth can-i " + may + " --as=" + user,
		Expect:   "both objects, and yes",
		Hazard:   "The priority level takes a seventh of the seats of every kube-apiserver from this step on, and lends what it does not use.",
		Undo:     "kubectl delete -f aggregated/objects.yaml, which deletes every object of the tiers' namespace.",
	}
	for _, t := range m.plan.Aggregated {
		s.Commands = append(s.Commands, "kubectl apply --server-side -f "+t.file("objects.yaml"))
	}
	m.step(s)
}

// tierImage builds the servers' image and brings it to where nodes find it:
// into a registry, or into the nodes of a kind cluster, which need none. That of
// kube-apiserver is upstream's.
func (m *maker) tierImage() []string {
	const build = "sh aggregated/image/build.sh"
	image := m.plan.Aggregated[0].Image
	switch {
	case m.plan.Aggregated[0].Second():
		return nil
	case m.target.Platform != target.Kind || image == "":
		return []string{"PUSH=1 " + build}
	}
	return []string{build + " && kind load docker-image --name " + m.plan.Name + " " + image}
}

func (t AggregatedTier) file(name string) string { return "aggregated/" + t.Name + "/" + name }

// kubeconfigs are the files by which a static tier's server finds kube-apiserver.
func (t AggregatedTier) kubeconfigs() string {
	if t.Second() {
		return t.file("tokens.kubeconfig") + " " + t.file("rights.kubeconfig")
	}
	return t.file("server.kubeconfig")
}

// hostTier is where a tier's files are put on a host.
func (t AggregatedTier) hostTier() string { return "/etc/kubernetes/seams/aggregated/" + t.Name }

// stepHostKeys makes keys where the authorities' are. The tiers' authorities are
// made on the first host, which every etcd has a member on, and go on from there
// by ssh.
func (m *maker) stepHostKeys(t AggregatedTier, first bool) {
	s, _ := m.plan.Store(t.Store)
	step := Step{
		Title: "Make the keys of " + t.Name,
		Why: "On the hosts, where the keys of the cluster's authorities are; none leaves them but by ssh to another. The tiers' etcds have an authority of their own: " +
			"who is a client of a tier's etcd is none of main's.",
		Check:  m.ssh(m.hostNames()[0], "openssl verify -CAfile "+etcdAggregated+"/ca.crt "+etcdAggregated+"/"+t.Name+"/server.crt"),
		Expect: "OK",
		Hazard: "They end after a year: run pki.sh on each host once a month, which renews what ends within 30 days. With an expired certificate the groups answer 503 and no namespace is deleted; the rest of the API goes on.",
		Undo:   "Remove " + etcdAggregated + "/" + t.Name + " on each host.",
	}
	shared := "pki/aggregated/ca.crt pki/aggregated/ca.key pki/aggregated/etcd-ca.crt pki/aggregated/etcd-ca.key"
	for i, host := range m.hostNames() {
		if !slices.Contains(s.Members, host) && !slices.Contains(t.Hosts, host) {
			continue
		}
		mode := ""
		if i == 0 {
			mode = " init"
		} else if first {
			step.Commands = append(step.Commands, "ssh -n root@"+m.address(m.hostNames()[0])+" tar -C /etc/kubernetes -cf - "+shared+" | ssh root@"+m.address(host)+" tar -C /etc/kubernetes -xf -")
		}
		step.Commands = append(step.Commands,
			m.ssh(host, "mkdir -p "+t.hostTier()),
			m.scp(t.file("pki.sh")+" "+t.kubeconfigs(), host, t.hostTier()+"/"),
			m.ssh(host, "sh "+t.hostTier()+"/pki.sh"+mode))
	}
	step.Commands = append(step.Commands, "ssh -n root@"+m.address(m.hostNames()[0])+" cat "+etcdAggregated+"/ca.crt > "+tierCA)
	m.step(step)
}

// etcdAggregated is where the keys of tiers are on a host.
const etcdAggregated = "/etc/kubernetes/pki/aggregated"

func (m *maker) stepStartServers(t AggregatedTier) {
	step := Step{
		Title:  "Start the servers of " + t.Name,
		Why:    "Its etcd answers. The groups are still where they were.",
		Expect: "ok from each",
		Hazard: "Look at the memory of its hosts: the groups take an estimated " + gib(t.ResidentBytes) + " of heap in each of its servers, and twice that when it starts.",
		Undo:   "Remove " + t.ServerName() + ".yaml from " + manifestsDir + " on its hosts.",
	}
	var checks []string
	for _, host := range t.Hosts {
		step.Commands = append(step.Commands, m.scp("manifests/"+host+"/"+t.ServerName()+".yaml", host, manifestsDir+"/"))
		checks = append(checks, m.tierReady(t, host))
	}
	for _, host := range t.Hosts {
		step.Commands = append(step.Commands, waitReady(t.ServerName()+"-"+host))
	}
	step.Check = strings.Join(checks, " && ")
	m.step(step)
}

// tierReady asks one server of a static tier, past kube-apiserver.
func (m *maker) tierReady(t AggregatedTier, host string) string {
	return "kubectl --server=" + m.tierURL(t, host) + " --certificate-authority=" + tierCA + " --tls-server-name=" + t.DNSName() + " get --raw=/readyz"
}

func (m *maker) tierURL(t AggregatedTier, host string) string {
	return "https://" + hostPort(m.address(host), t.Port)
}

func (m *maker) stepStartWorkload(t AggregatedTier, first bool) {
	mode := ""
	if first {
		mode = " init"
	}
	m.step(Step{
		Title: "Start the aggregated tier " + t.Name,
		Why:   "Server and etcd stand before anything is sent to them. The groups are still where they were.",
		Commands: []string{
			"sh " + t.file("pki.sh") + mode,
			"cp pki/aggregated/ca.crt " + tierCA,
			"kubectl apply --server-side -f " + t.file("workload.yaml"),
			fmt.Sprintf("kubectl -n %s rollout status statefulset/%s --timeout=10m", t.Namespace, t.EtcdService()),
			fmt.Sprintf("kubectl -n %s rollout status deployment/%s --timeout=10m", t.Namespace, t.Name),
		},
		Check:  fmt.Sprintf("kubectl -n %s get endpointslices -l kubernetes.io/service-name=%s", t.Namespace, t.Service),
		Expect: plural(t.Replicas, "endpoint"),
		Hazard: "Keep ./pki: it signs the next certificates, and those end after a year; run pki.sh once a month. The groups take an estimated " + gib(t.ResidentBytes) + " of heap in each server. " +
			"When the whole cluster starts, the tier is there only after its pods are: nothing that pods need to start may be in its groups.",
		Undo: "kubectl delete -f " + t.file("workload.yaml") + "; the volumes of the etcd stay.",
	})
}

// stepGroup switches a group. A group that has objects is moved as a whole by
// the program, which keeps their identities; one that has none needs no more
// than its APIServices and definitions.
func (m *maker) stepGroup(t AggregatedTier, group string) {
	step := Step{
		Title: "Move the group " + group + " to " + t.Name,
		Why: "The definitions come first in the tier, then the APIServices, which are available only for versions that the tier knows. In the main server it is the other way round: " +
			"made after a CRD there, an APIService is put back to local within seconds. " +
			"A group with objects is moved with them, by tier move, while it is frozen for writes.",
		Check:  "kubectl get apiservices -o wide | grep '" + strings.ReplaceAll(group, ".", `\.`) + "' && kubectl get --raw /apis/" + group,
		Expect: "every version available, with service " + t.Namespace + "/" + t.Service,
		Hazard: "While the group moves its writers get an error, and afterwards its watchers list anew. With the tier down no namespace can be deleted.",
		Undo:   "seams tier move " + group + " --to main with the same flags, which takes along what was written in between.",
	}
	tier := "--tier-service " + t.Namespace + "/" + t.Service + ":" + fmt.Sprint(t.Port) + " --tier-ca " + tierCA
	for _, host := range t.Hosts {
		tier += " --tier-server " + m.tierURL(t, host)
	}
	if t.Form == WorkloadForm {
		step.Commands = append(step.Commands,
			fmt.Sprintf("kubectl -n %s port-forward service/%s %[3]d:%[3]d &", t.Namespace, t.Service, t.Port))
		tier += fmt.Sprintf(" --tier-server https://127.0.0.1:%d", t.Port)
	}
	step.Commands = append(step.Commands,
		"# without objects in the group: its CRDs into the tier, and APIServices for their versions",
		"# seams tier crds -f CRDS.yaml "+tier)
	if len(t.Versions[group]) > 0 {
		step.Commands = append(step.Commands, "# or the CRDs by hand, then: sh "+t.file("apiservices.sh")+" "+tierCA)
	}
	step.Commands = append(step.Commands,
		"# with objects in it, with the flags of both etcds (seams tier move --help):",
		"# seams tier move "+group+" --to tier "+tier+" --main-etcd ... --tier-etcd ... --yes")
	m.step(step)
}

func gib(bytes float64) string { return fmt.Sprintf("%.1f GiB", bytes/(1<<30)) }
