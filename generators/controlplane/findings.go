package controlplane

import (
	"fmt"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
)

// Findings says what to know about the static pods of a plan, whoever installs
// the rest.
func Findings(p *plan.Plan) []finding.Finding {
	var all []finding.Finding
	for _, s := range p.Stores {
		if Ephemeral(s) {
			all = append(all, finding.Finding{
				Code: "store-data-in-memory", Severity: finding.Info, Path: "stores[" + s.Name + "]",
				Message: fmt.Sprintf("store %s keeps its data in memory: up to %s on each member's host besides what its processes take, gone when the host restarts", s.Name, gib(MemoryLimit(s))),
			})
		}
	}
	for _, t := range ExtraTiers(p) {
		path := "tiers[" + t.Name + "]"
		if t.Replicas > len(t.Hosts) {
			all = append(all, finding.Finding{
				Code: "tier-needs-more-hosts", Severity: finding.Warning, Path: path + ".replicas",
				Message: fmt.Sprintf("tier %s is sized at %d processes and has %d hosts; a second process on a host would share its memory", t.Name, t.Replicas, len(t.Hosts)),
				Fix:     fmt.Sprintf("add %d control-plane hosts", t.Replicas-len(t.Hosts)),
			})
		}
		if t.Name == NodeTier && p.ControlPlane.NodeEndpoint == "" && !Single(p) {
			all = append(all, finding.Finding{
				Code: "node-endpoint-missing", Severity: finding.Error, Path: "controlPlane.nodeEndpoint",
				Message: "the node-facing tier has no endpoint, so that kubelets would go on using the main apiservers",
				Fix:     fmt.Sprintf("set controlPlane.nodeEndpoint to a load balancer before port %d of %d hosts", Port(t), len(t.Hosts)),
			})
		}
	}
	return all
}

// gib writes bytes in GiB.
func gib(bytes int64) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)) }

// NodeEndpoint is the host:port that kubelets use: the node-facing tier's
// endpoint where there is one, on a single host that host's port of the tier,
// and otherwise the main endpoint.
func NodeEndpoint(p *plan.Plan) string {
	for _, t := range ExtraTiers(p) {
		if t.Name != NodeTier {
			continue
		}
		if p.ControlPlane.NodeEndpoint != "" {
			return p.ControlPlane.NodeEndpoint
		}
		if Single(p) {
			return hostPort(p.ControlPlane.Hosts[0].Address, Port(t))
		}
	}
	return MainEndpoint(p)
}

// MainEndpoint is the host:port of the main apiservers.
func MainEndpoint(p *plan.Plan) string {
	if p.ControlPlane.Endpoint != "" {
		return p.ControlPlane.Endpoint
	}
	return hostPort(p.ControlPlane.Hosts[0].Address, Port(MainTier(p)))
}
