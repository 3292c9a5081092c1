package tier

import (
	"context"
	"fmt"
	"path"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const apiServicesPath = "/apis/apiregistration.k8s.io/v1/apiservices"

// automanaged is the label by which kube-apiserver keeps an APIService as it
// made it for a CRD: "true", or "onstart" for a group of its own.
const automanaged = "kube-aggregator.kubernetes.io/automanaged"

// Label is on everything that this package makes, with the tier's name.
const Label = "seams.dev/tier"

// apiService is kube-aggregator's APIService in apiregistration.k8s.io/v1; the
// module that declares it needs the whole API server library.
type apiService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Service *serviceReference `json:"service"`
		Group   string            `json:"group"`
		Version string            `json:"version"`
		// CABundle is the PEM of who signed the server's certificate.
		CABundle             []byte `json:"caBundle,omitempty"`
		GroupPriorityMinimum int32  `json:"groupPriorityMinimum"`
		VersionPriority      int32  `json:"versionPriority"`
	} `json:"spec"`
	Status struct {
		Conditions []condition `json:"conditions"`
	} `json:"status"`
}

type condition struct {
	Type, Status, Reason, Message string
}

type serviceReference struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Port      int32  `json:"port"`
}

// local reports whether kube-apiserver serves the version itself.
func (a *apiService) local() bool { return a.Spec.Service == nil }

// builtIn reports whether it is of a group that is compiled in.
func (a *apiService) builtIn() bool { return a.Labels[automanaged] == "onstart" }

// of reports whether it leads to the tier.
func (a *apiService) of(t Target) bool {
	s := a.Spec.Service
	return s != nil && s.Namespace == t.Namespace && s.Name == t.Service
}

// available is an error while kube-apiserver cannot reach the version's server.
func (a *apiService) available() error {
	for _, c := range a.Status.Conditions {
		if c.Type == "Available" {
			if c.Status == "True" {
				return nil
			}
			return fmt.Errorf("APIService %s: %s: %s", a.Name, c.Reason, c.Message)
		}
	}
	return fmt.Errorf("APIService %s: nobody has looked at it yet", a.Name)
}

func apiServiceName(group, version string) string { return version + "." + group }

// apiServices are those of a group, by version.
func apiServices(ctx context.Context, s *Server, group string) (map[string]apiService, error) {
	all := map[string]apiService{}
	err := list(ctx, s, apiServicesPath, func(a apiService) {
		if a.Spec.Group == group {
			all[a.Spec.Version] = a
		}
	})
	return all, err
}

// What kube-apiserver gives the groups of CRDs, so that discovery and kubectl's
// preference do not change with a group's place: versions of equal priority are
// sorted as Kubernetes sorts versions
// (kubernetes pkg/controlplane/controller/crdregistration).
const groupPriority, versionPriority = 1000, 100

// point sends a version of a group to the tier. An automatic APIService is
// changed in place, in one write: what it leads to and the label by which it
// would be put back change together, and at no time is the version served by
// nobody.
func point(ctx context.Context, s *Server, t Target, group, version string) error {
	name := apiServiceName(group, version)
	var a apiService
	a.APIVersion, a.Kind, a.Name = "apiregistration.k8s.io/v1", "APIService", name
	a.Labels = map[string]string{Label: t.Name()}
	a.Spec.Group, a.Spec.Version = group, version
	a.Spec.Service = &serviceReference{t.Namespace, t.Service, t.Port}
	a.Spec.CABundle = t.CA
	a.Spec.GroupPriorityMinimum, a.Spec.VersionPriority = groupPriority, versionPriority
	err := s.create(ctx, apiServicesPath, nil, a, nil)
	if !apierrors.IsAlreadyExists(err) {
		return wrap(err, "create APIService %s", name)
	}
	err = s.merge(ctx, path.Join(apiServicesPath, name), map[string]any{
		"metadata": map[string]any{"labels": map[string]any{automanaged: nil, Label: t.Name()}},
		"spec": map[string]any{
			"service": a.Spec.Service, "caBundle": t.CA, "insecureSkipTLSVerify": false,
			"groupPriorityMinimum": groupPriority, "versionPriority": versionPriority,
		},
	}, nil)
	return wrap(err, "point APIService %s to the tier", name)
}

// unpoint gives a version back to kube-apiserver's own server of CRDs, again in
// one write, and under its automatic care. The CRD has to be in the main server.
func unpoint(ctx context.Context, s *Server, group, version string) error {
	name := apiServiceName(group, version)
	err := s.merge(ctx, path.Join(apiServicesPath, name), map[string]any{
		"metadata": map[string]any{"labels": map[string]any{automanaged: "true", Label: nil}},
		"spec": map[string]any{
			"service": nil, "caBundle": nil,
			"groupPriorityMinimum": groupPriority, "versionPriority": versionPriority,
		},
	}, nil)
	if apierrors.IsNotFound(err) {
		return nil // made for the CRD by kube-apiserver
	}
	return wrap(err, "give APIService %s back to the main server", name)
}

// waitAvailable waits until a version can be reached.
func waitAvailable(ctx context.Context, s *Server, group, version string, limit time.Duration) error {
	return until(ctx, limit, 250*time.Millisecond, func(ctx context.Context) error {
		var a apiService
		if err := s.get(ctx, path.Join(apiServicesPath, apiServiceName(group, version)), &a); err != nil {
			return err
		}
		return a.available()
	})
}

// wrap says what failed; nil stays nil.
func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}
