package plan

import (
	"fmt"
	"slices"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/target"
)

// The forms of an aggregated tier.
const (
	// StaticForm is static pods of control-plane hosts, on their network: they
	// need no scheduler, no pod network and no volume of the cluster.
	StaticForm = "static"
	// WorkloadForm is a Deployment and a StatefulSet, for hosts whose manifests
	// and keys belong to somebody else.
	WorkloadForm = "workload"
)

// Namespace is where the parts of aggregated tiers live.
const Namespace = "seams-system"

// ServerName is the pod of a tier's server in the static form.
func (t AggregatedTier) ServerName() string { return "aggregated-" + t.Name }

// Second reports whether a second kube-apiserver serves the tier.
func (t AggregatedTier) Second() bool { return t.Server == target.KubeAPIServer }

// EtcdService is the headless Service of a workload's etcd, and its StatefulSet.
func (t AggregatedTier) EtcdService() string { return t.Name + "-etcd" }

// User is who the tier's server is to kube-apiserver: the common name of its
// client certificate, or its ServiceAccount.
func (t AggregatedTier) User() string {
	if t.Form == WorkloadForm {
		return "system:serviceaccount:" + t.Namespace + ":" + t.Name
	}
	return "seams:aggregated:" + t.Name
}

// DNSName is what kube-apiserver calls the tier's server by, whatever address
// it uses.
func (t AggregatedTier) DNSName() string { return t.Service + "." + t.Namespace + ".svc" }

// Members is how many members a tier's etcd has. In memory a workload has one:
// a pod that was made anew has lost its data, and as a member of several it
// would claim a place that the others remember.
func (t AggregatedTier) Members(s Store) int {
	if t.Form == WorkloadForm && s.Durability == "ephemeral" {
		return 1
	}
	return len(s.Members)
}

// MemberName is the DNS name of a member of a workload's etcd.
func (t AggregatedTier) MemberName(i int) string {
	return fmt.Sprintf("%[1]s-%[2]d.%[1]s.%[3]s.svc", t.EtcdService(), i, t.Namespace)
}

// aggregated lists the servers that have some groups to themselves.
func (m *maker) aggregated() {
	ports := map[int]bool{}
	for _, t := range m.recipe.Layout.Aggregated {
		tier := AggregatedTier{
			Name: t.Name, Groups: slices.Clone(t.Groups), Store: t.Name, Replicas: t.Replicas,
			Service: t.Name, Namespace: Namespace, Port: aggregatedPort + slotOf(t.Name, ports),
			Form: m.form(), Server: m.tierServer(), Image: m.profile.ControlPlane.Tiers.Image, StorageClass: m.profile.ControlPlane.Tiers.StorageClass,
			Uncached:        m.uncached(func(r profile.GroupResource) bool { return slices.Contains(t.Groups, r.Group) }),
			ResidentBytes:   m.residentBytes(t),
			WritesPerSecond: m.writes(t),
		}
		for _, group := range t.Groups {
			if versions := m.profile.ControlPlane.Tiers.VersionsOf(group); len(versions) > 0 {
				if tier.Versions == nil {
					tier.Versions = map[string][]string{}
				}
				tier.Versions[group] = slices.Clone(versions)
			}
		}
		if tier.Form == StaticForm {
			m.placeServers(&tier, len(m.plan.Aggregated))
		}
		m.plan.Aggregated = append(m.plan.Aggregated, tier)
	}
	m.judgeAggregated()
	m.sayWhatStays()
}

// form is where the tiers run. kOps writes the manifests of its hosts itself,
// and kind mounts them before there are keys for them.
func (m *maker) form() string {
	form := m.profile.ControlPlane.Tiers.Form
	hosts := m.target.Platform == target.Kubeadm || m.target.Platform == target.StaticPod
	switch {
	case form == "" && hosts:
		return StaticForm
	case form == StaticForm && !hosts:
		if len(m.recipe.Layout.Aggregated) > 0 {
			m.say(finding.Finding{
				Code: "aggregated-form-static", Severity: finding.Error, Path: "controlPlane.tiers.form",
				Message: fmt.Sprintf("%s makes the manifests and keys of its hosts itself, so that a tier cannot be static pods there", m.target.Platform),
				Fix:     "leave form out, or set it to workload",
			})
		}
		return WorkloadForm
	case form == "":
		return WorkloadForm
	}
	return form
}

