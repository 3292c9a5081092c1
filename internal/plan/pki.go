package plan

import (
	"net"
	"slices"

	"github.com/kubeseams/seams/internal/target"
)

// pki lists the key pairs, and who makes them. kube-apiserver has one CA, one
// certificate and one key for all etcds, so every store that it reaches is
// signed by the CA of main.
func (m *maker) pki() {
	if m.kops() {
		m.certificate(Certificate{
			Path: "etcd-client", CA: "etcd-clients-ca", CN: "kube-apiserver", Usages: []string{"client"}, MadeBy: "kops",
			For: "every apiserver to every etcd; etcd-manager makes those of the members",
		})
	} else {
		m.hostCertificates()
	}
	for _, t := range m.plan.Aggregated {
		m.aggregatedCertificates(t)
	}
}

// The authorities of aggregated tiers. Their etcds have one of their own: a
// client that the CA of main signed could read all of main.
const (
	AggregatedCA     = "aggregated/ca"
	AggregatedEtcdCA = "aggregated/etcd-ca"
	// AggregatedEtcdClients is what the etcds of static tiers trust: that
	// authority, and main's for whoever keeps the etcds of a host.
	AggregatedEtcdClients = "aggregated/etcd-clients"
)

// aggregatedCertificates are those of one tier.
func (m *maker) aggregatedCertificates(t AggregatedTier) {
	name, dir := t.DNSName(), "aggregated/"+t.Name
	sans := []string{name, name + ".cluster.local", "localhost", "127.0.0.1"}
	for _, host := range t.Hosts {
		if a := m.address(host); !slices.Contains(sans, a) {
			sans = append(sans, a)
		}
	}
	m.certificate(Certificate{
		Path: dir + "/server", CA: AggregatedCA, CN: name, Usages: []string{"server"}, SANs: sans, MadeBy: "you",
		For: "the server of " + t.Name + "; its CA is the caBundle of the APIServices",
	})
	m.certificate(Certificate{
		Path: dir + "/etcd-client", CA: AggregatedEtcdCA, CN: t.Name, Usages: []string{"client"}, MadeBy: "you",
		For: "the server of " + t.Name + " to its own etcd",
	})
	if t.Form == StaticForm {
		m.certificate(Certificate{
			Path: dir + "/client", CA: "ca", CN: t.User(), Usages: []string{"client"}, MadeBy: "you",
			For: "the server of " + t.Name + " to kube-apiserver",
		})
		return
	}
	s, _ := m.plan.Store(t.Store)
	members := []string{"localhost", "127.0.0.1"}
	for i := range t.Members(s) {
		members = append(members, t.MemberName(i))
	}
	for _, use := range []string{"server", "peer"} {
		m.certificate(Certificate{
			Path: dir + "/etcd-" + use, CA: AggregatedEtcdCA, CN: t.EtcdService(), Usages: []string{"server", "client"},
			SANs: slices.Clone(members), MadeBy: "you",
			For: "the etcd of " + t.Name + " to its " + map[string]string{"server": "clients", "peer": "members"}[use],
		})
	}
}

func (m *maker) certificate(c Certificate) { m.plan.PKI = append(m.plan.PKI, c) }

// hostCertificates are what kubeadm makes before the kubelet starts the first
// static pod, so that further etcds of a host can use them.
func (m *maker) hostCertificates() {
	by := "kubeadm"
	if m.target.Platform == target.StaticPod {
		by = "you"
	}
	for _, h := range m.plan.ControlPlane.Hosts {
		sans := []string{"localhost", "127.0.0.1", "::1", h.Name}
		if h.Address != "" {
			sans = append(sans, h.Address)
		}
		m.certificate(Certificate{
			Path: "etcd/server", CA: "etcd/ca", CN: h.Name, Usages: []string{"server", "client"}, SANs: sans, MadeBy: by,
			For: "every etcd on " + h.Name + " to its clients",
		})
		m.certificate(Certificate{
			Path: "etcd/peer", CA: "etcd/ca", CN: h.Name, Usages: []string{"server", "client"}, SANs: slices.Clone(sans), MadeBy: by,
			For: "every etcd on " + h.Name + " to its peers",
		})
	}
	m.certificate(Certificate{
		Path: "apiserver-etcd-client", CA: "etcd/ca", CN: "kube-apiserver-etcd-client", Usages: []string{"client"}, MadeBy: by,
		For: "every apiserver to every etcd",
	})
	m.certificate(Certificate{
		Path: "apiserver", CA: "ca", CN: "kube-apiserver", Usages: []string{"server"}, SANs: m.servingNames(), MadeBy: by,
		For: "the apiservers of every tier on a host",
	})
}

// servingNames are what clients call the apiservers by, besides what kubeadm
// adds for each host.
func (m *maker) servingNames() []string {
	var names []string
	for _, endpoint := range []string{m.plan.ControlPlane.Endpoint, m.plan.ControlPlane.NodeEndpoint} {
		if host, _, err := net.SplitHostPort(endpoint); err == nil && !slices.Contains(names, host) {
			names = append(names, host)
		}
	}
	return names
}
