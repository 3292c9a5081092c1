package check

import (
	"strings"

	bootstraptoken "k8s.io/kubernetes/cmd/kubeadm/app/apis/bootstraptoken/v1"
	kubeadmapi "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	kubeadmscheme "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/scheme"
	"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/v1beta4"
	"k8s.io/kubernetes/cmd/kubeadm/app/constants"
)

// placeholders stand for what kubeadm finds out on the host it runs on; their
// values are not judged.
const (
	placeholderHost    = "host"
	placeholderAddress = "192.0.2.1" // of the range for documentation, RFC 5737
)

// examplesToken is the bootstrap token of kubeadm's documentation; it fills a
// place whose value is not judged.
var examplesToken = &bootstraptoken.BootstrapTokenString{ID: "abcdef", Secret: "0123456789abcdef"}

func defaultInit() *kubeadmapi.InitConfiguration {
	external := &v1beta4.InitConfiguration{}
	kubeadmscheme.Scheme.Default(external)
	internal := &kubeadmapi.InitConfiguration{}
	// Conversion between kubeadm's own types of one process cannot fail.
	_ = kubeadmscheme.Scheme.Convert(external, internal, nil)
	return internal
}

func defaultCluster() *kubeadmapi.ClusterConfiguration {
	external := &v1beta4.ClusterConfiguration{}
	kubeadmscheme.Scheme.Default(external)
	internal := &kubeadmapi.ClusterConfiguration{}
	_ = kubeadmscheme.Scheme.Convert(external, internal, nil) // as above
	return internal
}

// settleNode fills in what kubeadm would find out about the host.
func settleNode(n *kubeadmapi.NodeRegistrationOptions) {
	if n.Name == "" {
		n.Name = placeholderHost
	}
	if n.CRISocket == "" {
		n.CRISocket = constants.DefaultCRISocket
	}
	if !strings.HasPrefix(n.CRISocket, v1beta4.DefaultContainerRuntimeURLScheme) {
		n.CRISocket = v1beta4.DefaultContainerRuntimeURLScheme + "://" + n.CRISocket
	}
}

func settleEndpoint(e *kubeadmapi.APIEndpoint) {
	if e.AdvertiseAddress == "" {
		e.AdvertiseAddress = placeholderAddress
	}
	if e.BindPort == 0 {
		e.BindPort = constants.KubeAPIServerPort
	}
}

// settleTokens gives a token to those that have none; kubeadm draws one at random.
func settleTokens(config *kubeadmapi.InitConfiguration) {
	for i := range config.BootstrapTokens {
		t := &config.BootstrapTokens[i]
		if t.Token == nil || t.Token.ID == "" {
			token := *examplesToken
			t.Token = &token
		}
	}
}
