package pki

import (
	"fmt"
	"io/fs"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/plan"
)

// keyMode is that of every file with a key in it.
const keyMode fs.FileMode = 0o600

// Host is a control-plane host as its certificates name it.
type Host struct {
	Name string
	// Address is where the others reach it.
	Address string
	// ServingNames are what clients call its apiservers by besides its own name
	// and address and the Service kubernetes: the control-plane endpoint.
	ServingNames []string
	// ServiceAddress is the first address of the Service range, which is that
	// of the Service kubernetes.
	ServiceAddress string
	// Domain is the DNS domain of Services; empty means cluster.local.
	Domain string
	// Server is the URL of the host's own apiserver, for the kubeconfigs of its
	// controller manager and scheduler.
	Server string
}

// Host makes the files of a control-plane host, with paths below its
// /etc/kubernetes: pki/, controller-manager.conf and scheduler.conf.
func (c *Cluster) Host(h Host) ([]file.File, error) {
	b := &hostFiles{cluster: c}
	for _, name := range []string{CA, EtcdCA, FrontProxyCA} {
		a, err := c.Authority(name)
		if err != nil {
			return nil, err
		}
		b.pair("pki/"+name, a.Pair)
	}
	for _, cert := range h.certificates() {
		pair, err := c.Certificate(cert)
		if err != nil {
			return nil, fmt.Errorf("host %s: %w", h.Name, err)
		}
		b.pair("pki/"+cert.Path, pair)
	}
	if err := b.kubeletClient(); err != nil {
		return nil, fmt.Errorf("host %s: %w", h.Name, err)
	}
	b.add("pki/sa.pub", c.ServiceAccount.Cert, 0)
	b.add("pki/sa.key", c.ServiceAccount.Key, keyMode)
	for name, user := range map[string]Leaf{"controller-manager.conf": ControllerManager, "scheduler.conf": Scheduler} {
		data, err := c.Kubeconfig(user, Endpoint{Name: user.CN + "@kubernetes", Server: h.Server})
		if err != nil {
			return nil, fmt.Errorf("host %s: %w", h.Name, err)
		}
		b.add(name, data, keyMode)
	}
	file.Sort(b.files)
	return b.files, nil
}

// certificates are those that kubeadm makes on a host, with its names.
func (h Host) certificates() []plan.Certificate {
	domain := h.Domain
	if domain == "" {
		domain = "cluster.local"
	}
	etcd := []string{"localhost", "127.0.0.1", "::1", h.Name, h.Address}
	serving := append([]string{h.Name, h.Address, "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc." + domain}, h.ServingNames...)
	if h.ServiceAddress != "" {
		serving = append(serving, h.ServiceAddress)
	}
	both, client := []string{"server", "client"}, []string{"client"}
	return []plan.Certificate{
		// etcd calls itself with its serving certificate, for its HTTP gateway.
		{Path: "etcd/server", CA: EtcdCA, CN: h.Name, Usages: both, SANs: etcd},
		{Path: "etcd/peer", CA: EtcdCA, CN: h.Name, Usages: both, SANs: etcd},
		{Path: "apiserver-etcd-client", CA: EtcdCA, CN: "kube-apiserver-etcd-client", Usages: client},
		{Path: "apiserver", CA: CA, CN: "kube-apiserver", Usages: []string{"server"}, SANs: serving},
		{Path: "front-proxy-client", CA: FrontProxyCA, CN: "front-proxy-client", Usages: client},
	}
}

type hostFiles struct {
	cluster *Cluster
	files   []file.File
}

func (b *hostFiles) add(path string, data []byte, mode fs.FileMode) {
	b.files = append(b.files, file.File{Path: path, Data: data, Mode: mode})
}

func (b *hostFiles) pair(path string, pair Pair) {
	b.add(path+".crt", pair.Cert, 0)
	b.add(path+".key", pair.Key, keyMode)
}

// kubeletClient is what apiservers call kubelets with, in kubeadm's group: it
// has the rights that a binding gives that group, and none of its own.
func (b *hostFiles) kubeletClient() error {
	ca, err := b.cluster.Authority(CA)
	if err != nil {
		return err
	}
	pair, err := ca.Issue(Leaf{CN: "kube-apiserver-kubelet-client", Organizations: []string{"kubeadm:cluster-admins"}, Client: true})
	if err != nil {
		return err
	}
	b.pair("pki/apiserver-kubelet-client", pair)
	return nil
}
