package rollout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/profile"
)

func (d *document) stores(p *plan.Plan) {
	var rows [][]string
	for _, s := range p.Stores {
		var routed []string
		for _, r := range p.Routes {
			if r.Store == s.Name {
				routed = append(routed, r.GroupResource.String())
			}
		}
		for _, a := range p.Aggregated {
			if a.Store == s.Name {
				routed = append(routed, a.Groups...)
			}
		}
		holds := strings.Join(routed, ", ")
		if s.Name == "main" {
			holds = "everything else"
		}
		members, ports, dir := strings.Join(s.Members, ", "), fmt.Sprintf("%d, %d, %d", s.ClientPort, s.PeerPort, s.MetricsPort), s.DataDir
		if !rendered(p, s) {
			members, ports, dir = "with its tier", "", ""
		}
		rows = append(rows, []string{s.Name, holds, s.Durability, members, ports, dir, gib(s.QuotaBytes), yesNo(s.ServesLiveness)})
	}
	d.table("Stores", []string{"etcd", "holds", "durability", "members", "client, peer, metrics port", "data directory", "quota", "loss may restart apiservers"}, rows)
}

// rendered reports whether a store is one that hosts get a manifest for; an
// aggregated tier brings its own.
func rendered(p *plan.Plan, s plan.Store) bool {
	return s.Name == "main" || slices.ContainsFunc(controlplane.ExtraStores(p), func(e plan.Store) bool { return e.Name == s.Name })
}

func (d *document) tiers(p *plan.Plan) {
	var rows [][]string
	for _, t := range p.Tiers {
		rows = append(rows, []string{t.Name, t.Audience, strings.Join(t.Hosts, ", "), fmt.Sprint(t.Port), names(t.Uncached)})
	}
	d.table("Apiservers", []string{"tier", "talked to by", "hosts", "port", "not in its watch cache"}, rows)
}

func (d *document) aggregated(p *plan.Plan) {
	var rows [][]string
	for _, t := range p.Aggregated {
		rows = append(rows, []string{t.Name, strings.Join(t.Groups, ", "), t.Store, fmt.Sprint(t.Replicas), t.Namespace + "/" + t.Service, fmt.Sprint(t.Port)})
	}
	d.table("Aggregated tiers", []string{"tier", "groups", "etcd", "servers", "Service", "port"}, rows)
}

func (d *document) keys(p *plan.Plan) {
	var rows [][]string
	for _, c := range p.PKI {
		rows = append(rows, []string{c.Path, c.CN, c.CA, strings.Join(c.Usages, ", "), strings.Join(c.SANs, ", "), c.MadeBy, c.For})
	}
	d.table("Keys and certificates", []string{"certificate", "name", "signed by", "for use as", "also called", "made by", "of"}, rows)
}

func names(resources []profile.GroupResource) string {
	var list []string
	for _, r := range resources {
		list = append(list, r.String())
	}
	return strings.Join(list, ", ")
}

func gib(bytes int64) string {
	if bytes == 0 {
		return "etcd's own"
	}
	return fmt.Sprintf("%.3g GiB", float64(bytes)/(1<<30))
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
