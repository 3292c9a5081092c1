package rollout

import (
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/target"
)

// newCluster is the order in which a cluster is made with the plan from the
// start. It differs from the rollout to a running one: nothing has to be
// switched, but nothing is there either on which to run a command.
func newCluster(p *plan.Plan) section {
	switch p.Target.Platform {
	case target.Kubeadm:
		return section{
			title: "A new cluster",
			intro: "kubeadm makes the cluster; the extra etcds grow with it, host by host, since a store that waited for all of its members would keep the first apiserver from ever being healthy.",
			steps: kubeadmSteps(p),
		}
	case target.StaticPod:
		return section{
			title: "A new cluster",
			intro: "All hosts start together: each etcd begins with all of its members, and the apiservers restart until theirs have a majority.",
			steps: staticPodSteps(p),
		}
	case target.Kind:
		return section{
			title: "After kind has made the cluster",
			intro: "What kind does not do by itself.",
			steps: kindSteps(p),
		}
	}
	return section{}
}
