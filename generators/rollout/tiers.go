package rollout

import "github.com/kubeseams/seams/internal/plan"

// tierSteps lead a new cluster to the steps about aggregated tiers, which are
// the same for one that runs.
func tierSteps(p *plan.Plan) []plan.Step {
	if len(p.Aggregated) == 0 {
		return nil
	}
	return []plan.Step{{
		Title: "Add the aggregated tiers",
		Why: "Their rights are objects of the API, so the API comes first. The groups are in no etcd yet and nothing has to be moved. " +
			"Pods of theirs that were started with the others wait for their keys, and restart until their rights are there.",
		Commands: []string{
			"# the steps below, from \"Prepare for the aggregated tiers\" to the last group, in their order;",
			"# install no CRD of their groups into the main server before",
		},
		Check:  "kubectl get apiservices | grep " + plan.Namespace + "/",
		Expect: "a line for each version of each group, with True",
		Hazard: "What installs operators often brings their CRDs along: let it wait for this step.",
	}}
}
