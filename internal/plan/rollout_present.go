package plan

import (
	"fmt"
	"strings"
)

// Files of a running kubeadm cluster's rollout: what the cluster has, what it
// shall have, and on each host the latter with the host's own address and name,
// which kubeadm's phases take from the configuration.
const (
	presentFile = "present.yaml"
	mergedFile  = "merged.yaml"
	thisHost    = hostDir + "/this-host.yaml"
	// former keeps a host's manifests as they were.
	former = hostDir + "/former"
	// aside has the manifests of what is being restarted.
	aside = hostDir + "/restarting"
)

// stepMerge puts the plan into the cluster's own configuration. kubeadm's
// phases and uploads write manifests and ConfigMaps whole, so whatever is not
// in their file is gone afterwards.
func (m *maker) stepMerge() {
	line := m.target.Kubernetes.Line()
	m.step(Step{
		Title: "Merge the plan into the cluster's own configuration",
		Why: "kubeadm's phases write manifests and ConfigMaps whole, from one file: it has to be the cluster's own with the plan's settings in it. " +
			"Set PROFILE to the profile; --rung, --recipes and the like have to be given as before. A directory rendered with --into has " + mergedFile + " already.",
		Commands: []string{
			"kubectl -n kube-system get configmap kubeadm-config -o jsonpath='{.data.ClusterConfiguration}' > " + presentFile,
			`printf '\n---\n' >> ` + presentFile,
			"kubectl -n kube-system get configmap kubelet-config -o jsonpath='{.data.kubelet}' >> " + presentFile,
			fmt.Sprintf(`test -s %[2]s || seams render -f "${PROFILE:?the profile this was rendered from}" --target kubeadm --into %[1]s > %[2]s`, presentFile, mergedFile),
		},
		Check: fmt.Sprintf("grep -c '^kubernetesVersion: v%s[.]' %s %s; diff %s %s",
			strings.ReplaceAll(line, ".", "[.]"), presentFile, mergedFile, presentFile, mergedFile),
		Expect: "a count of 1 for both files: with 0 the cluster runs another minor than " + line + ", so stop, and render for the one that runs. Then the lines that the findings named, and none of your own gone",
		Hazard: "What was changed by hand in " + manifestsDir + " is not in the ConfigMap: put it into " + presentFile + " first, such as encryption-provider-config with its volume, without which no apiserver can read the Secrets. " +
			"kubeadm does not remember a directory of patches either: copy yours into patches/ here, beside what is rendered, and see that host-*.yaml have patches: {directory: " + hostDir + "/patches}.",
		Undo: "Nothing has changed yet.",
	})
}

// stepCopyMerged brings the files of a kubeadm cluster to its hosts, and the
// merged configuration into the cluster, or the next upgrade would render
// without it.
func (m *maker) stepCopyMerged() {
	hosts := m.hostNames()
	s := Step{
		Title: "Copy the files to the control-plane hosts",
		Why:   "Every later step uses them there. The upload keeps the next kubeadm upgrade from rendering without them.",
		Check: "kubectl -n kube-system get configmap kubeadm-config -o jsonpath='{.data.ClusterConfiguration}'",
		Expect: "the arguments of " + mergedFile + ", your own among them. " +
			"The manifests as they are now are in " + former + " on each host",
		Undo: "kubeadm init phase upload-config kubeadm --config " + former + ".yaml on " + hosts[0] + ".",
	}
	for _, h := range hosts {
		s.Commands = append(s.Commands,
			m.ssh(h, fmt.Sprintf("mkdir -p %s/patches %s && cp -n %s/*.yaml %s/", hostDir, former, manifestsDir, former)),
			m.scp(presentFile+" "+mergedFile+" host-"+h+".yaml"+m.copiedBesides(), h, hostDir+"/"),
			fmt.Sprintf("test ! -d patches || %s", m.scp("-r patches", h, hostDir+"/")),
			m.ssh(h, fmt.Sprintf(`cd %[1]s && for f in %[2]s:%[4]s %[3]s:%[5]s; do { cat ${f%%%%:*}; printf "\n---\n"; cat host-%[6]s.yaml; } > ${f##*:}; done`,
				hostDir, mergedFile, presentFile, thisHost, former+".yaml", h)))
	}
	s.Commands = append(s.Commands, m.ssh(hosts[0], "kubeadm init phase upload-config kubeadm --config "+thisHost))
	m.step(s)
}

// copiedBesides names what else kubeadm's own pods refer to.
func (m *maker) copiedBesides() string {
	if m.plan.Scheduler.QPS+m.plan.Scheduler.Burst > 0 {
		return " scheduler.yaml"
	}
	return ""
}

// stepCompare is stepMerge for hosts of plain static pods, whose manifests
// nobody can merge: what runs was written by somebody else's tool.
func (m *maker) stepCompare() {
	s := Step{
		Title: "Compare the manifests with those that run",
		Why: "The rendered manifests replace the running ones whole, and hold what the profile says and nothing else. " +
			"Flags, volumes and images of your own go into them with --overlay, before anything is copied.",
		Check:  "diff -ru running manifests",
		Expect: "differences that the plan makes: each flag and volume of the running manifests that you need stands in the rendered ones too",
		Hazard: "An apiserver without your encryption-provider-config cannot read the Secrets, one without your authentication flags turns users away, and the etcd " + mainStore + " must keep its name, peers and data directory.",
		Undo:   "Nothing has changed yet.",
	}
	for _, h := range m.hostNames() {
		s.Commands = append(s.Commands,
			m.ssh(h, fmt.Sprintf("mkdir -p %s && cp -n %s/*.yaml %s/", former, manifestsDir, former)),
			"mkdir -p running/"+h+" && "+m.scpBack(h, former+"/*.yaml", "running/"+h+"/"))
	}
	m.step(s)
}
