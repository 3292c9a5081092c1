package aggregated

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/internal/plan"
)

// named is a kubeconfig and the name of its file.
type named struct {
	file   string
	config *clientcmdapi.Config
}

// kubeconfigs lead a static tier's server to kube-apiserver. They name the files
// of its key and certificate in place of holding them, so that there is nothing
// secret in them, and a renewed certificate is taken up without a restart.
func kubeconfigs(p *plan.Plan, t plan.AggregatedTier) []named {
	dir := controlplane.AggregatedDir + "/" + t.Name
	return kubeconfigsOf(t, clientcmdapi.Cluster{
		Server: "https://" + controlplane.MainEndpoint(p), CertificateAuthority: controlplane.PKIDir + "/ca.crt",
	}, clientcmdapi.AuthInfo{ClientCertificate: dir + "/client.crt", ClientKey: dir + "/client.key"})
}

// kubeconfigsOf are the one of upstream's own server, or one for each review of
// a second kube-apiserver.
func kubeconfigsOf(t plan.AggregatedTier, main clientcmdapi.Cluster, user clientcmdapi.AuthInfo) []named {
	if !t.Second() {
		return []named{{controlplane.AggregatedKubeconfig, kubeconfig(t, main, user)}}
	}
	var all []named
	for _, r := range controlplane.Reviews {
		at := main
		at.Server += r.Path
		all = append(all, named{r.File, kubeconfig(t, at, user)})
	}
	return all
}

func kubeconfig(t plan.AggregatedTier, main clientcmdapi.Cluster, user clientcmdapi.AuthInfo) *clientcmdapi.Config {
	return &clientcmdapi.Config{
		APIVersion: "v1", Kind: "Config",
		Clusters:       []clientcmdapi.NamedCluster{{Name: "kubernetes", Cluster: main}},
		AuthInfos:      []clientcmdapi.NamedAuthInfo{{Name: t.User(), AuthInfo: user}},
		Contexts:       []clientcmdapi.NamedContext{{Name: t.Name, Context: clientcmdapi.Context{Cluster: "kubernetes", AuthInfo: t.User()}}},
		CurrentContext: t.Name,
	}
}

// Where a pod finds its ServiceAccount (client-go rest.InClusterConfig), and
// kube-apiserver: by name, since a file holds no address that the kubelet sets.
const (
	accountDir = "/var/run/secrets/kubernetes.io/serviceaccount"
	apiserver  = "https://kubernetes.default.svc"
)

// reviews is the ConfigMap of the kubeconfigs of a workload's second
// kube-apiserver. They name the files of its ServiceAccount.
func reviews(t plan.AggregatedTier) (*corev1.ConfigMap, error) {
	m := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: meta(t, reviewsName(t)),
		Data:       map[string]string{},
	}
	main := clientcmdapi.Cluster{Server: apiserver, CertificateAuthority: accountDir + "/ca.crt"}
	for _, c := range kubeconfigsOf(t, main, clientcmdapi.AuthInfo{TokenFile: accountDir + "/token"}) {
		data, err := yaml.Marshal(c.config)
		if err != nil {
			return nil, err
		}
		m.Data[c.file] = string(data)
	}
	return m, nil
}
