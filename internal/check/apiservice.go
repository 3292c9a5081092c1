package check

import (
	"fmt"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api/v1"

	"github.com/kubeseams/seams/internal/finding"
)

// apiService is kube-aggregator's APIService in apiregistration.k8s.io/v1; the
// module that declares it is large and needs the whole API server library.
type apiService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Service *struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
			Port      *int32 `json:"port"`
		} `json:"service"`
		Group                 string `json:"group"`
		Version               string `json:"version"`
		InsecureSkipTLSVerify bool   `json:"insecureSkipTLSVerify"`
		CABundle              []byte `json:"caBundle"`
		GroupPriorityMinimum  int32  `json:"groupPriorityMinimum"`
		VersionPriority       int32  `json:"versionPriority"`
	} `json:"spec"`
	Status map[string]any `json:"status"`
}

// DeepCopyObject makes it an object; it is only decoded, never changed.
func (a *apiService) DeepCopyObject() runtime.Object { copied := *a; return &copied }

// schemeOf makes a scheme of one type.
func schemeOf(gvk schema.GroupVersionKind, object runtime.Object) *runtime.Scheme {
	s := runtime.NewScheme()
	s.AddKnownTypeWithName(gvk, object)
	return s
}

// judgeAPIService judges an APIService by the rules of kube-aggregator's
// ValidateAPIService (pkg/apis/apiregistration/validation).
func (c *checker) judgeAPIService(d *document) {
	if d.gvk().Version != "v1" {
		c.unjudged(d)
		return
	}
	a, ok := c.strict(d, schemeOf(d.gvk(), &apiService{})).(*apiService)
	if !ok {
		return
	}
	invalid := func(fieldPath, message string) {
		c.at(d, fieldPath, finding.Finding{
			Code: "apiservice-invalid", Severity: finding.Error, Message: message,
			Ref: "k8s.io/kube-aggregator pkg/apis/apiregistration/validation",
		})
	}
	s := a.Spec
	if want := s.Version + "." + s.Group; a.Name != want {
		invalid("metadata.name", fmt.Sprintf("the name must be version.group, %q, not %q", want, a.Name))
	}
	if s.GroupPriorityMinimum <= 0 || s.GroupPriorityMinimum > 20000 {
		invalid("spec.groupPriorityMinimum", "must be between 1 and 20000")
	}
	if s.VersionPriority <= 0 || s.VersionPriority > 1000 {
		invalid("spec.versionPriority", "must be between 1 and 1000")
	}
	if a.Labels["kube-aggregator.kubernetes.io/automanaged"] != "" {
		invalid("metadata.labels", "with the label kube-aggregator.kubernetes.io/automanaged the aggregator overwrites the object within seconds")
	}
	if s.Service == nil {
		return
	}
	switch {
	case s.Service.Namespace == "" || s.Service.Name == "":
		invalid("spec.service", "name and namespace are required")
	case s.Service.Port != nil && (*s.Service.Port < 1 || *s.Service.Port > 65535):
		invalid("spec.service.port", "must be between 1 and 65535")
	}
	switch {
	case s.InsecureSkipTLSVerify && len(s.CABundle) > 0:
		invalid("spec.insecureSkipTLSVerify", "must not be set together with caBundle")
	case s.InsecureSkipTLSVerify:
		c.at(d, "spec.insecureSkipTLSVerify", finding.Finding{
			Code: "apiservice-insecure", Severity: finding.Warning,
			Message: "kube-apiserver sends users' requests to whoever answers at the service", Fix: "set caBundle",
		})
	}
}

// judgeCRD decodes a CustomResourceDefinition strictly and holds the name
// against its parts; the schema in it is upstream's to judge.
func (c *checker) judgeCRD(d *document) {
	if d.gvk().Version != "v1" {
		c.unjudged(d)
		return
	}
	crd, ok := c.strict(d, schemeOf(d.gvk(), &apiextensions.CustomResourceDefinition{})).(*apiextensions.CustomResourceDefinition)
	if !ok {
		return
	}
	if want := crd.Spec.Names.Plural + "." + crd.Spec.Group; crd.Name != want {
		c.at(d, "metadata.name", finding.Finding{
			Code: "object-invalid", Severity: finding.Error,
			Message: fmt.Sprintf("the name must be plural.group, %q, not %q", want, crd.Name),
		})
	}
	stored := 0
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			stored++
		}
	}
	if stored != 1 {
		c.at(d, "spec.versions", finding.Finding{
			Code: "object-invalid", Severity: finding.Error,
			Message: fmt.Sprintf("exactly one version must be the one that is stored, not %d", stored),
		})
	}
}

// judgeKubeconfig decodes a kubeconfig strictly, which client-go does not, and
// wants its current context to lead somewhere.
func (c *checker) judgeKubeconfig(d *document) {
	config, ok := c.strict(d, schemeOf(d.gvk(), &clientcmdapi.Config{})).(*clientcmdapi.Config)
	if !ok {
		return
	}
	clusters, users, contexts := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, x := range config.Clusters {
		clusters[x.Name] = true
	}
	for _, x := range config.AuthInfos {
		users[x.Name] = true
	}
	for i, x := range config.Contexts {
		contexts[x.Name] = true
		at := fmt.Sprintf("contexts[%d].context", i)
		if !clusters[x.Context.Cluster] {
			c.at(d, at, finding.Finding{Code: "kubeconfig-invalid", Severity: finding.Error, Message: fmt.Sprintf("there is no cluster %q", x.Context.Cluster)})
		}
		if x.Context.AuthInfo != "" && !users[x.Context.AuthInfo] {
			c.at(d, at, finding.Finding{Code: "kubeconfig-invalid", Severity: finding.Error, Message: fmt.Sprintf("there is no user %q", x.Context.AuthInfo)})
		}
	}
	if config.CurrentContext != "" && !contexts[config.CurrentContext] {
		c.at(d, "current-context", finding.Finding{Code: "kubeconfig-invalid", Severity: finding.Error, Message: fmt.Sprintf("there is no context %q", config.CurrentContext)})
	}
}
