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
		name := t.Service + "." + t.Namespace + ".svc"
		m.certificate(Certificate{
			Path: "aggregated/" + t.Name + "/server", CA: "aggregated/ca", CN: name,
			Usages: []string{"server"}, SANs: []string{name, name + ".cluster.local"}, MadeBy: "you",
			For: "the server of " + t.Name + "; its CA is the caBundle of the APIServices",
		})
		m.certificate(Certificate{
			Path: "aggregated/" + t.Name + "/etcd-client", CA: m.etcdCA(), CN: t.Name,
			Usages: []string{"client"}, MadeBy: "you",
			For: "the server of " + t.Name + " to its own etcd",
		})
	}
}

func (m *maker) certificate(c Certificate) { m.plan.PKI = append(m.plan.PKI, c) }

func (m *maker) etcdCA() string {
	if m.kops() {
		return "aggregated/etcd-ca"
	}
	return "etcd/ca"
}

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
