package controlplane

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubeseams/seams/internal/plan"
)

// Review is one of the questions that a second kube-apiserver, in the place of
// a tier's server, puts to the cluster's own: who somebody is by a token, and
// whether they may.
type Review struct {
	// Name is that of its kubeconfig, and File the kubeconfig's own.
	Name, File string
	// Path is what stands behind the address of kube-apiserver: a webhook is
	// called at the address of its kubeconfig, with nothing added.
	Path string
	// flags are those of the webhook's file and of its version.
	fileFlag, versionFlag string
}

// Reviews are the questions, in the order in which a request meets them.
var Reviews = []Review{
	{"tokens", "tokens.kubeconfig", "/apis/authentication.k8s.io/v1/tokenreviews",
		"authentication-token-webhook-config-file", "authentication-token-webhook-version"},
	{"rights", "rights.kubeconfig", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
		"authorization-webhook-config-file", "authorization-webhook-version"},
}

// AggregatedKubeconfigs are the names of all kubeconfigs that a tier's server may
// have in its directory.
var AggregatedKubeconfigs = []string{AggregatedKubeconfig, Reviews[0].File, Reviews[1].File}

// ServiceAccountKey is the file of the key that a second kube-apiserver does
// not start without. No token that it signs is good anywhere else.
const ServiceAccountKey = "sa.key"

// reviewTTL is for how long answers are kept, as an aggregated server of
// upstream's library does; kube-apiserver's own would be five minutes for a yes.
const reviewTTL = "10s"

// secondFlags make a kube-apiserver a tier's server. Rights are asked of the
// cluster's kube-apiserver, after its own RBAC, which holds upstream's
// defaults only: by them the probes are answered while the cluster's is down.
func secondFlags(t plan.AggregatedTier, at AggregatedPaths) Flags {
	flags := Flags{
		"client-ca-file":                               at.ClientCA,
		"requestheader-client-ca-file":                 at.FrontProxyCA,
		"requestheader-allowed-names":                  "front-proxy-client",
		"requestheader-username-headers":               "X-Remote-User",
		"requestheader-uid-headers":                    "X-Remote-Uid",
		"requestheader-group-headers":                  "X-Remote-Group",
		"requestheader-extra-headers-prefix":           "X-Remote-Extra-",
		"authorization-mode":                           "RBAC,Webhook",
		"authorization-webhook-cache-authorized-ttl":   reviewTTL,
		"authorization-webhook-cache-unauthorized-ttl": reviewTTL,
		"authentication-token-webhook-cache-ttl":       reviewTTL,
		"service-account-issuer":                       "https://" + t.DNSName(),
		// Who asks about a token says whom it has to be for: without that it would
		// be this server's own issuer.
		"api-audiences":                    clusterIssuer,
		"service-account-key-file":         at.Dir + "/" + ServiceAccountKey,
		"service-account-signing-key-file": at.Dir + "/" + ServiceAccountKey,
		"endpoint-reconciler-type":         "none",
		// Namespaces are the cluster's, and no Pod is ever made here.
		"disable-admission-plugins": "NamespaceLifecycle,ServiceAccount",
	}
	for _, r := range Reviews {
		flags[r.fileFlag], flags[r.versionFlag] = at.Reviews+"/"+r.File, "v1"
	}
	return flags
}

// AggregatedImage is what a tier's servers run; empty when there is none.
func AggregatedImage(p *plan.Plan, t plan.AggregatedTier) string {
	if t.Image == "" && t.Second() {
		return image(t.Server, p.Target.Kubernetes.String())
	}
	return t.Image
}

// secondMounts are those of a second kube-apiserver of a host only; the other
// server reads that authority from the API.
func secondMounts(t plan.AggregatedTier) []mount {
	if !t.Second() {
		return nil
	}
	return []mount{{name: "front-proxy-ca", path: PKIDir + "/front-proxy-ca.crt", kind: corev1.HostPathFile, readOnly: true}}
}
