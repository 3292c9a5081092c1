package rollout

import (
	"fmt"
	"slices"

	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/generators/kind"
	"github.com/kubeseams/seams/internal/plan"
)

// kindSteps put what kind leaves to do behind the plan's first step, which
// makes the cluster.
func kindSteps(p *plan.Plan) []plan.Step {
	if len(p.Rollout) == 0 {
		return afterKind(p)
	}
	return slices.Concat(p.Rollout[:1], afterKind(p), p.Rollout[1:])
}

// afterKind is what follows the making of a kind cluster: its containers are
// the hosts, and their manifests are mounted from the start.
func afterKind(p *plan.Plan) []plan.Step {
	local := kind.Localise(p)
	c := commands{local}
	var steps []plan.Step
	for _, s := range controlplane.ExtraStores(local) {
		if len(s.Members) == 1 {
			continue
		}
		step := plan.Step{
			Title:  "Add the further members of " + s.Name,
			Why:    "kind starts all containers with their manifests, and these members restart until the first one knows of them. By then kubelet waits for minutes before it tries them again: one that is restarted does so at once.",
			Check:  etcdctl(s, s.Members[0], "endpoint health --cluster"),
			Expect: fmt.Sprintf("%d healthy endpoints", len(s.Members)),
		}
		for _, m := range s.Members[1:] {
			step.Commands = append(step.Commands, c.addMember(s, m, "docker exec "+m+" systemctl restart kubelet")...)
		}
		steps = append(steps, step)
	}
	for _, t := range controlplane.ExtraTiers(local) {
		if t.Name != controlplane.NodeTier {
			continue
		}
		worker := p.Name + "-worker"
		steps = append(steps, plan.Step{
			Title: "Send the worker to the node-facing tier",
			Why:   "kind joins nodes by token, which leads their kubelets to the main endpoint.",
			Commands: []string{fmt.Sprintf(`docker exec %s sh -c 'sed -i "s#server: .*#server: https://%s:%d#" /etc/kubernetes/kubelet.conf && systemctl restart kubelet'`,
				worker, t.Hosts[0], controlplane.Port(t))},
			Check:  "kubectl get node " + worker,
			Expect: "Ready",
		})
	}
	return steps
}
