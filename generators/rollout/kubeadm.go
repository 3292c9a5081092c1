package rollout

import (
	"fmt"
	"strings"

	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/generators/kubeadm"
	"github.com/kubeseams/seams/internal/plan"
)

func kubeadmIntro(p *plan.Plan) string {
	if len(controlplane.ExtraStores(p)) == 0 {
		return "kubeadm makes the cluster, host by host."
	}
	return "kubeadm makes the cluster; the extra etcds grow with it, host by host, since a store that waited for all of its members would keep the first apiserver from ever being healthy."
}

func kubeadmSteps(p *plan.Plan) []plan.Step {
	c := commands{p}
	hosts := p.ControlPlane.Hosts
	steps := []plan.Step{c.prepare(kubeadmFiles(p)), c.kubeadmInit()}
	steps = append(steps, c.discovery())
	for _, h := range hosts[1:] {
		steps = append(steps, c.kubeadmJoin(h.Name))
	}
	steps = append(steps, c.steady()...)
	steps = append(steps, c.tiers()...)
	steps = append(steps, c.controllerGroups()...)
	return append(steps, c.joinWorkers())
}

// kubeadmFiles are what kubeadm's own pods refer to on a host.
func kubeadmFiles(p *plan.Plan) []string {
	var files []string
	if kubeadm.Patches(p) != nil {
		files = append(files, "patches")
	}
	if controlplane.SchedulerConfig(p) != nil {
		files = append(files, "scheduler.yaml")
	}
	return files
}

// prepare brings to every host what its pods refer to.
func (c commands) prepare(files []string) plan.Step {
	s := plan.Step{
		Title:  "Prepare the control-plane hosts",
		Why:    "Files and memory that pods refer to have to be there before the pods.",
		Check:  c.ssh(c.plan.ControlPlane.Hosts[0].Name, "ls "+controlplane.HostDir+" "+controlplane.ManifestsDir),
		Expect: "the copied files: " + strings.Join(files, ", "),
	}
	if len(files) == 0 {
		s.Expect = "two directories, empty but for what the host came with"
	}
	if ready := controlplane.Probes(c.plan).Ready; ready != "/readyz" && !controlplane.Single(c.plan) {
		s.Why += " Let load balancers ask for " + ready + ", as the probes do: plain /readyz fails with a store whose loss the apiservers are to survive."
	}
	for _, h := range c.plan.ControlPlane.Hosts {
		s.Commands = append(s.Commands, c.ssh(h.Name, "mkdir -p "+controlplane.HostDir+" "+controlplane.ManifestsDir))
		if len(files) > 0 {
			s.Commands = append(s.Commands, c.scp(h.Name, controlplane.HostDir, files...))
		}
	}
	for _, store := range controlplane.ExtraStores(c.plan) {
		if !controlplane.Ephemeral(store) {
			continue
		}
		for _, host := range store.Members {
			s.Commands = append(s.Commands, c.tmpfs(store, host))
		}
	}
	return s
}

func (c commands) kubeadmInit() plan.Step {
	first := c.plan.ControlPlane.Hosts[0].Name
	s := plan.Step{
		Title:  "Initialise the cluster on " + first,
		Why:    "kubeadm writes the certificates before the kubelet starts the first pod, so the first member of each extra etcd can wait in the manifests directory. It has to be there: kubeadm waits for /livez, which fails until every routed store answers.",
		Check:  c.readyz(first, controlplane.Port(controlplane.MainTier(c.plan))),
		Expect: "ok",
		Undo:   c.ssh(first, "kubeadm reset --force") + c.alsoRemove(),
	}
	if len(controlplane.ExtraStores(c.plan)) == 0 {
		s.Why = "kubeadm writes certificates and manifests, and waits for the apiserver."
	}
	var pods []string
	for _, store := range controlplane.ExtraStores(c.plan) {
		if store.Members[0] == first {
			pods = append(pods, controlplane.EtcdName(store))
		}
	}
	if len(pods) > 0 {
		s.Commands = append(s.Commands, c.manifests("manifests", first, pods...))
	}
	s.Commands = append(s.Commands,
		c.scp(first, controlplane.HostDir, "init.yaml"),
		c.ssh(first, "kubeadm init --config "+controlplane.HostDir+"/init.yaml"),
		"(umask 077; ssh -n root@"+c.address(first)+" cat /etc/kubernetes/admin.conf > admin.conf) && export KUBECONFIG=$PWD/admin.conf",
	)
	s.Hazard = "Install the network plugin now, as kubeadm says at the end; nodes are not Ready without it."
	return s
}

// alsoRemove names what kubeadm reset leaves behind.
func (c commands) alsoRemove() string {
	var dirs []string
	for _, s := range controlplane.ExtraStores(c.plan) {
		dirs = append(dirs, controlplane.DataDir(s))
	}
	if len(dirs) == 0 {
		return ""
	}
	return ", and remove " + strings.Join(dirs, " and ") + ", which kubeadm does not know"
}

