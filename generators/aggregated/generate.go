package aggregated

import (
	"fmt"
	"path"

	"github.com/kubeseams/seams/generators"
	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/plan"
)

// Dir is the directory of the tiers among the rendered files.
const Dir = "aggregated"

// Files of a tier, below Dir and its name, and of all tiers, below Dir.
const (
	// ObjectsFile has the API objects that a tier's server needs before it
	// starts; of Dir itself, those that all tiers share.
	ObjectsFile = "objects.yaml"
	// WorkloadFile has the Deployment and the StatefulSet of a workload.
	WorkloadFile = "workload.yaml"
	// APIServicesFile has the APIServices without the authority, which is made
	// on the hosts: applied as they stand they would be valid, and refused by
	// every connection. APIServicesScript fills it in.
	APIServicesFile   = "apiservices.yaml"
	APIServicesScript = "apiservices.sh"
	// PKIScript makes and renews the tier's keys and certificates.
	PKIScript = "pki.sh"
)

// Add adds the files of the plan's tiers, or nothing without any:
//
//	aggregated/README.md, objects.yaml, image/
//	aggregated/TIER/objects.yaml, apiservices.yaml, apiservices.sh, pki.sh
//	aggregated/TIER/server.kubeconfig   in the static form; of a second kube-apiserver
//	                                    tokens.kubeconfig and rights.kubeconfig
//	aggregated/TIER/workload.yaml       in the workload form
//	manifests/HOST/etcd-TIER.yaml, aggregated-TIER.yaml   in the static form
//	manifests-steady/HOST/etcd-TIER.yaml                  for a static etcd in memory
//
// The members of a static etcd are for the given stage.
func Add(w *generators.Writer, p *plan.Plan, stage controlplane.Stage) {
	if len(p.Aggregated) == 0 {
		return
	}
	w.Objects(path.Join(Dir, ObjectsFile), Shared(p)...)
	w.Text(path.Join(Dir, "README.md"), readme(p), 0)
	if !p.Aggregated[0].Second() {
		addImage(w, p)
	}
	for _, t := range p.Aggregated {
		s, ok := p.Store(t.Store)
		if !ok {
			w.Fail(path.Join(Dir, t.Name), fmt.Errorf("its store %s is not in the plan", t.Store))
			return
		}
		dir := path.Join(Dir, t.Name)
		objects, err := Objects(p, t)
		if err != nil {
			w.Fail(path.Join(dir, ObjectsFile), err)
			return
		}
		w.Objects(path.Join(dir, ObjectsFile), objects...)
		if services := apiServices(t); len(services) > 0 {
			w.Objects(path.Join(dir, APIServicesFile), services...)
			w.Text(path.Join(dir, APIServicesScript), apiServicesScript(t), 0o755)
		}
		w.Text(path.Join(dir, PKIScript), pkiScript(p, t, s), 0o755)
		if t.Form == plan.WorkloadForm {
			w.Objects(path.Join(dir, WorkloadFile), workload(p, t, s)...)
			continue
		}
		for _, c := range kubeconfigs(p, t) {
			w.Configs(path.Join(dir, c.file), c.config)
		}
		addPods(w, p, t, s, stage)
	}
}

// Files are those of Add by themselves, for a target whose own generator makes
// no manifests.
func Files(p *plan.Plan) ([]file.File, error) {
	w := &generators.Writer{}
	Add(w, p, controlplane.Join)
	return w.Files()
}

func addPods(w *generators.Writer, p *plan.Plan, t plan.AggregatedTier, s plan.Store, stage controlplane.Stage) {
	for _, host := range s.Members {
		controlplane.AddEtcd(w, p, s, host, "manifests", stage)
		if controlplane.NeedsSteady(s) {
			controlplane.AddEtcd(w, p, s, host, "manifests-steady", controlplane.Steady)
		}
	}
	for _, host := range t.Hosts {
		name := path.Join("manifests", host, t.ServerName()+".yaml")
		h, ok := p.Host(host)
		if !ok {
			w.Fail(name, fmt.Errorf("the host is not in the plan"))
			return
		}
		pod, err := controlplane.AggregatedPod(p, t, h)
		if err != nil {
			w.Fail(name, err)
			return
		}
		w.Objects(name, pod)
	}
}
