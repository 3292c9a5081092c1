package tier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeseams/seams/internal/finding"
)

const crdsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// establishWait bounds how long a definition takes to be served. With several
// servers of a tier, or of main, upstream waits 5 s on purpose.
const establishWait = 60 * time.Second

// InstallOptions say how definitions are installed.
type InstallOptions struct {
	Cluster Cluster
	// KeepInMain puts the definitions into the main server as well, for clients
	// that look for them there. Those that are there are kept up to date anyway.
	KeepInMain bool
	// DryRun has the tier judge the definitions and changes nothing.
	DryRun bool
	// Log gets a line for each thing that is done.
	Log io.Writer
}

// Installed is what came of it.
type Installed struct {
	// Steps are what was done, or would be, in order.
	Steps []string `json:"steps"`
	// Routes tell for each version who serves it, as seen through every
	// kube-apiserver; empty after a dry run.
	Routes []Route `json:"routes,omitempty"`
}

// Install places definitions in a tier. Findings with an error say why nothing
// was changed; an error means that a step failed, and Install can be called
// again.
func Install(ctx context.Context, wanted []Definition, o InstallOptions) (*Installed, []finding.Finding, error) {
	if err := o.Cluster.validate(); err != nil {
		return nil, nil, err
	}
	findings := Twice(wanted)
	for _, group := range groupsOf(wanted) {
		j, err := ReadJournal(ctx, o.Cluster.Main[0], group)
		if err != nil {
			return nil, findings, err
		}
		if j != nil && j.Step != Done {
			return nil, findings, fmt.Errorf("%s is being moved to %s, at the step %s; its definitions are left alone until that is over", group, j.To, j.Step)
		}
	}
	seen, err := o.see(ctx, groupsOf(wanted))
	if err != nil {
		return nil, findings, err
	}
	actions, planned := planCRDs(o.Cluster.Target, wanted, seen, o.KeepInMain)
	findings = append(findings, planned...)
	// What our own rules explain better the server need not refuse again.
	if !finding.AtLeast(findings, finding.Error) {
		refused, err := o.ask(ctx, wanted)
		if err != nil {
			return nil, findings, err
		}
		findings = append(findings, refused...)
	}
	done := &Installed{}
	for _, a := range actions {
		done.Steps = append(done.Steps, a.String())
	}
	if o.DryRun || finding.AtLeast(findings, finding.Error) {
		return done, findings, nil
	}
	for _, a := range actions {
		if err := o.act(ctx, a); err != nil {
			return nil, findings, err
		}
		fmt.Fprintln(o.Log, a)
	}
	for _, group := range groupsOf(wanted) {
		routes, err := verifyRoutes(ctx, o.Cluster, group)
		done.Routes = append(done.Routes, routes...)
		if err != nil {
			return done, findings, err
		}
	}
	return done, findings, nil
}

// see looks at both servers.
func (o InstallOptions) see(ctx context.Context, groups []string) (crdsSeen, error) {
	seen := crdsSeen{services: map[string]map[string]apiService{}, objects: map[string]bool{}}
	var err error
	if seen.tier, err = crdsOf(ctx, o.Cluster.Tier[0], groups); err != nil {
		return seen, err
	}
	if seen.main, err = crdsOf(ctx, o.Cluster.Main[0], groups); err != nil {
		return seen, err
	}
	for _, group := range groups {
		if seen.services[group], err = apiServices(ctx, o.Cluster.Main[0], group); err != nil {
			return seen, err
		}
	}
	for name, crd := range seen.main {
		if seen.objects[name], err = hasObjects(ctx, o.Cluster.Main[0], crd, seen.services[crd.Spec.Group]); err != nil {
			return seen, err
		}
	}
	return seen, nil
}

// crdsOf are the definitions of groups in one server.
func crdsOf(ctx context.Context, s *Server, groups []string) (map[string]*CRD, error) {
	all := map[string]*CRD{}
	err := list(ctx, s, crdsPath, func(crd CRD) {
		if slices.Contains(groups, crd.Spec.Group) {
			all[crd.Name] = &crd
		}
	})
	return all, err
}

// hasObjects looks for an object of a definition that the main server serves
// itself. What leads elsewhere it cannot see: a group was moved only after its
// objects.
func hasObjects(ctx context.Context, s *Server, crd *CRD, services map[string]apiService) (bool, error) {
	for _, version := range servedVersions(crd) {
		if a, ok := services[version]; !ok || !a.local() {
			continue
		}
		var page struct{ Items []struct{} }
		at := path.Join("/apis", crd.Spec.Group, version, crd.Spec.Names.Plural)
		if err := s.do(ctx, http.MethodGet, at, params{"limit": "1"}, "", nil, &page); err != nil {
			return false, fmt.Errorf("look for objects of %s: %w", crd.Name, err)
		}
		return len(page.Items) > 0, nil
	}
	return false, nil
}

