package pki

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// The users of kubeconfigs, as kubeadm and the cluster's own roles name them.
var (
	// ControllerManager and Scheduler have roles that every apiserver creates.
	ControllerManager = Leaf{CN: "system:kube-controller-manager", Client: true}
	Scheduler         = Leaf{CN: "system:kube-scheduler", Client: true}
	// SuperAdmin is in the group that no authorizer is asked about.
	SuperAdmin = Leaf{CN: "kubernetes-super-admin", Organizations: []string{"system:masters"}, Client: true}
)

// Endpoint is one apiserver of a kubeconfig.
type Endpoint struct {
	// Name is the name of its context.
	Name string
	// Server is its URL.
	Server string
}

// Kubeconfig makes a kubeconfig with a new client certificate of the cluster's
// CA. It has one context for each endpoint, the first is the current one.
func (c *Cluster) Kubeconfig(user Leaf, endpoints ...Endpoint) ([]byte, error) {
	if len(endpoints) == 0 {
		return nil, fmt.Errorf("kubeconfig of %s: no server", user.CN)
	}
	ca, err := c.Authority(CA)
	if err != nil {
		return nil, err
	}
	pair, err := ca.Issue(user)
	if err != nil {
		return nil, err
	}
	config := clientcmdapi.NewConfig()
	config.AuthInfos[user.CN] = &clientcmdapi.AuthInfo{ClientCertificateData: pair.Cert, ClientKeyData: pair.Key}
	for _, e := range endpoints {
		config.Clusters[e.Name] = &clientcmdapi.Cluster{Server: e.Server, CertificateAuthorityData: ca.Cert}
		config.Contexts[e.Name] = &clientcmdapi.Context{Cluster: e.Name, AuthInfo: user.CN}
	}
	config.CurrentContext = endpoints[0].Name
	return clientcmd.Write(*config)
}
