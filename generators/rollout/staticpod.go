package rollout

import (
	"fmt"

	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/internal/plan"
)

func staticPodSteps(p *plan.Plan) []plan.Step {
	c := commands{p}
	var files []string
	if controlplane.SchedulerConfig(p) != nil {
		files = append(files, "scheduler.yaml")
	}
	first := p.ControlPlane.Hosts[0].Name
	keys := plan.Step{
		Title:  "Put keys, certificates and kubeconfigs in place",
		Why:    "Every pod mounts them, and one whose kubeconfig is missing gets an empty file in its place. The table below lists the certificates; controller-manager.conf and scheduler.conf belong in /etc/kubernetes.",
		Check:  c.ssh(first, "ls "+controlplane.PKIDir+" "+controlplane.PKIDir+"/etcd /etc/kubernetes/controller-manager.conf /etc/kubernetes/scheduler.conf"),
		Expect: "every file of the table, on every host",
	}
	start := plan.Step{
		Title:  "Start all hosts together",
		Why:    "No etcd has a majority before most of its members run.",
		Check:  c.readyz(first, controlplane.Port(controlplane.MainTier(p))),
		Expect: "ok",
		Undo:   "Remove the manifests, and the data directories of the etcds.",
	}
	for _, h := range p.ControlPlane.Hosts {
		start.Commands = append(start.Commands, c.scp(h.Name, controlplane.ManifestsDir, "manifests/"+h.Name+"/*.yaml")+" &")
	}
	start.Commands = append(start.Commands, "wait")
	steps := append([]plan.Step{c.prepare(files), keys, start}, c.steady()...)
	if controlplane.KubeletConfig(p) != nil || c.hasNodeTier() {
		steps = append(steps, c.kubelets())
	}
	return steps
}

func (c commands) kubelets() plan.Step {
	return plan.Step{
		Title: "Start the kubelets of the nodes",
		Why:   "The drop-in holds what the plan changes of their configuration, the kubeconfig the endpoint they talk to.",
		Commands: []string{
			"# on each node: kubelet/20-seams.conf in the directory that --config-dir names,",
			fmt.Sprintf("# and server: https://%s in the kubelet's kubeconfig", controlplane.NodeEndpoint(c.plan)),
		},
		Check:  "kubectl get nodes",
		Expect: "every node Ready",
	}
}