// ask has the tier judge the definitions, with nothing changed.
func (o InstallOptions) ask(ctx context.Context, wanted []Definition) ([]finding.Finding, error) {
	var findings []finding.Finding
	for _, d := range wanted {
		err := applyCRD(ctx, o.Cluster.Tier[0], o.Cluster.Target.marked(d.CRD), true)
		var refused apierrors.APIStatus
		if !errors.As(err, &refused) || !(apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)) {
			if err != nil {
				return nil, fmt.Errorf("ask the tier about %s: %w", d.Name, err)
			}
			continue
		}
		status := refused.Status()
		if status.Details == nil || len(status.Details.Causes) == 0 {
			findings = append(findings, d.at(finding.Finding{Code: "tier-crd-refused", Severity: finding.Error, Message: status.Message}))
			continue
		}
		for _, c := range status.Details.Causes {
			findings = append(findings, d.at(finding.Finding{Code: "tier-crd-refused", Severity: finding.Error, Path: c.Field, Message: c.Message}))
		}
	}
	return findings, nil
}

func (o InstallOptions) act(ctx context.Context, a action) error {
	t, main := o.Cluster.Target, o.Cluster.Main[0]
	switch a.verb {
	case defineInTier:
		return define(ctx, o.Cluster.Tier, t.marked(a.crd))
	case pointToTier:
		if err := point(ctx, main, t, a.group, a.version); err != nil {
			return err
		}
		return waitAvailable(ctx, main, a.group, a.version, establishWait)
	case defineInMain:
		return define(ctx, []*Server{main}, t.marked(a.crd))
	case dropService:
		return dropAPIService(ctx, main, t, a.group, a.version)
	}
	return fmt.Errorf("nobody knows how to %s", a.verb)
}

// dropAPIService deletes an APIService that leads to the tier.
func dropAPIService(ctx context.Context, main *Server, t Target, group, version string) error {
	at := path.Join(apiServicesPath, apiServiceName(group, version))
	var a apiService
	err := main.get(ctx, at, &a)
	if apierrors.IsNotFound(err) || err == nil && !a.of(t) {
		return nil
	}
	if err == nil {
		err = main.remove(ctx, at, a.ObjectMeta)
	}
	return wrap(err, "delete APIService %s", apiServiceName(group, version))
}

// appliedCRD is a definition without the status, which is not ours to apply.
type appliedCRD struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct {
		Name        string            `json:"name"`
		Labels      map[string]string `json:"labels,omitempty"`
		Annotations map[string]string `json:"annotations,omitempty"`
	} `json:"metadata"`
	Spec apiextensionsv1.CustomResourceDefinitionSpec `json:"spec"`
}

func applyCRD(ctx context.Context, s *Server, crd *CRD, dryRun bool) error {
	a := appliedCRD{Spec: crd.Spec}
	a.APIVersion, a.Kind = apiextensionsv1.SchemeGroupVersion.String(), "CustomResourceDefinition"
	a.Metadata.Name, a.Metadata.Labels, a.Metadata.Annotations = crd.Name, crd.Labels, crd.Annotations
	return s.apply(ctx, path.Join(crdsPath, crd.Name), dryRun, a, nil)
}

// define applies a definition to the first of servers that share a store, and
// waits until all of them serve it as it is now.
func define(ctx context.Context, servers []*Server, crd *CRD) error {
	if err := applyCRD(ctx, servers[0], crd, false); err != nil {
		return fmt.Errorf("define %s in %s: %w", crd.Name, servers[0].Host, err)
	}
	return waitEstablished(ctx, servers, crd.Name)
}

func waitEstablished(ctx context.Context, servers []*Server, name string) error {
	for _, s := range servers {
		err := until(ctx, establishWait, 200*time.Millisecond, func(ctx context.Context) error {
			var have CRD
			if err := s.get(ctx, path.Join(crdsPath, name), &have); err != nil {
				return err
			}
			return established(&have)
		})
		if err != nil {
			return fmt.Errorf("%s in %s: %w", name, s.Host, err)
		}
	}
	return nil
}

// categorize writes the categories of a definition.
func categorize(ctx context.Context, servers []*Server, crd *CRD) error {
	err := servers[0].merge(ctx, path.Join(crdsPath, crd.Name), map[string]any{
		"spec": map[string]any{"names": map[string]any{"categories": crd.Spec.Names.Categories}},
	}, nil)
	if err != nil {
		return fmt.Errorf("mark %s in %s: %w", crd.Name, servers[0].Host, err)
	}
	return waitEstablished(ctx, servers, crd.Name)
}

// established is an error while a definition is not served under the names of
// its specification.
func established(crd *CRD) error {
	accepted := map[apiextensionsv1.CustomResourceDefinitionConditionType]bool{}
	for _, c := range crd.Status.Conditions {
		accepted[c.Type] = c.Status == apiextensionsv1.ConditionTrue
		if c.Type == apiextensionsv1.NamesAccepted && c.Status == apiextensionsv1.ConditionFalse {
			return fmt.Errorf("names not accepted: %s", c.Message)
		}
	}
	switch {
	case !accepted[apiextensionsv1.NamesAccepted]:
		return errors.New("its names are not accepted yet")
	case !accepted[apiextensionsv1.Established]:
		return errors.New("not established yet")
	case !slices.Equal(crd.Status.AcceptedNames.Categories, crd.Spec.Names.Categories):
		return errors.New("its new names are not accepted yet")
	}
	return nil
}
