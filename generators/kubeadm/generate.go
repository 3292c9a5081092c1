package kubeadm

import (
	"path"

	"github.com/kubeseams/seams/generators"
	"github.com/kubeseams/seams/generators/aggregated"
	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
)

// Generate renders a plan for kubeadm:
//
//	init.yaml, join-HOST.yaml, join-worker.yaml, upgrade.yaml
//	patches/, scheduler.yaml   on every control-plane host, below controlplane.HostDir
//	manifests/HOST/            static pods besides kubeadm's own
//	manifests-steady/HOST/     members of in-memory stores, once all members are there
//	aggregated/                the rest of aggregated tiers
//	host-HOST.yaml             what kubeadm's phases have to know of a host, in a cluster that runs
//
// Findings say what of the plan kubeadm cannot do. It is an error when the
// plan contradicts itself.
func Generate(p *plan.Plan) ([]file.File, []finding.Finding, error) {
	hosts, err := controlplane.Hosts(p)
	if err != nil {
		return nil, nil, err
	}
	w := &generators.Writer{}
	objects := []any{ClusterConfiguration(p), initConfiguration(p)}
	if k := controlplane.KubeletConfig(p); k != nil {
		objects = append(objects, k)
	}
	w.Configs("init.yaml", objects...)
	for _, h := range hosts[1:] {
		w.Configs("join-"+h.Name+".yaml", joinControlPlane(p, h))
	}
	w.Configs("join-worker.yaml", joinWorker())
	w.Configs("upgrade.yaml", upgradeConfiguration(p))
	if len(p.Rollout) > 0 {
		for _, h := range hosts {
			w.Configs("host-"+h.Name+".yaml", presentHost(p, h))
		}
	}
	AddPatches(w, p)
	AddManifests(w, p)
	files, err := w.Files()
	if err != nil {
		return nil, nil, err
	}
	return files, check(p), nil
}

// AddPatches adds what kubeadm's own static pods refer to.
func AddPatches(w *generators.Writer, p *plan.Plan) {
	if operations := ProbePatch(p); operations != nil {
		w.Objects(ProbePatchPath, operations)
	}
	if config := controlplane.SchedulerConfig(p); config != nil {
		w.Configs("scheduler.yaml", config)
	}
}

// AddManifests adds the static pods besides kubeadm's own, by host,
// and what belongs to aggregated tiers.
func AddManifests(w *generators.Writer, p *plan.Plan) {
	aggregated.Add(w, p, controlplane.Join)
	for _, s := range controlplane.ExtraStores(p) {
		for _, host := range s.Members {
			controlplane.AddEtcd(w, p, s, host, "manifests", controlplane.Join)
			if controlplane.NeedsSteady(s) {
				controlplane.AddEtcd(w, p, s, host, "manifests-steady", controlplane.Steady)
			}
		}
	}
	for _, t := range controlplane.ExtraTiers(p) {
		for _, host := range t.Hosts {
			h, _ := p.Host(host)
			w.Objects(path.Join("manifests", host, controlplane.APIServerName(t)+".yaml"),
				controlplane.APIServer(p, t, h, controlplane.LocalEtcd(p, h)))
		}
	}
	for _, g := range p.ControllerGroups {
		for _, h := range p.ControlPlane.Hosts {
			pod := controlplane.ControllerGroup(p, g)
			w.Objects(path.Join("manifests", h.Name, pod.Name+".yaml"), pod)
		}
	}
}