// discovery makes the kubeconfigs with which hosts find the cluster.
func (c commands) discovery() plan.Step {
	first := c.plan.ControlPlane.Hosts[0].Name
	s := plan.Step{
		Title: "Make the discovery files",
		Why: "A joining kubelet keeps the endpoint that its discovery file names, and the token in it lets it ask for a certificate. " +
			"Discovery by token alone would take the endpoint from the cluster, and send every kubelet to the main apiservers.",
		Commands: []string{
			"ssh -n root@" + c.address(first) + " cat /etc/kubernetes/pki/ca.crt > ca.crt",
			`TOKEN="$(ssh -n root@` + c.address(first) + ` kubeadm token create --ttl 24h)"`,
		},
		Check:  "kubectl --kubeconfig=discovery-worker.conf get --raw=/version",
		Expect: "the version " + c.plan.Target.Kubernetes.String(),
		Hazard: "Whoever has the file can join a node until the token expires.",
		Undo:   "kubeadm token delete, with the token's ID.",
	}
	for _, d := range []struct{ file, endpoint string }{
		{"discovery-control-plane.conf", controlplane.MainEndpoint(c.plan)},
		{"discovery-worker.conf", controlplane.NodeEndpoint(c.plan)},
	} {
		if d.file == "discovery-control-plane.conf" && controlplane.Single(c.plan) {
			continue
		}
		config := "kubectl --kubeconfig=" + d.file + " config "
		s.Commands = append(s.Commands,
			config+"set-cluster kubernetes --server=https://"+d.endpoint+" --certificate-authority=ca.crt --embed-certs",
			config+`set-credentials bootstrap --token="$TOKEN"`,
			config+"set-context bootstrap --cluster=kubernetes --user=bootstrap",
			config+"use-context bootstrap",
		)
	}
	if c.hasNodeTier() {
		s.Check = "kubectl --kubeconfig=discovery-worker.conf config view --minify -o jsonpath='{.clusters[0].cluster.server}'"
		s.Expect = "https://" + controlplane.NodeEndpoint(c.plan) + ", which answers once the tier stands"
	}
	return s
}

func (c commands) hasNodeTier() bool {
	for _, t := range controlplane.ExtraTiers(c.plan) {
		if t.Name == controlplane.NodeTier {
			return true
		}
	}
	return false
}

// sharedKeys are what all control-plane hosts have in common; the rest kubeadm
// makes on each.
const sharedKeys = "pki/ca.crt pki/ca.key pki/sa.key pki/sa.pub pki/front-proxy-ca.crt pki/front-proxy-ca.key pki/etcd/ca.crt pki/etcd/ca.key"

func (c commands) kubeadmJoin(host string) plan.Step {
	first := c.plan.ControlPlane.Hosts[0].Name
	s := plan.Step{
		Title: "Join " + host + " and its members",
		Why:   "The authorities are copied over ssh, so that no key is written into a file or a Secret. The apiserver of the host finds the extra etcds on the others meanwhile.",
		Commands: []string{
			c.ssh(host, "mkdir -p /etc/kubernetes/pki/etcd"),
			"ssh -n root@" + c.address(first) + " tar -C /etc/kubernetes -cf - " + sharedKeys + " | ssh root@" + c.address(host) + " tar -C /etc/kubernetes -xf -",
			"ssh root@" + c.address(host) + " 'umask 077; cat > " + kubeadm.DiscoveryPath + "' < discovery-control-plane.conf",
			c.scp(host, controlplane.HostDir, "join-"+host+".yaml"),
			c.ssh(host, "kubeadm join --config "+controlplane.HostDir+"/join-"+host+".yaml"),
		},
		Check:  c.readyz(host, controlplane.Port(controlplane.MainTier(c.plan))),
		Expect: "ok",
		Hazard: "One host at a time, to the end: etcd takes one learner at once.",
		Undo:   "Remove the host's members with etcdctl member remove, then kubeadm reset on it" + c.alsoRemove() + ".",
	}
	if len(controlplane.ExtraStores(c.plan)) == 0 {
		s.Title = "Join " + host
		s.Why = "The authorities are copied over ssh, so that no key is written into a file or a Secret."
		s.Hazard = "One host at a time, to the end: each brings a member of the main etcd, which takes one learner at once."
		s.Undo = "kubeadm reset on it, which takes its member out of the main etcd."
	}
	for _, store := range controlplane.ExtraStores(c.plan) {
		for _, m := range store.Members[1:] {
			if m != host {
				continue
			}
			s.Commands = append(s.Commands, c.addMember(store, host, c.manifests("manifests", host, controlplane.EtcdName(store)))...)
			s.Check += " && " + etcdctl(store, store.Members[0], "endpoint health --cluster")
			s.Expect = "ok, and every member so far healthy"
		}
	}
	return s
}