// tierServer is the program that serves the tiers.
func (m *maker) tierServer() string {
	if server := m.profile.ControlPlane.Tiers.Server; server != "" {
		return server
	}
	return target.APIExtensionsServer
}

// placeServers puts a tier's servers on as many hosts, those of the n-th tier
// from the n-th host on, so that the memory of several is spread.
func (m *maker) placeServers(t *AggregatedTier, n int) {
	all := m.hostNames()
	t.Replicas = min(t.Replicas, len(all))
	for i := range t.Replicas {
		t.Hosts = append(t.Hosts, all[(n+i)%len(all)])
	}
	slices.Sort(t.Hosts)
}

// judgeAggregated says what the tiers lack.
func (m *maker) judgeAggregated() {
	if m.settings.Aggregated != nil && len(m.recipe.Layout.Aggregated) == 0 {
		m.say(finding.Finding{
			Code: "aggregated-nothing-to-move", Severity: finding.Warning, Path: "aggregated",
			Message: "the recipe has a tier for groups of custom resources, and the profile names none that could move",
			Fix:     "name the custom resources in churn.resources or state.resources",
		})
	}
	for _, t := range m.plan.Aggregated {
		for _, group := range t.Groups {
			if len(t.Versions[group]) == 0 {
				m.say(finding.Finding{
					Code: "aggregated-versions-unknown", Severity: finding.Warning, Path: "controlPlane.tiers.groups",
					Message: fmt.Sprintf("the versions of %s are not in the profile, so that no APIService is rendered for it", group),
					Fix:     fmt.Sprintf("add {group: %q, versions: [\"v1\"]} to tiers.groups, with the versions that the group's CRDs serve", group),
				})
			}
		}
		if s, _ := m.plan.Store(t.Store); t.Form == WorkloadForm && s.Durability == "ephemeral" && len(s.Members) > 1 {
			m.say(finding.Finding{
				Code: "aggregated-memory-single", Severity: finding.Info, Path: "aggregated." + t.Name,
				Message: "an etcd in the memory of a pod loses it with the pod and cannot come back as a member of several, so that it has one",
			})
		}
	}
	m.judgeTierServer()
}

// judgeTierServer says what the program of the servers lacks.
func (m *maker) judgeTierServer() {
	switch {
	case len(m.plan.Aggregated) == 0:
	case m.tierServer() == target.KubeAPIServer:
		m.say(finding.Finding{
			Code: "aggregated-server-admission", Severity: finding.Warning, Path: "controlPlane.tiers.server",
			Message: "a second kube-apiserver asks its own admission only: webhooks and admission policies of the cluster silently do not hold for the groups of its tier, and objects can be created in namespaces that are not there",
			Fix:     "leave tiers.server out where anything guards these groups",
		})
	case m.profile.ControlPlane.Tiers.Image == "":
		m.say(finding.Finding{
			Code: "aggregated-image-missing", Severity: finding.Error, Path: "controlPlane.tiers.image",
			Message: "upstream publishes no image of apiextensions-apiserver, and the profile names none for the aggregated tiers",
			Fix:     "set tiers.image to a name in your registry, which the rendered aggregated/image/build.sh builds and pushes; or tiers.server to kube-apiserver, with its limits; or pin a rung without tiers with --rung",
		})
	}
}

// sayWhatStays tells which groups of the profile could have moved and do not.
func (m *maker) sayWhatStays() {
	if m.settings.Aggregated == nil {
		return
	}
	said := map[string]bool{}
	for _, r := range m.profile.Churn.Resources {
		if group := r.Group; recipe.StaysForBootstrap(group) && !said[group] {
			said[group] = true
			m.say(finding.Finding{
				Code: "aggregated-needed-for-bootstrap", Severity: finding.Info, Path: "churn.resources",
				Message: group + " stays in the main apiservers: the pod network is made from it, which a tier would wait for",
			})
		}
	}
}

func (m *maker) writes(t tierGroups) float64 {
	var sum float64
	for _, r := range m.profile.Churn.Resources {
		if slices.Contains(t.Groups, r.Group) {
			sum += r.WritesPerSecond()
		}
	}
	return sum
}

// residentBytes is the estimate's figure for the tier's server.
func (m *maker) residentBytes(t tierGroups) float64 {
	f, _ := m.estimate.Figure("tier." + t.Name + ".heap")
	return f.Value
}
