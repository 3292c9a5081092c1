// Package validation_test has upstream's own storage strategies judge the API
// objects among rendered files: what kube-apiserver does to an object before it
// stores it. They bring most of its registry, which is why they are not in the
// program, whose check decodes strictly and validates the commoner kinds.
package validation_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	discoveryvalidation "k8s.io/kubernetes/pkg/apis/discovery/validation"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/flowschema"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/prioritylevelconfiguration"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrole"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding"
	"k8s.io/kubernetes/pkg/registry/rbac/role"
	"k8s.io/kubernetes/pkg/registry/rbac/rolebinding"
)

// judges are upstream's, by kind. Of three kinds the strategies bring whole
// controllers, and their validation is called by itself.
var judges = map[string]struct {
	resource string
	judge    func(context.Context, runtime.Object) error
}{
	"Pod":                        {"pods", stored(pod.Strategy)},
	"Namespace":                  {"namespaces", stored(namespace.Strategy)},
	"Deployment":                 {"deployments", stored(deployment.Strategy)},
	"StatefulSet":                {"statefulsets", stored(statefulset.Strategy)},
	"FlowSchema":                 {"flowschemas", stored(flowschema.Strategy)},
	"PriorityLevelConfiguration": {"prioritylevelconfigurations", stored(prioritylevelconfiguration.Strategy)},
	"NetworkPolicy":              {"networkpolicies", stored(networkpolicy.Strategy)},
	"PodDisruptionBudget":        {"poddisruptionbudgets", stored(poddisruptionbudget.Strategy)},
	"ClusterRole":                {"clusterroles", stored(clusterrole.Strategy)},
	"ClusterRoleBinding":         {"clusterrolebindings", stored(clusterrolebinding.Strategy)},
	"Role":                       {"roles", stored(role.Strategy)},
	"RoleBinding":                {"rolebindings", stored(rolebinding.Strategy)},
	"Service":                    {"services", valid(corevalidation.ValidateServiceCreate)},
	"ServiceAccount":             {"serviceaccounts", valid(corevalidation.ValidateServiceAccount)},
	"EndpointSlice":              {"endpointslices", valid(discoveryvalidation.ValidateEndpointSliceCreate)},
}

// stored is all that happens to an object before it is stored.
func stored(strategy rest.RESTCreateStrategy) func(context.Context, runtime.Object) error {
	return func(ctx context.Context, object runtime.Object) error {
		return rest.BeforeCreate(strategy, ctx, object)
	}
}

// valid is validation alone.
func valid[T runtime.Object](f func(T) field.ErrorList) func(context.Context, runtime.Object) error {
	return func(_ context.Context, object runtime.Object) error {
		o, ok := object.(T)
		if !ok {
			return fmt.Errorf("it is a %T", object)
		}
		// The server gives a Service the list of what it has one of.
		if s, ok := object.(*core.Service); ok && s.Spec.ClusterIP != "" && len(s.Spec.ClusterIPs) == 0 {
			s.Spec.ClusterIPs = []string{s.Spec.ClusterIP}
		}
		return f(o).ToAggregate()
	}
}

// decoder is kube-apiserver's of a request with fieldValidation=Strict: unknown
// and duplicate fields are errors, defaults are set.
var decoder = serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict).UniversalDecoder()

// judge has upstream prepare and validate every object of a file of
// kube-apiserver's own groups, and counts the kinds.
func judge(data []byte, seen map[string]int) error {
	var all []error
	docs := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return errors.Join(all...)
		}
		if err != nil {
			return err
		}
		gvk, err := kindOf(doc)
		if err != nil {
			return err
		}
		if gvk.Kind == "" || !legacyscheme.Scheme.Recognizes(gvk) {
			continue
		}
		s, ok := judges[gvk.Kind]
		if !ok {
			all = append(all, fmt.Errorf("%s: nobody judges it", gvk))
			continue
		}
		seen[gvk.Kind]++
		if err := create(doc, gvk, s.resource, s.judge); err != nil {
			all = append(all, fmt.Errorf("%s: %w", gvk.Kind, err))
		}
	}
}

// create is what happens to an object before it is stored.
func create(doc []byte, gvk schema.GroupVersionKind, resource string, judge func(context.Context, runtime.Object) error) error {
	object, _, err := decoder.Decode(doc, nil, nil)
	if err != nil {
		return err
	}
	m, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	namespace := m.GetNamespace()
	ctx := request.WithNamespace(context.Background(), namespace)
	ctx = request.WithUser(ctx, &user.DefaultInfo{Name: "administrator"})
	ctx = request.WithRequestInfo(ctx, &request.RequestInfo{
		IsResourceRequest: true, Verb: "create", APIGroup: gvk.Group, APIVersion: gvk.Version, Namespace: namespace, Resource: resource, Name: m.GetName(),
	})
	rest.FillObjectMetaSystemFields(m)
	if err := judge(ctx, object); err != nil {
		return fmt.Errorf("%s: %w", m.GetName(), err)
	}
	return nil
}

// kindOf reads the kind of a document.
func kindOf(doc []byte) (schema.GroupVersionKind, error) {
	json, err := yaml.ToJSON(doc)
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	var t runtime.TypeMeta
	if err := yaml.Unmarshal(json, &t); err != nil {
		return schema.GroupVersionKind{}, err
	}
	return schema.FromAPIVersionAndKind(t.APIVersion, t.Kind), nil
}

// TestGoldens judges what users get of the examples.
func TestGoldens(t *testing.T) {
	seen := map[string]int{}
	err := filepath.WalkDir(filepath.Join("..", "golden"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, "+json.yaml") {
			return err // JSON patches are lists of operations
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := judge(data, seen); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for kind := range judges {
		if seen[kind] == 0 && kind != "Role" {
			t.Errorf("the examples have no %s", kind)
		}
	}
	t.Logf("judged: %v", seen)
}
