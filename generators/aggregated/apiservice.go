package aggregated

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeseams/seams/internal/plan"
)

// APIService is kube-aggregator's object of that name in
// apiregistration.k8s.io/v1, whose module is not needed for more. It has no
// insecureSkipTLSVerify.
type APIService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              APIServiceSpec `json:"spec"`
}

// APIServiceSpec says which server has a version of a group.
type APIServiceSpec struct {
	Group   string           `json:"group"`
	Version string           `json:"version"`
	Service ServiceReference `json:"service"`
	// CABundle is the PEM of the authority that signed the server's certificate.
	CABundle             []byte `json:"caBundle,omitempty"`
	GroupPriorityMinimum int32  `json:"groupPriorityMinimum"`
	VersionPriority      int32  `json:"versionPriority"`
}

// ServiceReference names a Service and its port.
type ServiceReference struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Port      int32  `json:"port"`
}

// What kube-apiserver itself gives the groups of CRDs, so that discovery and
// kubectl's preference do not change with a group's place. It is the same for
// all versions: of two with one priority the more stable and newer comes first,
// by their names, whatever order a profile has them in
// (kubernetes pkg/controlplane/controller/crdregistration).
const (
	groupPriority   = 1000
	versionPriority = 100
)

// NewAPIService sends a version of a group to a tier. ca is the PEM of the
// tier's authority; without it kube-apiserver trusts the roots of its system, which have not signed the
// server's certificate, so that the APIService never becomes available.
//
// It has to be there before the group's CRD is created in the main server: made
// after it, the automatic one is put back within seconds. And it is available
// only once the tier has a CRD of that version.
func NewAPIService(t plan.AggregatedTier, group, version string, ca []byte) *APIService {
	return &APIService{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiregistration.k8s.io/v1", Kind: "APIService"},
		ObjectMeta: metav1.ObjectMeta{Name: version + "." + group, Labels: labels(t)},
		Spec: APIServiceSpec{
			Group: group, Version: version, CABundle: ca,
			Service:              ServiceReference{Namespace: t.Namespace, Name: t.Service, Port: int32(t.Port)},
			GroupPriorityMinimum: groupPriority, VersionPriority: versionPriority,
		},
	}
}

// apiServices are those of the versions that the plan knows.
func apiServices(t plan.AggregatedTier) []any {
	var all []any
	for _, group := range t.Groups {
		for _, version := range t.Versions[group] {
			all = append(all, NewAPIService(t, group, version, nil))
		}
	}
	return all
}

// apiServicesScript applies the APIServices with the authority in them. They
// have to keep away from whoever applies a directory as a whole: a group is
// switched by them. kubectl patch --local puts no separators between YAML
// documents, and JSON needs none.
func apiServicesScript(t plan.AggregatedTier) string {
	var names []string
	for _, group := range t.Groups {
		for _, version := range t.Versions[group] {
			names = append(names, version+"."+group)
		}
	}
	return script(`Registers the groups of `+t.Name+` with kube-apiserver, from then on served by the
tier: `+strings.Join(names, ", ")+`.
The first argument is the certificate of the tiers' authority, which `+PKIScript+`
made; only its public half is used. The CRDs of the groups are in the tier before:
a version that the tier does not know never becomes available. In the main server
they come after, if at all.`, fmt.Sprintf(`
ca=${1:?usage: %[1]s CA_CERTIFICATE}
dir=$(cd "$(dirname "$0")" && pwd)
openssl x509 -in "$ca" -noout
bundle=$(base64 <"$ca" | tr -d '\n')
kubectl patch --local --filename="$dir/%[2]s" --type=merge --output=json \
	--patch="{\"metadata\":{\"labels\":{\"kube-aggregator.kubernetes.io/automanaged\":null}},\"spec\":{\"caBundle\":\"$bundle\"}}" |
	kubectl apply --server-side --force-conflicts --field-manager=seams --filename=-
for name in %[3]s; do
	# An automatic one of before keeps its label through an apply.
	kubectl label apiservice "$name" kube-aggregator.kubernetes.io/automanaged-
	kubectl wait --for=condition=Available "apiservice/$name" --timeout=60s
done
`, APIServicesScript, APIServicesFile, strings.Join(names, " ")))
}

// script is a shell script with a comment that says what it does.
func script(comment, body string) string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n")
	for line := range strings.Lines(comment) {
		b.WriteString("# " + strings.TrimRight(line, "\n") + "\n")
	}
	b.WriteString("set -eu\n" + body)
	return b.String()
}
