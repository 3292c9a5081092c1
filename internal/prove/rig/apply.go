package rig

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/generators/aggregated"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/plan"
)

// fieldManager is who applies objects here.
const fieldManager = "seams-rig"

// Apply applies the API objects of rendered files through the first apiserver,
// in their order, as kubectl apply --server-side would. Two things differ on
// loopback, where an EndpointSlice may hold no address: the slices of tiers are
// left out, and their Services name the address of a server in their stead.
// APIServices without an authority get that of the tiers.
func (r *Rig) Apply(ctx context.Context, files ...file.File) error {
	for _, f := range files {
		objects, err := objectsOf(f)
		if err != nil {
			return err
		}
		for _, o := range objects {
			if err := r.apply(ctx, o); err != nil {
				return fmt.Errorf("%s: %s %s: %w", f.Path, o.GetKind(), o.GetName(), err)
			}
		}
	}
	return nil
}

func (r *Rig) apply(ctx context.Context, o *unstructured.Unstructured) error {
	for _, t := range r.tiers {
		switch {
		case o.GetKind() == "EndpointSlice" && o.GetLabels()["kubernetes.io/service-name"] == t.Service && o.GetNamespace() == t.Namespace:
			r.say("not applied: EndpointSlice %s: %s", o.GetName(), whyExternal)
			return nil
		case o.GetKind() == "Service" && o.GetName() == t.Service && o.GetNamespace() == t.Namespace:
			if err := r.external(o, t); err != nil {
				return err
			}
		}
	}
	if o.GetKind() == "APIService" {
		if err := r.trusted(o); err != nil {
			return err
		}
	}
	return r.send(ctx, o)
}

// send is one server-side apply.
func (r *Rig) send(ctx context.Context, o *unstructured.Unstructured) error {
	config := r.Config("")
	if config == nil {
		return fmt.Errorf("the rig has no apiserver")
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	// The kinds of rendered objects have regular plurals, all of them.
	resource, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
	force := true
	_, err = client.Resource(resource).Namespace(o.GetNamespace()).Patch(ctx, o.GetName(), types.ApplyPatchType, data,
		metav1.PatchOptions{FieldManager: fieldManager, Force: &force})
	return err
}

// external makes a Service without a selector lead to the tier's first server.
func (r *Rig) external(o *unstructured.Unstructured, t tier) error {
	servers := r.TierServers(t.Name)
	if len(servers) == 0 {
		return fmt.Errorf("no process of the tier %s", t.Name)
	}
	address := r.mapping(servers[0].Host).local
	if err := unstructured.SetNestedField(o.Object, "ExternalName", "spec", "type"); err != nil {
		return err
	}
	r.say("Service %s leads to %s: %s", o.GetName(), address, whyExternal)
	return unstructured.SetNestedField(o.Object, address, "spec", "externalName")
}

// trusted fills the tiers' authority in where there is none.
func (r *Rig) trusted(o *unstructured.Unstructured) error {
	if bundle, _, _ := unstructured.NestedString(o.Object, "spec", "caBundle"); bundle != "" {
		return nil
	}
	ca, err := r.pki.Authority(plan.AggregatedCA)
	if err != nil {
		return err
	}
	return unstructured.SetNestedField(o.Object, base64.StdEncoding.EncodeToString(ca.Cert), "spec", "caBundle")
}

// Register sends versions of groups to the tiers that have the groups, and
// returns when kube-apiserver calls them available; without any version it is
// those of the rendered APIServices. It comes after the groups' CRDs in the tier,
// without which the tier does not know the version (TierConfig), and before any
// in the main server. The error names the group that no tier has, or what the
// APIService waits for.
func (r *Rig) Register(ctx context.Context, versions ...schema.GroupVersion) error {
	if len(versions) == 0 {
		for _, t := range r.tiers {
			versions = append(versions, t.rendered...)
		}
	}
	for _, gv := range versions {
		i := slices.IndexFunc(r.tiers, func(t tier) bool { return slices.Contains(t.Groups, gv.Group) })
		if i < 0 {
			return fmt.Errorf("no aggregated tier has the group %s", gv.Group)
		}
		ca, err := r.pki.Authority(plan.AggregatedCA)
		if err != nil {
			return err
		}
		data, err := json.Marshal(aggregated.NewAPIService(r.tiers[i].AggregatedTier, gv.Group, gv.Version, ca.Cert))
		if err != nil {
			return err
		}
		o := &unstructured.Unstructured{}
		if err := o.UnmarshalJSON(data); err != nil {
			return err
		}
		if err := r.send(ctx, o); err != nil {
			return fmt.Errorf("APIService %s: %w", o.GetName(), err)
		}
	}
	for _, gv := range versions {
		if err := r.available(ctx, gv); err != nil {
			return err
		}
	}
	return nil
}

// availableWithin is what an APIService gets: it is looked at when it changes,
// and every 30 s.
const availableWithin = 45 * time.Second

// available waits until every apiserver may send requests: an APIService's
// status is one for all, written by whichever looked last.
func (r *Rig) available(ctx context.Context, gv schema.GroupVersion) error {
	ctx, cancel := context.WithTimeout(ctx, availableWithin)
	defer cancel()
	client, err := dynamic.NewForConfig(r.Config(""))
	if err != nil {
		return err
	}
	services := client.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	said := "no status"
	for {
		o, err := services.Get(ctx, gv.Version+"."+gv.Group, metav1.GetOptions{})
		if err == nil {
			conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
			for _, c := range conditions {
				fields, _ := c.(map[string]any)
				if fields["type"] == "Available" && fields["status"] == "True" {
					return nil
				}
				said = fmt.Sprint(fields["reason"], ": ", fields["message"])
			}
		} else if ctx.Err() == nil {
			said = err.Error()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("APIService %s.%s is not available: %s: %w", gv.Version, gv.Group, said, context.Cause(ctx))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// TierConfig is an administrator's to the first server of a tier itself, past
// kube-apiserver: CRDs are created there, by a raw POST, since the server has
// no discovery for them. It is nil when there is no such tier.
func (r *Rig) TierConfig(name string) *rest.Config {
	servers := r.TierServers(name)
	if len(servers) == 0 {
		return nil
	}
	return r.ConfigOf(servers[0])
}

// ConfigOf is an administrator's to one server of Kubernetes' API: an apiserver,
// or the server of an aggregated tier. It is nil for everything else.
func (r *Rig) ConfigOf(p *Process) *rest.Config {
	if p.Tier == "" {
		if p.Component != "kube-apiserver" {
			return nil
		}
		return r.Config(p.Name)
	}
	ca, err := r.pki.Authority(plan.AggregatedCA)
	i := r.tierIndex(p.Tier)
	if err != nil || i < 0 {
		return nil
	}
	return &rest.Config{
		Host:      server(p),
		QPS:       -1,
		UserAgent: "seams-prove",
		TLSClientConfig: rest.TLSClientConfig{
			CAData: ca.Cert, ServerName: r.tiers[i].DNSName(), CertData: r.admin.Cert, KeyData: r.admin.Key,
		},
	}
}
