package staticpod

import (
	"path"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubeseams/seams/generators"
	"github.com/kubeseams/seams/generators/aggregated"
	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
)

// KubeletConfigPath is a drop-in for the kubelet's --config-dir, which reads
// files that end in .conf.
const KubeletConfigPath = "kubelet/20-seams.conf"

// Generate renders a plan as static pods:
//
//	manifests/HOST/            etcds, apiservers, controller managers, scheduler
//	manifests-steady/HOST/     members of in-memory stores, once all members are there
//	aggregated/                the rest of aggregated tiers
//	scheduler.yaml             on every control-plane host, below controlplane.HostDir
//	kubelet/20-seams.conf      for the kubelet's --config-dir on every node
//
// Certificates, keys and kubeconfigs are expected where kubeadm has them; the
// plan lists them. It is an error when the plan contradicts itself.
func Generate(p *plan.Plan) ([]file.File, []finding.Finding, error) {
	hosts, err := controlplane.Hosts(p)
	if err != nil {
		return nil, nil, err
	}
	w := &generators.Writer{}
	main, _ := p.Store("main")
	for _, s := range append([]plan.Store{main}, controlplane.ExtraStores(p)...) {
		addStore(w, p, s)
	}
	for _, t := range append([]plan.Tier{controlplane.MainTier(p)}, controlplane.ExtraTiers(p)...) {
		for _, host := range t.Hosts {
			h, _ := p.Host(host)
			add(w, host, controlplane.APIServer(p, t, h, controlplane.AllEtcd(p)))
		}
	}
	for _, h := range hosts {
		add(w, h.Name, controlplane.ControllerManager(p))
		for _, g := range p.ControllerGroups {
			add(w, h.Name, controlplane.ControllerGroup(p, g))
		}
		add(w, h.Name, controlplane.Scheduler(p))
	}
	aggregated.Add(w, p, controlplane.Together)
	if config := controlplane.SchedulerConfig(p); config != nil {
		w.Configs("scheduler.yaml", config)
	}
	if config := controlplane.KubeletConfig(p); config != nil {
		w.Configs(KubeletConfigPath, config)
	}
	files, err := w.Files()
	if err != nil {
		return nil, nil, err
	}
	return files, controlplane.Findings(p), nil
}

// addStore adds a store's members. Nothing waits here for the first host, so
// that all members can begin together.
func addStore(w *generators.Writer, p *plan.Plan, s plan.Store) {
	for _, host := range s.Members {
		controlplane.AddEtcd(w, p, s, host, "manifests", controlplane.Together)
		if controlplane.NeedsSteady(s) {
			controlplane.AddEtcd(w, p, s, host, "manifests-steady", controlplane.Steady)
		}
	}
}

func add(w *generators.Writer, host string, pod *corev1.Pod) {
	w.Objects(path.Join("manifests", host, pod.Name+".yaml"), pod)
}