// steady gives the members of stores in memory the manifests that they keep.
func (c commands) steady() []plan.Step {
	var steps []plan.Step
	for _, store := range controlplane.ExtraStores(c.plan) {
		if !controlplane.NeedsSteady(store) {
			continue
		}
		name := controlplane.EtcdName(store)
		s := plan.Step{
			Title: "Give the members of " + store.Name + " the manifests that they keep",
			Why: "The first manifests begin a cluster, which is right once: a member that comes back from a restart of its host with empty memory would begin a second one beside the first. " +
				"With these it waits for the others. The data stays where it is, since it is not the pod's.",
			Check:  etcdctl(store, store.Members[0], "endpoint health --cluster"),
			Expect: fmt.Sprintf("%d healthy endpoints", len(store.Members)),
			Hazard: fmt.Sprintf("After a restart of a host, and before that of the next: remove its member (etcdctl member remove), empty %s there, add it again (member add --learner, then member promote). "+
				"%s", controlplane.DataDir(store), plan.AllMembersLost(store.Name, controlplane.DataDir(store))),
		}
		for _, host := range store.Members {
			s.Commands = append(s.Commands, c.manifests("manifests-steady", host, name), c.renewed(store, host)+"; "+ready(name, host))
		}
		steps = append(steps, s)
	}
	return steps
}

// renewed waits until the pod is the one of the steady manifest, which is the
// only one that names the last member to all.
func (c commands) renewed(s plan.Store, host string) string {
	last := s.Members[len(s.Members)-1]
	return fmt.Sprintf("until kubectl -n kube-system get pod %s-%s -o yaml | grep -q '%s=%s'; do sleep 2; done",
		controlplane.EtcdName(s), host, last, controlplane.PeerURL(c.plan, s, last))
}

func (c commands) tiers() []plan.Step {
	var steps []plan.Step
	for _, t := range controlplane.ExtraTiers(c.plan) {
		s := plan.Step{
			Title:  "Start the apiservers of tier " + t.Name,
			Why:    "After the main ones, which make the Service kubernetes with their own port. A load balancer before port " + fmt.Sprint(controlplane.Port(t)) + " belongs to the tier.",
			Expect: "ok",
			Undo:   "Remove the manifests.",
		}
		var checks []string
		for _, h := range t.Hosts {
			s.Commands = append(s.Commands, c.manifests("manifests", h, controlplane.APIServerName(t)), ready(controlplane.APIServerName(t), h))
			checks = append(checks, c.readyz(h, controlplane.Port(t)))
		}
		s.Check = strings.Join(checks, " && ")
		steps = append(steps, s)
	}
	return steps
}

func (c commands) controllerGroups() []plan.Step {
	var steps []plan.Step
	for _, g := range c.plan.ControllerGroups {
		name := "kube-controller-manager-" + g.Name
		s := plan.Step{
			Title:  "Start the controllers of group " + g.Name,
			Why:    "The first controller manager leaves these to the group: " + strings.Join(g.Controllers, ", ") + ".",
			Check:  "kubectl -n kube-system get lease " + name + " -o jsonpath='{.spec.holderIdentity}'",
			Expect: "one holder",
			Undo:   "Remove the manifests, then give the first controller manager its controllers back.",
		}
		for _, h := range c.plan.ControlPlane.Hosts {
			s.Commands = append(s.Commands, c.manifests("manifests", h.Name, name))
		}
		steps = append(steps, s)
	}
	return steps
}

func (c commands) joinWorkers() plan.Step {
	s := plan.Step{
		Title: "Join the workers",
		Why:   "Their kubelets talk to https://" + controlplane.NodeEndpoint(c.plan) + " from the first request on.",
		Commands: []string{
			"# on each worker, after copying discovery-worker.conf and join-worker.yaml to it:",
			"# install -m 0600 discovery-worker.conf " + kubeadm.DiscoveryPath + " && kubeadm join --config join-worker.yaml",
		},
		Check:  "kubectl get nodes",
		Expect: "every node Ready",
		Hazard: "Thousands of nodes that join together list everything they watch together: join a part of them at a time.",
		Undo:   "kubectl delete node, then kubeadm reset on it.",
	}
	if c.hasNodeTier() {
		s.Why += " kube-proxy has its own kubeconfig, which kubeadm fills with the main endpoint."
		s.Commands = append([]string{
			fmt.Sprintf("kubectl -n kube-system get configmap kube-proxy -o yaml | sed 's#server: https://.*#server: https://%s#' | kubectl apply -f - && kubectl -n kube-system rollout restart daemonset kube-proxy",
				controlplane.NodeEndpoint(c.plan)),
		}, s.Commands...)
	}
	return s
}
