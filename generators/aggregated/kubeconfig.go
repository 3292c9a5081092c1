package aggregated

import (
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api/v1"

	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/internal/plan"
)

// kubeconfig leads a static tier's server to kube-apiserver. It names the files
// of its key and certificate in place of holding them, so that there is nothing
// secret in it, and a renewed certificate is taken up without a restart.
func kubeconfig(p *plan.Plan, t plan.AggregatedTier) *clientcmdapi.Config {
	dir := controlplane.AggregatedDir + "/" + t.Name
	return &clientcmdapi.Config{
		APIVersion: "v1", Kind: "Config",
		Clusters: []clientcmdapi.NamedCluster{{Name: "kubernetes", Cluster: clientcmdapi.Cluster{
			Server: "https://" + controlplane.MainEndpoint(p), CertificateAuthority: controlplane.PKIDir + "/ca.crt",
		}}},
		AuthInfos: []clientcmdapi.NamedAuthInfo{{Name: t.User(), AuthInfo: clientcmdapi.AuthInfo{
			ClientCertificate: dir + "/client.crt", ClientKey: dir + "/client.key",
		}}},
		Contexts:       []clientcmdapi.NamedContext{{Name: t.Name, Context: clientcmdapi.Context{Cluster: "kubernetes", AuthInfo: t.User()}}},
		CurrentContext: t.Name,
	}
}
