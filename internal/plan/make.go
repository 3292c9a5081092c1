package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/target"
)

// Make says what has to stand where for a recipe to hold on a profile's hosts,
// and in which order to get there. The findings are what cannot be built as
// asked, or not as well as one may think. Errors: a recipe without settings for
// its axes.
func Make(p *profile.Profile, digest string, r *recipe.Recipe, t target.Target) (*Plan, []finding.Finding, error) {
	if r == nil || len(r.Choices) == 0 {
		return nil, nil, fmt.Errorf("profile %s: a plan needs a recipe with a rung for each axis", p.Name)
	}
	m := &maker{
		profile: p, recipe: r, settings: &r.Settings, estimate: r.Estimate, target: t,
		plan: &Plan{
			Name: p.Name, Target: t, ProfileDigest: digest, RecipeDigest: r.Digest,
			Nodes: p.Nodes.Demand(), NodesPresent: p.Nodes.Count, ControlPlane: p.ControlPlane,
			Routes: []Route{}, Aggregated: []AggregatedTier{}, PKI: []Certificate{}, Rollout: []Step{},
		},
	}
	for _, c := range r.Choices {
		m.plan.Rungs = append(m.plan.Rungs, c.Rung.ID)
	}
	for _, rung := range r.With {
		m.plan.Rungs = append(m.plan.Rungs, rung.ID)
	}
	m.hosts()
	m.stores()
	m.routes()
	m.aggregated()
	m.tiers()
	m.components()
	m.sharding()
	m.pki()
	m.rollout()
	finding.Sort(m.findings)
	return m.plan, m.findings, nil
}

// maker is one call of Make.
type maker struct {
	profile  *profile.Profile
	recipe   *recipe.Recipe
	settings *recipe.Settings
	estimate *estimate.Estimate
	target   target.Target

	plan     *Plan
	findings []finding.Finding
}

func (m *maker) say(f finding.Finding) { m.findings = append(m.findings, f) }

func (m *maker) kops() bool { return m.target.Platform == target.Kops }

// hosts makes sure that stores have somewhere to stand. kOps and kind make
// their machines themselves, so for them the profile need not name any.
func (m *maker) hosts() {
	cp := &m.plan.ControlPlane
	cp.Hosts = slices.Clone(cp.Hosts)
	if len(cp.Hosts) > 0 {
		return
	}
	if m.target.Platform == target.Kubeadm || m.target.Platform == target.StaticPod {
		m.say(finding.Finding{
			Code: "plan-no-hosts", Severity: finding.Error, Path: "controlPlane.hosts",
			Message: "the profile names no control-plane hosts, so there is nothing to render for",
			Fix:     "list the hosts with their addresses",
		})
	}
	for i := range max(1, m.profile.ControlPlane.Apiservers) {
		cp.Hosts = append(cp.Hosts, profile.Host{Name: fmt.Sprintf("control-plane-%d", i+1)})
	}
}

func (m *maker) hostNames() []string {
	names := make([]string, len(m.plan.ControlPlane.Hosts))
	for i, h := range m.plan.ControlPlane.Hosts {
		names[i] = h.Name
	}
	return names
}

// components fills in what runs once a host and is not an apiserver.
func (m *maker) components() {
	k := m.settings.Kubelet
	m.plan.Kubelet = Kubelet(k)
	n := m.profile.Nodes
	if k.NodeLeaseDurationSeconds == 0 && n.LeaseDurationSeconds != upstreamLeaseSeconds {
		m.plan.Kubelet.NodeLeaseDurationSeconds = n.LeaseDurationSeconds
	}
	if k.NodeStatusUpdateSeconds == 0 && k.NodeStatusReportSeconds == 0 {
		m.plan.Kubelet.NodeStatusUpdateSeconds = n.StatusUpdateSeconds
		m.plan.Kubelet.NodeStatusReportSeconds = n.StatusReportSeconds
	}
	m.plan.ControllerManager = component(m.settings.ControllerManager)
	if flags := m.plan.ControllerManager.Flags; n.MonitorGraceSeconds != upstreamGraceSeconds && flags["node-monitor-grace-period"] == "" {
		flags["node-monitor-grace-period"] = seconds(n.MonitorGraceSeconds)
	}
	m.plan.Scheduler = Scheduler{
		Component: component(m.settings.Scheduler.ComponentSettings),
		QPS:       m.settings.Scheduler.QPS,
		Burst:     m.settings.Scheduler.Burst,
	}
}

// Upstream's defaults, which need not be written down: the kubelet's
// nodeLeaseDurationSeconds, the controller manager's
// --node-monitor-grace-period from 1.32, kube-apiserver's --event-ttl.
const (
	upstreamLeaseSeconds    = 40
	upstreamGraceSeconds    = 50
	upstreamEventTTLSeconds = 3600
)

// component copies settings, so that a plan shares nothing with the ladder's cache.
func component(s recipe.ComponentSettings) Component {
	c := Component{Flags: maps.Clone(s.Flags), FeatureGates: maps.Clone(s.FeatureGates), Env: maps.Clone(s.Env)}
	if c.Flags == nil {
		c.Flags = map[string]string{}
	}
	return c
}

func seconds(n int) string { return fmt.Sprintf("%ds", n) }
