package tier

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Target is the tier as kube-apiserver reaches it.
type Target struct {
	// Namespace, Service and Port name the Service of its APIServices.
	Namespace, Service string
	Port               int32
	// CA is the PEM of the authority that signed its serving certificate, whose
	// name is DNSName.
	CA []byte
}

// ParseService reads NAMESPACE/NAME:PORT.
func ParseService(text string) (Target, error) {
	at, port, err := net.SplitHostPort(text)
	namespace, name, ok := strings.Cut(at, "/")
	n, bad := strconv.ParseUint(port, 10, 16)
	if err != nil || !ok || namespace == "" || name == "" || bad != nil || n == 0 {
		return Target{}, fmt.Errorf("service %q: want NAMESPACE/NAME:PORT, such as seams-system/hot:9443", text)
	}
	return Target{Namespace: namespace, Service: name, Port: int32(n)}, nil
}

// Name is the tier's.
func (t Target) Name() string { return t.Service }

// DNSName is what its serving certificate has to be for, whatever address it is
// called at.
func (t Target) DNSName() string { return t.Service + "." + t.Namespace + ".svc" }

// category is in the names of every definition of the tier, so that discovery
// tells which server answers, and "kubectl get seams-tier-hot" lists what the
// tier has. The plan's names of tiers are short enough for the label it is.
func (t Target) category() string { return categoryPrefix + t.Service }

const categoryPrefix = "seams-tier-"

// marked returns a definition with the tier's category; unmarked without any
// tier's. A change of categories is one of the few that mean nothing to clients
// and yet make an API server drop the storage of a resource and with it all
// watches of it (apiextensions-apiserver updateCustomResourceDefinition).
func (t Target) marked(crd *apiextensions.CustomResourceDefinition) *apiextensions.CustomResourceDefinition {
	c := unmarked(crd)
	c.Spec.Names.Categories = append(c.Spec.Names.Categories, t.category())
	return c
}

func unmarked(crd *apiextensions.CustomResourceDefinition) *apiextensions.CustomResourceDefinition {
	c := crd.DeepCopy()
	c.Spec.Names.Categories = slices.DeleteFunc(c.Spec.Names.Categories, func(s string) bool { return strings.HasPrefix(s, categoryPrefix) })
	return c
}

func (t Target) validate() error {
	switch {
	case t.Service == "" || t.Namespace == "" || t.Port == 0:
		return errors.New("no Service of the tier was named")
	case len(t.CA) == 0:
		return errors.New("the certificate of the tier's authority is empty")
	case len(t.category()) > 63:
		return fmt.Errorf("the Service's name %q is too long: %s has to be a DNS label", t.Service, t.category())
	}
	return nil
}

// Cluster is how the two servers of a group are reached.
type Cluster struct {
	// Main are kube-apiservers, all of them; the first is written to.
	Main []*Server
	// Tier are the servers of the tier, all of them, by their own addresses.
	Tier []*Server
	// Target is the tier as kube-apiserver sees it.
	Target Target
}

func (c Cluster) validate() error {
	if len(c.Main) == 0 || len(c.Tier) == 0 {
		return errors.New("a kube-apiserver and a server of the tier are needed")
	}
	return c.Target.validate()
}
